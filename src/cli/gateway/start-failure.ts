import { ConfigError, EngineError } from "../../errors.js";
import { CommandError, exitCodes } from "../exit.js";

/** Says what to do about an address that cannot be had. Any other failure is returned as it is. */
export function explainStart(error: unknown, host: string, port: number): unknown {
  // Starting again will not help: a person has to repair it.
  if (error instanceof EngineError && error.kind === "corrupt")
    return new CommandError(error.message, exitCodes.damaged);
  const code = codeOf(error);
  const advice = code === undefined ? undefined : adviceFor(code, host, port);
  return advice === undefined ? error : new ConfigError(advice, { cause: error });
}

function adviceFor(code: string, host: string, port: number): string | undefined {
  const todo = "Choose another one with --host, or as gateway.host in the config, e.g. 127.0.0.1.";
  switch (code) {
    case "EADDRINUSE":
      return `Port ${port} is taken by another program. Choose another one with -p, or as gateway.port in the config.`;
    case "EACCES":
      return `Port ${port} may not be used by this account. Choose one above 1023 with -p, or as gateway.port.`;
    case "EADDRNOTAVAIL":
      return `${host}, to listen on, is not an address of this machine. ${todo}`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `The name ${host}, to listen on, was not found. ${todo}`;
    default:
      return undefined;
  }
}

/** The system's code of an error on `listen`, at any depth of causes. */
function codeOf(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const isListening = "syscall" in at && (at.syscall === "listen" || at.syscall === "getaddrinfo");
    if (isListening && "code" in at && typeof at.code === "string") return at.code;
  }
  return undefined;
}
