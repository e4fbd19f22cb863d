import { type IncomingMessage, request } from "node:http";
import { StringDecoder } from "node:string_decoder";
import { codeOf } from "../../util/error-code.js";
import { CommandError } from "../exit.js";
import { type GatewayProcess, NoAnswer, noAnswerSentence, whileSilent } from "./silence.js";

/** A running gateway's HTTP interface, as the commands use it. */
export interface ApiClient {
  readonly address: string;
  get(path: string): Promise<unknown>;
  post(path: string, body: object): Promise<unknown>;
  delete(path: string): Promise<unknown>;
  /**
   * Posts, and yields the answer's server-sent events until it ends.
   *
   * @throws {ConnectionLost} when the gateway cannot be reached or goes away in between
   */
  stream(path: string, body: object, signal: AbortSignal): AsyncIterable<ServerEvent>;
}

export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/** The gateway could not be reached, or went away before it had answered. */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";
  readonly retryable = true;

  /** False where there was no connection at all: nothing was sent then. */
  get wasReached(): boolean {
    return !["ECONNREFUSED", "EHOSTUNREACH"].includes(codeOf(this.cause) ?? "");
  }
}

/** The gateway answered with an error. */
export class RequestRefused extends CommandError {
  /** Of HTTP. */
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

const usualTokenHint =
  "If gateway.token was changed since the gateway started, restart it. Else set gateway.token in the config, or MAXCLAW_TOKEN, to the gateway's token.";

interface ApiClientOptions {
  /** The gateway's process, where it is one of this machine. */
  readonly pid?: number | undefined;
  /** Why `token` may not be the right one, as a sentence with what to do. Default: where to set it. */
  readonly tokenHint?: string | undefined;
  /** A gateway that says nothing for so long is asked whether it is still there. Default 3000. */
  readonly silenceMs?: number;
}

/**
 * `token` is sent when there is one. What takes long, as a list of very many sessions, is waited for as long as the gateway
 * answers others, up to an hour; one that does not is given up after a few times `silenceMs`, and before that a person reads why
 * nothing happens.
 */
export function createApiClient(
  address: string,
  token: string | undefined,
  { pid, tokenHint = usualTokenHint, silenceMs = 3000 }: ApiClientOptions = {},
): ApiClient {
  const gateway = { address, pid };
  // fetch gives up after five minutes without headers, which a long turn may well take.
  const open = (
    method: string,
    path: string,
    body: object | undefined,
    signal?: AbortSignal,
  ): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const headers = {
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      };
      // Each on a connection of its own: a kept one may be closed by the gateway just as it is used again.
      const call = request(`http://${address}${path}`, { method, headers, signal, agent: false }, resolve);
      call.once("socket", (socket) => whileSilent(call, socket, gateway, silenceMs));
      call.on("error", (error) => reject(signal?.aborted ? signal.reason : lost(gateway, error)));
      call.end(body === undefined ? undefined : JSON.stringify(body));
    });

  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await open(method, path, body);
    const text = await textOf(response, gateway);
    if ((response.statusCode ?? 500) >= 400) throw refusal(response, text, tokenHint);
    return parsed(text);
  };

  return {
    address,
    get: (path) => call("GET", path),
    post: (path, body) => call("POST", path, body),
    delete: (path) => call("DELETE", path),
    async *stream(path, body, signal) {
      const response = await open("POST", path, body, signal);
      if ((response.statusCode ?? 500) >= 400) throw refusal(response, await textOf(response, gateway), tokenHint);
      yield* readServerEvents(response, gateway);
    },
  };
}

/** A path segment that may hold anything. */
export function segment(text: string): string {
  return encodeURIComponent(text);
}

async function textOf(response: IncomingMessage, gateway: GatewayProcess): Promise<string> {
  response.setEncoding("utf8");
  let text = "";
  try {
    for await (const chunk of response) text += chunk;
  } catch (error) {
    throw lost(gateway, error);
  }
  return text;
}

async function* readServerEvents(response: IncomingMessage, gateway: GatewayProcess): AsyncIterable<ServerEvent> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  try {
    for await (const chunk of response) {
      rest += decoder.write(chunk);
      const blocks = rest.split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const field = (name: string): string[] =>
          block
            .split("\n")
            .flatMap((line) => (line.startsWith(`${name}:`) ? [line.slice(name.length + 1).trimStart()] : []));
        const data = field("data");
        if (data.length > 0) yield { event: field("event")[0] ?? "message", data: data.join("\n") };
      }
    }
  } catch (error) {
    throw lost(gateway, error);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandError("The gateway answered with something that is not JSON. Is another program on its port?");
  }
}

function refusal(response: IncomingMessage, text: string, tokenHint: string): CommandError {
  const status = response.statusCode ?? 500;
  const hint = status === 401 ? ` ${tokenHint}` : "";
  let sentence = `The gateway answered with HTTP ${status}.`;
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === "object" && body !== null && "error" in body && typeof body.error === "string")
      sentence = body.error;
  } catch {
    // The status says it.
  }
  return new RequestRefused(`${sentence}${hint}`, status);
}

function lost(gateway: GatewayProcess, error: unknown): ConnectionLost {
  if (error instanceof NoAnswer) return new ConnectionLost(noAnswerSentence(gateway));
  const why = error instanceof Error ? error.message : String(error);
  return new ConnectionLost(`The gateway at ${gateway.address} cannot be reached: ${why || "connection refused"}`, {
    cause: error,
  });
}
