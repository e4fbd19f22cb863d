import { type AnyMessageContent, proto, type WAMessage } from "baileys";
import type { Arrived, Draft, DraftFile } from "../whatsapp.js";

/** The content of a draft as baileys takes it. No address in it is looked at: there is no preview. */
export function contentOf({ text, file }: Draft): AnyMessageContent {
  if (file === undefined) return { text, linkPreview: null };
  const { name, mimeType } = file;
  const caption = text === "" ? {} : { caption: text };
  const url = { url: file.path };
  if (isPicture(file)) return { image: url, mimetype: mimeType, ...caption };
  if (mimeType === "video/mp4") return { video: url, mimetype: mimeType, ...caption };
  // Phones play as a voice message only what is Opus in Ogg.
  if (mimeType === "audio/ogg") return { audio: url, mimetype: "audio/ogg; codecs=opus", ptt: file.isVoice };
  if (/^audio\/(?:mpeg|mp4|aac|amr)$/.test(mimeType)) return { audio: url, mimetype: mimeType };
  return { document: url, mimetype: mimeType, fileName: name, ...caption };
}

function isPicture({ mimeType }: DraftFile): boolean {
  return mimeType === "image/jpeg" || mimeType === "image/png";
}

/** What is answered, as far as it is known here. */
export function quotedOf(read: Arrived["message"] | undefined): { readonly quoted: WAMessage } | Record<string, never> {
  if (read === undefined) return {};
  const { id, sender, participant, fromMe, content } = read;
  const key = { id, remoteJid: sender, fromMe, ...(participant === undefined ? {} : { participant }) };
  return { quoted: { key, message: proto.Message.fromObject({ conversation: content }) } };
}
