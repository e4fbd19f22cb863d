import * as http from "node:http";
import * as https from "node:https";
import { pipeline } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

/** Servers close connections that rest for longer, and a request on one of those would be lost. */
const restMs = 4000;
const kept = { keepAlive: true, scheduling: "lifo", timeout: restMs } as const;
const plain = new http.Agent(kept);
const secure = new https.Agent(kept);

const decoders = { gzip: createGunzip, "x-gzip": createGunzip, deflate: createInflate, br: createBrotliDecompress };

/** What the readers of an answer need of a `Response`. */
export interface WireAnswer {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: Headers;
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
    const options = { method: "POST", headers, ...(signal === undefined ? {} : { signal }) };
    const request =
      url.protocol === "https:"
        ? https.request(url, { ...options, agent: secure }, resolve)
        : http.request(url, { ...options, agent: plain }, resolve);
    request.on("error", reject);
    request.end(body);
  });
}

function headersOf({ rawHeaders }: http.IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  return headers;
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
