import {
  type DownloadableMessage,
  downloadContentFromMessage,
  type MediaType,
  normalizeMessageContent,
  proto,
  type WAMessage,
} from "baileys";
import type { BridgeMessage } from "../../../../src/channels/whatsapp/frames.js";

type File = NonNullable<BridgeMessage["file"]>;

interface Found {
  readonly type: MediaType;
  readonly media: DownloadableMessage;
  readonly file: File;
}

/** The file in a message. A sticker is none. */
export function fileOf(content: proto.IMessage): File | undefined {
  return find(content)?.file;
}

/** All that is needed to fetch it later, in base64. */
export function mediaOf({ message }: WAMessage): string {
  return Buffer.from(proto.Message.encode(message ?? {}).finish()).toString("base64");
}

/** The file, decrypted. WhatsApp keeps it for some weeks. */
export async function download(media: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
  const content = normalizeMessageContent(proto.Message.decode(Buffer.from(media, "base64")));
  const found = find(content ?? {});
  if (found === undefined) throw new Error("The message has no file");
  return await downloadContentFromMessage(found.media, found.type, { options: { signal } });
}

function find({
  imageMessage,
  videoMessage,
  ptvMessage,
  audioMessage,
  documentMessage,
}: proto.IMessage): Found | undefined {
  if (imageMessage) return foundAs("image", imageMessage, "image.jpg", "image/jpeg");
  const video = videoMessage ?? ptvMessage;
  if (video) return foundAs(videoMessage ? "video" : "ptv", video, "video.mp4", "video/mp4");
  if (documentMessage)
    return foundAs("document", documentMessage, documentMessage.fileName || "document", "application/octet-stream");
  if (!audioMessage) return undefined;
  const isVoice = audioMessage.ptt === true;
  const found = foundAs(isVoice ? "ptt" : "audio", audioMessage, isVoice ? "voice.ogg" : "audio.ogg", "audio/ogg");
  return isVoice ? { ...found, file: { ...found.file, isVoice } } : found;
}

interface Sizes extends DownloadableMessage {
  readonly mimetype?: string | null | undefined;
  readonly fileLength?: unknown;
}

function foundAs(type: MediaType, media: Sizes, name: string, otherwise: string): Found {
  const sizeBytes = Number(media.fileLength ?? Number.NaN);
  const mimeType = media.mimetype?.split(";", 1)[0]?.trim() || otherwise;
  return { type, media, file: { name, mimeType, ...(Number.isFinite(sizeBytes) ? { sizeBytes } : {}) } };
}
