import { type Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Transformer } from "grammy";

type Call = Parameters<Transformer>[0];
type Signal = NonNullable<Parameters<Call>[2]>;

/**
 * Makes the calls of grammY's client on Node's own one, except for those that bring a file: for each, grammY has a time limit and an abort
 * of its own, and a fetch that is written in JavaScript, which took a third of what a message costs at the platform.
 *
 * A call throws the error that Node has for a connection that failed, one with `type: "invalid-json"` for an answer that is
 * not from Telegram, and an AbortError after the signal.
 */
export function callsThrough(agent: Agent, addressOf: (method: string) => URL, isFile: (value: unknown) => boolean) {
  const transformer: Transformer = async (previous, method, payload, signal) =>
    signal === undefined || Object.values(payload).some(isFile)
      ? await previous(method, payload, signal)
      : parse(await exchange(agent, addressOf(method), JSON.stringify(payload), signal));
  return transformer;
}

/** Resolves with all of the answer. Who aborts cuts the connection. */
function exchange(agent: Agent, address: URL, body: string, signal: Signal): Promise<string> {
  return new Promise((resolve, reject) => {
    const isSecure = address.protocol === "https:";
    const headers = { "content-type": "application/json", accept: "*/*" };
    const request = (isSecure ? httpsRequest : httpRequest)(address, { agent, method: "POST", headers });
    const abort = (): void => void request.destroy(new DOMException("The call was aborted", "AbortError"));
    const end = (error: Error | undefined, text = ""): void => {
      signal.removeEventListener("abort", abort);
      if (error === undefined) resolve(text);
      else reject(error);
    };
    request.on("error", end);
    request.on("response", (response) => read(response, end));
    signal.addEventListener("abort", abort);
    if (signal.aborted) abort();
    else request.end(body);
  });
}

function read(response: IncomingMessage, end: (error: Error | undefined, text?: string) => void): void {
  const chunks: Buffer[] = [];
  response.on("data", (chunk: Buffer) => chunks.push(chunk));
  response.on("error", end);
  response.on("end", () => end(undefined, Buffer.concat(chunks).toString()));
}

// grammY looks at what Telegram says itself; its types know each method's answer.
function parse(text: string) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw Object.assign(new Error("The answer is not JSON", { cause: error }), { type: "invalid-json" });
  }
}
