import * as http from "node:http";
import * as https from "node:https";
import { pipeline } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { onAbort } from "../../util/async/on-abort.js";

/** Servers close connections that rest for longer, and a request on one of those would be lost. */
const restMs = 4000;
const kept = { keepAlive: true, scheduling: "lifo", timeout: restMs } as const;
const plain = new http.Agent(kept);
const secure = new https.Agent(kept);

/** Made once, because making one takes a stack trace. */
const cut = new DOMException("The call was aborted", "AbortError");

const decoders = { gzip: createGunzip, "x-gzip": createGunzip, deflate: createInflate, br: createBrotliDecompress };

/** One by its name, in whatever letters; null where it was not sent. */
export type AnswerHeaders = Pick<Headers, "get">;

/** What the readers of an answer need of a `Response`. */
export interface WireAnswer {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: AnswerHeaders;
  /** To be read once. Who stops reading closes the connection. */
  readonly body: AsyncIterable<Uint8Array> | null;
}

interface PostOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  readonly signal?: AbortSignal;
}

/**
 * Sends one request, as `fetch` does with `redirect: "manual"`, on Node's own client: the objects and streams of the web
 * around each call took three times what the call itself needs.
 *
 * @throws the error that Node has for a connection that failed, also while the body is read; an AbortError after `signal`
 */
export async function post(url: string, init: PostOptions): Promise<WireAnswer> {
  const response = await responseTo(new URL(url), init);
  const { statusCode: status = 0 } = response;
  return {
    ok: status >= 200 && status < 300,
    status,
    headers: headersOf(response),
    body: decoded(response),
  };
}

function responseTo(url: URL, { headers = {}, body, signal }: PostOptions): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = { method: "POST", headers };
    const request =
      url.protocol === "https:"
        ? https.request(url, { ...options, agent: secure }, resolve)
        : http.request(url, { ...options, agent: plain }, resolve);
    request.on("error", reject);
    if (signal !== undefined)
      request.once(
        "close",
        onAbort(signal, () => request.destroy(cut)),
      );
    if (!request.destroyed) request.end(body);
  });
}

function headersOf({ headers }: http.IncomingMessage): AnswerHeaders {
  return { get: (name) => headers[name.toLowerCase()]?.toString() ?? null };
}

/** It was not asked for, but some servers compress all the same. */
function decoded(response: http.IncomingMessage): AsyncIterable<Uint8Array> {
  const encoding = response.headers["content-encoding"]?.trim().toLowerCase() ?? "";
  if (!isKnown(encoding)) return response;
  // What goes wrong is also the reader's to see.
  return pipeline(response, decoders[encoding](), () => response.destroy());
}

function isKnown(encoding: string): encoding is keyof typeof decoders {
  return Object.hasOwn(decoders, encoding);
}
