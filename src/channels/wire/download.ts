import { ChannelError } from "../../errors.js";
import { whyUnreached } from "../../util/text/why-unreached.js";
import type { CallAnswer } from "./call.js";

const largestRefusal = 64 * 1024;

/**
 * Reads what `title`, a platform, keeps for a message. Stops behind `maxBytes`. The address may hold a key to the file: no
 * error repeats it. `toError`: what an answer means that is not the file; absent: its status says it.
 *
 * @throws {ChannelError}
 */
export async function download(
  title: string,
  address: string,
  maxBytes: number,
  init: RequestInit & { readonly signal: AbortSignal },
  toError?: (answer: CallAnswer) => ChannelError,
): Promise<Uint8Array> {
  try {
    const { ok, status, headers, body } = await fetch(address, init);
    if (!ok && body !== null && toError !== undefined)
      throw toError({ status, headers, body: await firstBytes(body, largestRefusal) });
    if (!ok || body === null) {
      await body?.cancel();
      // A key to a file may have run out; the next attempt asks for a new one.
      const retryable = status >= 500 || status === 429 || status === 401;
      throw new ChannelError(`${title} did not give the file (${status}).`, { retryable });
    }
    return await firstBytes(body, maxBytes);
  } catch (error) {
    if (error instanceof ChannelError) throw error;
    const why = whyUnreached(error) ?? "the connection broke";
    throw new ChannelError(`The file could not be fetched from ${title}: ${why}.`, { retryable: true });
  }
}

/** Up to the chunk that passes `maxBytes`. */
export async function firstBytes(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) break;
  }
  return Buffer.concat(chunks);
}
