import type { Attachment, Button, OutboundMessage } from "../../bus/messages.js";
import { cutText } from "../../util/text/cut-text.js";
import { toWhatsAppMarkup } from "../formatting/dialects/whatsapp-markup.js";
import { longestMessage } from "./shape.js";

const buttonsAtMost = 3;
const limits = { buttonTitle: 20, buttonBody: 1024, rowTitle: 24, rowAbout: 72, templateText: 900 } as const;
const megabyte = 1024 * 1024;

/** As WhatsApp shows it. */
export function toBody(markdown: string): string {
  const text = toWhatsAppMarkup(markdown);
  // What marks make longer than it was measured is cut: the rest is better than nothing.
  return cutText(text.trim() === "" ? markdown : text, longestMessage);
}

/**
 * A text, with what can be pressed below it: buttons while they are few and short, else a list. Addresses in it are not
 * looked at for a preview: that would carry out what the model has put into them.
 */
export function textPayload({ content, buttons = [] }: Pick<OutboundMessage, "content" | "buttons">): object {
  const body = toBody(content);
  if (buttons.length === 0) return { type: "text", text: { preview_url: false, body } };
  const titles = new Set(buttons.map(({ label }) => label.trim()));
  const isShort = buttons.every(({ label }) => label.length <= limits.buttonTitle) && body.length <= limits.buttonBody;
  const areFew = buttons.length <= buttonsAtMost && titles.size === buttons.length;
  const interactive =
    isShort && areFew ? { type: "button", action: buttonsOf(buttons) } : { type: "list", action: listOf(buttons) };
  return { type: "interactive", interactive: { ...interactive, body: { text: body } } };
}

function buttonsOf(buttons: readonly Button[]): object {
  return { buttons: buttons.map(({ label, value }) => ({ type: "reply", reply: { id: value, title: label } })) };
}

/** A row's title is short: a longer label is whole, as far as it goes, in the line below. */
function listOf(buttons: readonly Button[]): object {
  const rows = buttons.map(({ label, value }) =>
    label.length <= limits.rowTitle
      ? { id: value, title: label }
      : { id: value, title: cutText(label, limits.rowTitle), description: cutText(label, limits.rowAbout) },
  );
  return { button: "Choose", sections: [{ rows }] };
}

/** Undefined: a template cannot carry this text. Its variable takes no lines, and no row of spaces. */
export function templatePayload(content: string, name: string, language: string): object | undefined {
  const lines = toBody(content)
    .split("\n")
    .map((line) => line.trim().replace(/\s+/g, " "));
  const text = lines.filter((line) => line !== "").join(" · ");
  if (text === "" || text.length > limits.templateText) return undefined;
  const components = [{ type: "body", parameters: [{ type: "text", text }] }];
  return { type: "template", template: { name, language: { code: language }, components } };
}

type MediaKind = "image" | "video" | "audio" | "document";

/** Kinds that have a place of their own in a chat, and how large they may be there. */
const kinds: readonly (readonly [MediaKind, ReadonlySet<string>, number])[] = [
  ["image", new Set(["image/jpeg", "image/png"]), 5 * megabyte],
  ["video", new Set(["video/mp4", "video/3gpp"]), 16 * megabyte],
  ["audio", new Set(["audio/aac", "audio/amr", "audio/mpeg", "audio/mp4", "audio/ogg"]), 16 * megabyte],
];

export function mediaKindOf({ mimeType, sizeBytes }: Pick<Attachment, "mimeType" | "sizeBytes">): MediaKind {
  return kinds.find(([, types, most]) => types.has(plainType(mimeType)) && sizeBytes <= most)?.[0] ?? "document";
}

/** WhatsApp takes few kinds: what is text goes as text, with its own name. */
export function uploadTypeOf(mimeType: string): string {
  const type = plainType(mimeType);
  const isText =
    type.startsWith("text/") ||
    /^application\/(?:json|xml|yaml|x-yaml|javascript|toml|sql)$|\+(?:json|xml)$/.test(type);
  return isText ? "text/plain" : type;
}

function plainType(mimeType: string): string {
  return (mimeType.split(";", 1)[0] ?? "").trim().toLowerCase();
}

export function mediaPayload(kind: MediaKind, id: string, filename: string): object {
  return { type: kind, [kind]: kind === "document" ? { id, filename } : { id } };
}
