import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { type Egress, EgressError } from "../../policy/locations/egress.js";
import { linked } from "../../util/async/linked.js";
import { within } from "../../util/async/within.js";

export interface PageRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Of all together: look-ups, redirects and bodies. */
  readonly timeoutMs: number;
  /** Of the body, unpacked. */
  readonly maxBytes: number;
  /** Asked before each redirect is followed; false ends the request with a sentence. */
  readonly mayFollow: (url: string) => boolean;
}

export interface PageResponse {
  /** Where the last redirect led. */
  readonly url: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** There would have been more. */
  readonly isCut: boolean;
}

const maxRedirects = 5;

/**
 * Gets a page, following up to 5 redirects. Every address on the way is judged after it was looked up, and just that
 * one is dialled. A body is read up to a limit and no further.
 *
 * @throws {EgressError} with a sentence for the model; the signal's reason
 */
export async function requestPage(page: PageRequest, egress: Egress, signal: AbortSignal): Promise<PageResponse> {
  using scope = linked(signal, page.timeoutMs);
  try {
    let url = toWebAddress(page.url);
    for (let redirects = 0; ; redirects++) {
      const response = await open(url, page, egress, scope.signal);
      const next = redirectOf(response, url);
      if (next === undefined) return await toPage(response, url, page, scope.signal);
      response.destroy();
      if (redirects === maxRedirects) throw new EgressError(`${page.url} redirects more than ${maxRedirects} times.`);
      url = toWebAddress(next);
      if (!page.mayFollow(url.href))
        throw new EgressError(`${page.url} leads to ${url.href}, which is not allowed as such; ask for that address.`);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof EgressError) throw error;
    if (scope.signal.aborted)
      throw new EgressError(`${page.url} did not answer within ${page.timeoutMs / 1000} seconds.`);
    throw new EgressError(`${page.url} could not be reached: ${reasonOf(error)}.`);
  }
}

/** @throws {EgressError} for what is not a plain http or https address */
export function toWebAddress(text: string): URL {
  if (!URL.canParse(text))
    throw new EgressError(`${text.slice(0, 200)} is not a web address; it must begin with https://.`);
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new EgressError(`Only http and https addresses can be opened, not ${url.protocol.slice(0, 30)}`);
  if (url.username !== "" || url.password !== "")
    throw new EgressError("An address may not contain a name and password.");
  return url;
}

export function portOf({ port, protocol }: URL): number {
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}

async function open(url: URL, page: PageRequest, egress: Egress, signal: AbortSignal): Promise<IncomingMessage> {
  const addresses = await within(egress.resolve(url.hostname, portOf(url)), { signal });
  const lookup: LookupFunction = (_host, options, callback) => {
    if (options.all) callback(null, [...addresses]);
    else callback(null, addresses[0]?.address ?? "", addresses[0]?.family);
  };
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  return await new Promise((resolve, reject) => {
    const request = send(url, {
      // A connection of another request may lead elsewhere.
      agent: false,
      lookup,
      signal,
      maxHeaderSize: 32_768,
      headers: { ...page.headers, "accept-encoding": "gzip, deflate, br" },
    });
    request.once("response", resolve);
    request.on("error", reject);
    // A server that changes the protocol gives no response, and no error either.
    request.once("close", () => reject(new Error("no response")));
    request.end();
  });
}

function redirectOf({ statusCode = 0, headers }: IncomingMessage, from: URL): string | undefined {
  const { location } = headers;
  if (![301, 302, 303, 307, 308].includes(statusCode) || location === undefined) return undefined;
  return URL.canParse(location, from.href) ? new URL(location, from).href : location;
}

async function toPage(
  response: IncomingMessage,
  url: URL,
  page: PageRequest,
  signal: AbortSignal,
): Promise<PageResponse> {
  const chunks: Buffer[] = [];
  let length = 0;
  const body = unpacked(response);
  const onAbort = (): void => void body.destroy(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    for await (const chunk of body) {
      if (!(chunk instanceof Uint8Array)) continue;
      chunks.push(Buffer.from(chunk));
      length += chunk.length;
      if (length > page.maxBytes) break;
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    response.destroy();
  }
  return {
    url: url.href,
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: Buffer.concat(chunks).subarray(0, page.maxBytes),
    isCut: length > page.maxBytes,
  };
}

function unpacked(response: IncomingMessage): Readable {
  const unpack = { gzip: createGunzip, "x-gzip": createGunzip, deflate: createInflate, br: createBrotliDecompress };
  const encoding = (response.headers["content-encoding"] ?? "").trim().toLowerCase();
  const create = Object.entries(unpack).find(([name]) => name === encoding)?.[1];
  if (create === undefined) return response;
  const stream = create();
  response.once("error", (error) => stream.destroy(error));
  stream.once("close", () => response.destroy());
  return response.pipe(stream);
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nobody listens there",
  ECONNRESET: "the connection was cut",
  ETIMEDOUT: "it does not answer",
  EHOSTUNREACH: "there is no route to it",
  ENETUNREACH: "there is no route to it",
  Z_DATA_ERROR: "what it sent is damaged",
  ERR__ERROR_FORMAT_PADDING_1: "what it sent is damaged",
};

function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (/CERT|SELF_SIGNED|TLS|SSL/.test(code)) return "its certificate is not valid";
  return reasons[code] ?? (code === "" ? "the connection failed" : code);
}
