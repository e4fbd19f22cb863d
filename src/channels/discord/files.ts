import { ChannelError, messageOf } from "../../errors.js";

/** Reads what Discord keeps for a message. Stops behind `maxBytes`. @throws {ChannelError} */
export async function download(address: string, maxBytes: number, signal: AbortSignal): Promise<Uint8Array> {
  try {
    const response = await fetch(address, { signal });
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      const retryable = response.status >= 500 || response.status === 429;
      throw new ChannelError(`Discord did not give the file (${response.status}).`, { retryable });
    }
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body) {
      chunks.push(chunk as Uint8Array);
      bytes += (chunk as Uint8Array).length;
      if (bytes > maxBytes) break;
    }
    return Buffer.concat(chunks);
  } catch (error) {
    if (error instanceof ChannelError) throw error;
    throw new ChannelError(`The file could not be fetched from Discord: ${messageOf(error)}.`, { retryable: true });
  }
}
