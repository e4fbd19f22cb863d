import { toWhatsAppMarkup } from "../formatting/dialects/whatsapp-markup.js";
import { splitMarkdown } from "../formatting/split.js";

/** WhatsApp's limit. */
export const longestMessage = 4096;

/** What one message can hold; also for a channel that is off. */
export const whatsappBusinessShape = {
  split: (content: string): readonly string[] =>
    splitMarkdown(content, longestMessage, (piece) => toWhatsAppMarkup(piece).length),
  /** As rows of a list; up to three short ones are buttons. */
  maxButtons: 10,
  files: "apart",
  /** Of a document. */
  maxFileBytes: 100 * 1024 * 1024,
} as const;
