import type { ToolChat } from "../tool.js";
import type { ChatDirectory } from "./message.js";

/** What is known about channels and of who has written there. */
export interface KnownChatsPorts {
  isOwner(channel: string, senderId: string): boolean;
  /** Those that can be written to. */
  readonly channels: { has(name: string): boolean; keys(): Iterable<string> };
  /** Whose people see the conversations that they open. */
  readonly clientChannels: ReadonlySet<string>;
  /** The chats of a channel that somebody has written in, each as `chat` or `chat:thread`. */
  chatsOf(channel: string): Promise<readonly string[]>;
  /** Keeps what is about to be said in a chat in that chat's own conversation. The same `id` again changes nothing. */
  readonly keepSaid: (
    chat: ToolChat,
    said: { readonly id: readonly string[]; readonly text: string; readonly outside: readonly string[] },
  ) => Promise<void>;
}

/** The chats that somebody has written in: a bot cannot begin a conversation, and an id that is made up reaches nobody. */
export function createKnownChats(ports: KnownChatsPorts): ChatDirectory {
  const { isOwner, channels, clientChannels, chatsOf, keepSaid } = ports;
  return {
    async find({ channel, chat }, context) {
      const wanted = toChat(channel, chat);
      // Policy refuses a guest, and which chats there are is none of their business.
      if (!isOwner(context.chat.channel, context.chat.senderId)) return wanted;
      if (clientChannels.has(channel))
        return { problem: `You cannot write to people on ${channel}: they see the conversations that they open.` };
      if (!channels.has(channel)) {
        const names = [...channels.keys()].join(", ") || "none";
        return { problem: `There is no channel ${channel.slice(0, 40)}. Channels: ${names}.` };
      }
      const isKnown = (await chatsOf(channel)).some(
        (known) => known === wanted.chatId || known.startsWith(`${wanted.chatId}:`),
      );
      if (isKnown) return wanted;
      return {
        problem: `I do not know a chat ${chat.slice(0, 80)} on ${channel}. I can only write where somebody has written to me.`,
      };
    },

    remember: (chat, text, { call: { turnId, toolCallId }, conversation: { outside } }) =>
      // What it was composed under goes along.
      keepSaid(chat, { id: [turnId, toolCallId, text], text, outside: outside() }),
  };
}

/** `-100:5` is a thread of a chat where ids are numbers. */
function toChat(channel: string, chat: string): ToolChat {
  const [, chatId, thread] = /^(-?\d+):(\d+)$/.exec(chat) ?? [];
  return chatId === undefined ? { channel, chatId: chat } : { channel, chatId, thread };
}
