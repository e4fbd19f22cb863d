import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { z } from "zod";
import { ChannelError, messageOf } from "../../errors.js";
import type { ReceivedFile } from "../channel.js";
import { firstBytes } from "../wire/download.js";

const size = { file_id: z.string(), file_size: z.number().optional() };
const plain = z.looseObject({ ...size, file_name: z.string().optional(), mime_type: z.string().optional() });
const photo = z.array(z.looseObject({ ...size, width: z.number().optional() })).min(1);

/** A file that Telegram keeps. */
export interface TelegramFile {
  readonly fileId: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes?: number | undefined;
  readonly isVoice?: boolean | undefined;
}

/** Kinds of messages with a file, and what they are when Telegram says nothing more. */
const kinds: readonly (readonly [key: string, filename: string, mimeType: string])[] = [
  // An animation comes as a document too.
  ["animation", "animation.mp4", "video/mp4"],
  ["voice", "voice.ogg", "audio/ogg"],
  // So it is called in a rich message.
  ["voice_note", "voice.ogg", "audio/ogg"],
  ["live_photo", "live-photo.mp4", "video/mp4"],
  ["video_note", "video-message.mp4", "video/mp4"],
  ["video", "video.mp4", "video/mp4"],
  ["audio", "audio.mp3", "audio/mpeg"],
  ["document", "file", "application/octet-stream"],
];

/** The file of a message, if there is one that can be fetched. Of a photo it is the largest of its sizes. */
export function fileOf(message: Readonly<Record<string, unknown>>): TelegramFile | undefined {
  const photos = photo.safeParse(message.photo).data;
  const largest = photos?.toSorted((a, b) => (a.width ?? 0) - (b.width ?? 0)).at(-1);
  if (largest !== undefined)
    return { fileId: largest.file_id, filename: "photo.jpg", mimeType: "image/jpeg", sizeBytes: largest.file_size };
  for (const [key, filename, mimeType] of kinds) {
    const found = plain.safeParse(message[key]).data;
    if (found === undefined) continue;
    return {
      fileId: found.file_id,
      filename: found.file_name ?? filename,
      mimeType: found.mime_type ?? mimeType,
      sizeBytes: found.file_size,
      isVoice: key === "voice" || key === "voice_note" || undefined,
    };
  }
  return undefined;
}

/** `download` gives the content of a file by its id. */
export function toReceivedFile(
  { fileId, ...about }: TelegramFile,
  download: (fileId: string, maxBytes: number, signal: AbortSignal) => Promise<Uint8Array>,
): ReceivedFile {
  return { ...about, read: (maxBytes, signal) => download(fileId, maxBytes, signal) };
}

/**
 * Reads an address that may hold the bot's token, which no error of ours repeats. Stops behind `maxBytes`.
 *
 * @throws {ChannelError}
 */
export async function download(
  address: URL,
  agent: import("node:http").Agent,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  try {
    const response = await open(address, agent, signal);
    const { statusCode: status = 0 } = response;
    if (status !== 200) {
      response.destroy();
      throw new ChannelError(`Telegram did not give the file (${status}).`, {
        retryable: status >= 500 || [401, 404, 429].includes(status),
      });
    }
    return await firstBytes(response, maxBytes);
  } catch (error) {
    if (error instanceof ChannelError) throw error;
    throw new ChannelError(`The file could not be fetched from Telegram: ${messageOf(error)}.`, { retryable: true });
  }
}

function open(address: URL, agent: import("node:http").Agent, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = address.protocol === "https:" ? httpsRequest : httpRequest;
    request(address, { agent, signal }, resolve).on("error", reject).end();
  });
}
