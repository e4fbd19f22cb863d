import { z } from "zod";
import { defineTool, failed, type Tool, type ToolChat, type ToolContext } from "../tool.js";

/** The chats that can be written to. */
export interface ChatDirectory {
  /** The chat that is meant, or one sentence for the model that says why there is none. Tells guests nothing of others. */
  find(
    wanted: { readonly channel: string; readonly chat: string },
    context: ToolContext,
  ): Promise<ToolChat | { readonly problem: string }>;
  /** Keeps what is about to be said there in that chat's own conversation. Safe to repeat for the same call. */
  remember(chat: ToolChat, text: string, context: ToolContext): Promise<void>;
}

const maxText = 20_000;

const input = z.object({
  text: z.string(),
  channel: z.string().optional(),
  chat: z.string().optional(),
});

export function messageTool(chats: ChatDirectory): Tool {
  return defineTool({
    name: "message",
    description: "Send text at once, ahead of your answer: here, or to another chat by its id.",
    input,
    // Each message has an id of its own, which is the same when it runs again.
    effect: "idempotent",
    risk: "access",
    origin: "builtin",

    async run({ text, channel, chat }, context) {
      if (text.trim() === "") return failed("The text is empty.");
      if (text.length > maxText) return failed(`A message has at most ${maxText} characters; send_file sends more.`);
      const own = { channel: context.chat.channel, chat: context.chat.chatId };
      const wanted = { channel: channel ?? own.channel, chat: chat ?? own.chat };
      if (chat === undefined && wanted.channel !== own.channel)
        return failed(`Which chat of ${wanted.channel}? Name it.`);
      const isOwn = wanted.channel === own.channel && wanted.chat === own.chat;
      if (isOwn && context.call.isSubAgent)
        return failed("A sub-agent cannot write in its parent's chat: put it into your answer.");
      const to = isOwn ? undefined : await chats.find(wanted, context);
      if (to !== undefined && "problem" in to) return failed(to.problem);
      const name = `${wanted.channel}:${wanted.chat}`;
      const refusal = await context.permit({ kind: "chat", chat: name, isOwn });
      if (refusal !== undefined) return failed(refusal);
      // First, so that anyone who answers at once is understood.
      if (to !== undefined) await chats.remember(to, text, context);
      await context.chat.send({ content: text, attachments: [], to });
      const where = isOwn ? "here" : `to ${name}`;
      return { text: `Sent ${where}.`, isError: false, summary: `wrote ${where}` };
    },
  });
}
