import type { Button, OutboundMessage } from "../../bus/messages.js";
import { toQqMarkdown, toQqText, withoutAddresses } from "../formatting/dialects/qq-markdown.js";
import { longestMessage } from "./shape.js";

/** In which form a text is sent: the richest that QQ takes. */
export interface Form {
  readonly hasMarkdown: boolean;
  readonly hasAddresses: boolean;
}

const types = { text: 0, markdown: 2, media: 7 } as const;
const buttonsInRow = 2;
const longestLabel = 30;

/** The text of a message as QQ's API has it. */
export function textBody({ content, buttons = [] }: Pick<OutboundMessage, "content" | "buttons">, form: Form): object {
  if (!form.hasMarkdown) return { msg_type: types.text, content: plainText(content, buttons, form) };
  const text = cut(within(toQqMarkdown(content), form));
  const keyboard = buttons.length === 0 ? {} : { keyboard: { content: { rows: rowsOf(buttons) } } };
  return { msg_type: types.markdown, markdown: { content: text }, ...keyboard };
}

/** Options that are buttons elsewhere are numbered lines. */
export function plainText(content: string, buttons: readonly Button[], form: Pick<Form, "hasAddresses">): string {
  const isListed = buttons.some(({ label }) => label.startsWith("1. "));
  const lines = isListed ? [] : buttons.map(({ label }, index) => `${index + 1}. ${label}`);
  return cut(within([toQqText(content), ...(lines.length === 0 ? [] : ["", ...lines])].join("\n"), form));
}

export function mediaBody(fileInfo: unknown): object {
  // Without a text QQ refuses it.
  return { msg_type: types.media, content: " ", media: { file_info: fileInfo } };
}

function within(text: string, { hasAddresses }: Pick<Form, "hasAddresses">): string {
  return hasAddresses ? text : withoutAddresses(text);
}

/** Never inside a character. */
function cut(text: string): string {
  if (text.length <= longestMessage) return text;
  return text.slice(0, longestMessage).replace(/[\ud800-\udbff]$/, "");
}

/** Anyone who sees a button can press it: the gateway says who may. */
function rowsOf(buttons: readonly Button[]): object[] {
  const rows: { buttons: object[] }[] = [];
  for (const [index, { label, value }] of buttons.entries()) {
    const text = label.slice(0, longestLabel);
    const button = {
      id: String(index + 1),
      render_data: { label: text, visited_label: `✓ ${text}`, style: 1 },
      action: { type: 1, permission: { type: 2 }, data: value, unsupport_tips: `${index + 1}` },
    };
    if (index % buttonsInRow === 0) rows.push({ buttons: [button] });
    else rows.at(-1)?.buttons.push(button);
  }
  return rows;
}
