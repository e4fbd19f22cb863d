import { createHash } from "node:crypto";
import type { Button } from "../../bus/messages.js";
import { cutText } from "../../util/text/cut-text.js";
import { hasVisible } from "../../util/text/visible.js";
import { toFeishuMarkdown, toFeishuText } from "../formatting/feishu-markdown.js";

/** What is in a card: a text, and what can be pressed below it. */
export interface CardContent {
  /** Markdown. */
  readonly content: string;
  readonly buttons?: readonly Button[] | undefined;
  /** Ours, so that a press says where the card was shown. */
  readonly chatId: string;
  readonly thread?: string | undefined;
  /** By which the card is found again. */
  readonly mark?: string | undefined;
}

const longestLabel = 100;
const longestSummary = 100;

/** The same message always has the same one: Feishu carries out only one call with it within an hour. */
export function uuidOf(outboundId: string): string {
  return digest(outboundId).slice(0, 32);
}

/** Names the text of a card; Feishu takes 20 letters and digits. */
export function markOf(outboundId: string): string {
  return `m${digest(outboundId).slice(0, 19)}`;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/**
 * A card, because Feishu shows Markdown only in cards, and lets only cards be changed again and again. `isPlain`: without
 * marks, for what Feishu refuses with them.
 * https://open.feishu.cn/document/uAjLw4CM/ukzMukzMukzM/feishu-cards/card-json-v2-structure
 */
export function cardOf({ content, buttons = [], chatId, thread, mark }: CardContent, isPlain = false): string {
  const id = mark === undefined ? {} : { element_id: mark };
  const plain = shownText(toFeishuText(content), content);
  const text = isPlain
    ? { tag: "div", ...id, text: { tag: "plain_text", content: plain } }
    : { tag: "markdown", ...id, content: shownText(toFeishuMarkdown(content), content) };
  const summary = cutText(plain.replace(/\s+/g, " ").trim(), longestSummary);
  return JSON.stringify({
    schema: "2.0",
    config: { update_multi: true, ...(summary === "" ? {} : { summary: { content: summary } }) },
    body: { elements: [text, ...buttons.map((button) => buttonOf(button, chatId, thread))] },
  });
}

/** A card without any text is refused. */
function shownText(text: string, content: string): string {
  return hasVisible(text) ? text : JSON.stringify(content);
}

function buttonOf({ label, value }: Button, chat: string, thread: string | undefined): object {
  return {
    tag: "button",
    type: "default",
    text: { tag: "plain_text", content: cutText(label.trim() === "" ? "…" : label, longestLabel) },
    behaviors: [{ type: "callback", value: { press: value, chat, ...(thread === undefined ? {} : { thread }) } }],
  };
}
