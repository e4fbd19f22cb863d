import { z } from "zod";
import type { PressOutcome, ReceivedPress } from "../../channel.js";

/** https://open.feishu.cn/document/uAjLw4CM/ukzMukzMukzM/feishu-cards/card-callback-communication */
const action = z.looseObject({
  operator: z.looseObject({ open_id: z.string().min(1) }),
  action: z.looseObject({
    value: z.looseObject({ press: z.string().min(1), chat: z.string().min(1), thread: z.string().min(1).optional() }),
  }),
  context: z.looseObject({ open_chat_id: z.string().min(1) }),
});

/** A button of ours that somebody pressed; undefined for anything else. */
export function readPress(event: unknown): ReceivedPress | undefined {
  const { data } = action.safeParse(event);
  if (data === undefined) return undefined;
  const { press: value, chat, thread } = data.action.value;
  const { open_id: senderId } = data.operator;
  const about = { senderId, value, ...(thread === undefined ? {} : { thread }) };
  // In a direct chat only its person can press. A card can be forwarded: then it is pressed where it is seen.
  if (chat === senderId) return { ...about, chatId: chat, chatType: "dm" };
  return { ...about, chatId: data.context.open_chat_id, chatType: "group" };
}

const looks = { taken: "success", busy: "warning", refused: "error" } as const;

/** What Feishu shows to who has pressed. */
export function toastOf({ status, text }: PressOutcome): object {
  return { toast: { type: looks[status], content: text } };
}
