import { toMessageStyling } from "../formatting/message-styling.js";
import { splitMarkdown } from "../formatting/split.js";
import { escapeXml } from "./stream/xml.js";

/** Every server must take stanzas of 10,000 bytes (RFC 6120, 13.12); beside the text a stanza has addresses and ids. */
export const longestText = 8000;

/** In the bytes of a stanza. */
export function lengthOf(markdown: string): number {
  return Buffer.byteLength(escapeXml(toMessageStyling(markdown)));
}

/** What one message can hold; also for a channel that is off. */
export const xmppShape = {
  split: (content: string): readonly string[] => splitMarkdown(content, longestText, lengthOf),
  files: "apart",
  /** Servers have limits of their own, often of 10 MB. More than this is not read into memory. */
  maxFileBytes: 100 * 1024 * 1024,
} as const;
