import { lookup } from "node:dns/promises";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { LookupFunction } from "node:net";
import { isIP } from "node:net";
import { ChannelError } from "../../errors.js";
import { linked } from "../../util/async/linked.js";
import { within } from "../../util/async/within.js";
import { isPublic } from "../../util/network/public-address.js";
import { whyUnreached } from "../../util/text/why-unreached.js";
import { firstBytes } from "./download.js";

export interface PublicFile {
  /** Whose message named it, for people, e.g. `XMPP`. */
  readonly title: string;
  /** Any address that a person has written: http or https. */
  readonly url: string;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  /** Origins that may be on this machine or in its network, because their owner has named them. */
  readonly trusted: readonly string[];
}

const mostRedirects = 3;

/**
 * Reads a file from an address that anybody may have made up: only from public addresses, which are looked up once and dialled
 * as found, also behind a redirect. Stops behind `maxBytes`.
 *
 * @throws {ChannelError}
 */
export async function readPublicFile(file: PublicFile, signal: AbortSignal): Promise<Uint8Array> {
  using scope = linked(signal, file.timeoutMs);
  try {
    let url = new URL(file.url);
    for (let redirects = 0; redirects <= mostRedirects; redirects += 1) {
      const response = await open(url, file, scope.signal);
      const { statusCode = 0, headers } = response;
      const next = [301, 302, 303, 307, 308].includes(statusCode) ? headers.location : undefined;
      if (next === undefined) return await bodyOf(response, file, scope.signal);
      response.destroy();
      if (!URL.canParse(next, url.href)) break;
      url = new URL(next, url);
    }
    throw new ChannelError(`The file of ${file.title} leads from one address to the next.`);
  } catch (error) {
    if (error instanceof ChannelError) throw error;
    const why = scope.signal.aborted ? "it does not answer" : (whyUnreached(error) ?? "the connection broke");
    throw new ChannelError(`A file of ${file.title} could not be fetched: ${why}.`, { retryable: true });
  }
}

async function bodyOf(response: IncomingMessage, { title, maxBytes }: PublicFile, signal: AbortSignal) {
  const { statusCode = 0 } = response;
  if (statusCode !== 200) {
    response.destroy();
    const retryable = statusCode >= 500 || statusCode === 429;
    throw new ChannelError(`A file of ${title} is not there (${statusCode}).`, { retryable });
  }
  const onAbort = (): void => void response.destroy(new Error("too slow"));
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await firstBytes(response, maxBytes);
  } finally {
    signal.removeEventListener("abort", onAbort);
    response.destroy();
  }
}

async function open(url: URL, { title, trusted }: PublicFile, signal: AbortSignal): Promise<IncomingMessage> {
  if (!/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
    throw new ChannelError(`A file of ${title} has an address that is not opened.`);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const found =
    isIP(host) === 0
      ? await within(lookup(host, { all: true, verbatim: true }), { signal })
      : [{ address: host, family: isIP(host) }];
  const allowed = trusted.includes(url.origin) ? found : found.filter(({ address }) => isPublic(address));
  if (allowed.length === 0)
    throw new ChannelError(
      `A file of ${title} is at an address of this machine or of a private network, which is not opened.`,
    );
  const byLookup: LookupFunction = (_host, options, callback) => {
    if (options.all) callback(null, [...allowed]);
    else callback(null, allowed[0]?.address ?? "", allowed[0]?.family);
  };
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  return await new Promise((resolve, reject) => {
    const request = send(url, { agent: false, lookup: byLookup, signal, maxHeaderSize: 32_768 });
    request.once("response", resolve);
    request.on("error", reject);
    request.once("close", () => reject(new Error("no response")));
    request.end();
  });
}
