import type { Button } from "../../bus/messages.js";
import { cutText } from "../../util/text/cut-text.js";
import { toMatrixHtml } from "../formatting/matrix-html.js";
import { toPlainText } from "../formatting/plain-text.js";
import { escapeHtml } from "../formatting/telegram-html.js";
import { numberSign } from "./kept/questions.js";
import { bytesOf, longestMessage } from "./shape.js";

/** What of an event shows a text. */
export interface TextBody {
  readonly msgtype: "m.text" | "m.notice";
  readonly body: string;
  readonly format?: string;
  readonly formatted_body?: string;
}

/** Where a message belongs. */
export interface Relation {
  readonly thread?: string | undefined;
  readonly replyTo?: string | undefined;
}

/**
 * On each of our messages: nobody is called by it, no client fetches what is behind its addresses, and no other program
 * answers it.
 */
export const always = {
  "m.mentions": {},
  "com.beeper.linkpreviews": [],
  "org.matrix.msc1767.automated": true,
} as const;

/** A text in both forms. Choices are numbered lines below it, which the signs below the message stand for. */
export function textBody(
  markdown: string,
  buttons: readonly Button[] = [],
  msgtype: TextBody["msgtype"] = "m.text",
): TextBody {
  const isListed = buttons.some(({ label }) => label.startsWith("1. "));
  const lines = isListed ? [] : buttons.map(({ label }, index) => `${numberSign(index)} ${label.replace(/\s+/g, " ")}`);
  const below = lines.length === 0 ? [] : ["", ...lines];
  const plain = toPlainText(markdown);
  const body = [plain.trim() === "" ? markdown : plain, ...below].join("\n");
  const html = [toMatrixHtml(markdown), ...below.map(escapeHtml)].join("<br>");
  // Marks at the cuts can make a piece longer than it was measured; what is left then is better than nothing.
  if (bytesOf(body, html) > longestMessage * 1.1) return { msgtype, ...cutToFit(body) };
  return { msgtype, body, format: "org.matrix.custom.html", formatted_body: html };
}

function cutToFit(text: string): Pick<TextBody, "body" | "format" | "formatted_body"> {
  let body = text;
  const html = (): string => `<pre>${escapeHtml(body)}</pre>`;
  while (bytesOf(body, html()) > longestMessage) body = cutText(body, Math.floor(body.length * 0.8));
  return { body, format: "org.matrix.custom.html", formatted_body: html() };
}

/** https://spec.matrix.org/latest/client-server-api/#threading */
export function relatesTo({ thread, replyTo }: Relation): object {
  if (thread !== undefined) {
    const about = { rel_type: "m.thread", event_id: thread, is_falling_back: replyTo === undefined };
    return { "m.relates_to": { ...about, "m.in_reply_to": { event_id: replyTo ?? thread } } };
  }
  return replyTo === undefined ? {} : { "m.relates_to": { "m.in_reply_to": { event_id: replyTo } } };
}

/** An edit: the new text, and the same for clients that know no edits. */
export function editBody(eventId: string, markdown: string): object {
  const text = textBody(markdown);
  const { formatted_body: html = "" } = text;
  return {
    ...text,
    body: `* ${text.body}`,
    formatted_body: `* ${html}`,
    ...always,
    "m.new_content": { ...text, ...always },
    "m.relates_to": { rel_type: "m.replace", event_id: eventId },
  };
}
