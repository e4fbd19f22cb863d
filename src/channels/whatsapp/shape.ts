import { toWhatsAppMarkup } from "../formatting/dialects/whatsapp-markup.js";
import { splitMarkdown } from "../formatting/split.js";

/** As of the business interface: more than people read in one message. */
export const longestMessage = 4096;

/** What one message can hold; also for a channel that is off. The bridge carries texts alone. */
export const whatsappShape = {
  split: (content: string): readonly string[] =>
    splitMarkdown(content, longestMessage, (piece) => toWhatsAppMarkup(piece).length),
} as const;
