import { ChannelError, messageOf } from "../../errors.js";

/** What QQ calls kinds of files. https://bot.q.qq.com/wiki/develop/api-v2/server-inter/message/send-receive/rich-media.html */
const kinds = { picture: 1, video: 2, voice: 3, file: 4 } as const;

/** Of a file of ours; QQ shows other pictures, videos and sounds than these as files. */
export function fileTypeOf({ mimeType, filename }: { readonly mimeType: string; readonly filename: string }): number {
  if (/^image\/(?:png|jpe?g)$/.test(mimeType)) return kinds.picture;
  if (mimeType === "video/mp4") return kinds.video;
  return /\.silk$/i.test(filename) ? kinds.voice : kinds.file;
}

export function isPicture(fileType: number): boolean {
  return fileType === kinds.picture;
}

/** Without what a folder is made of; QQ shows a file without a name as a number. */
export function plainName(filename: string): string {
  return filename.replace(/[/\\\p{Cc}]/gu, "_");
}

/** Reads what QQ keeps for a message. Stops behind `maxBytes`. @throws {ChannelError} */
export async function download(address: string, maxBytes: number, signal: AbortSignal): Promise<Uint8Array> {
  try {
    const response = await fetch(address, { signal });
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      const retryable = response.status >= 500 || response.status === 429;
      throw new ChannelError(`QQ did not give the file (${response.status}).`, { retryable });
    }
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body) {
      // A response without an encoding gives bytes.
      chunks.push(chunk as Uint8Array);
      bytes += (chunk as Uint8Array).length;
      if (bytes > maxBytes) break;
    }
    return Buffer.concat(chunks);
  } catch (error) {
    if (error instanceof ChannelError) throw error;
    // The address holds a key to the file.
    const why = messageOf(error).replaceAll(address, "its address");
    throw new ChannelError(`The file could not be fetched from QQ: ${why}.`, { retryable: true });
  }
}
