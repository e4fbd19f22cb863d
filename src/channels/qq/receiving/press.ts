import { z } from "zod";
import type { PressOutcome, ReceivedPress } from "../../channel.js";
import { chatIdOf } from "../places.js";

/** https://bot.q.qq.com/wiki/develop/api-v2/server-inter/message/trans/msg-btn.html */
const interaction = z.looseObject({
  id: z.string().min(1),
  user_openid: z.string().optional(),
  group_openid: z.string().optional(),
  group_member_openid: z.string().optional(),
  data: z.looseObject({ resolved: z.looseObject({ button_data: z.string().min(1) }) }),
});

/** QQ shows a word of its own for each. */
const codes: Readonly<Record<PressOutcome["status"], number>> = { taken: 0, busy: 2, refused: 4 };

/** A button that somebody pressed; undefined for anything else. `id`: what QQ wants to hear about. */
export function readPress(data: unknown): { readonly id: string; readonly press: ReceivedPress } | undefined {
  const said = interaction.safeParse(data).data;
  if (said === undefined) return undefined;
  const { id, user_openid: person, group_openid: group, group_member_openid: member } = said;
  const value = said.data.resolved.button_data;
  if (group !== undefined && member !== undefined) {
    const chatId = chatIdOf({ kind: "group", id: group });
    return { id, press: { chatId, chatType: "group", senderId: member, value } };
  }
  return person === undefined ? undefined : { id, press: { chatId: person, chatType: "dm", senderId: person, value } };
}

export function codeFor({ status }: PressOutcome): number {
  return codes[status];
}
