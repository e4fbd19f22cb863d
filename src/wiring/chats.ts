import { draft } from "../events/event.js";
import { channelOf, chatOf, clientChannels, sessionKeyOf } from "../events/session-key.js";
import type { ChatDirectory } from "../tools/chat/message.js";
import type { ToolChat } from "../tools/tool.js";
import { derivedId } from "../util/ids.js";
import { namesOf } from "../util/text/untrusted.js";
import type { Assistant } from "./assistant.js";
import type { Core } from "./core.js";

/** The chats that somebody has written in: a bot cannot begin a conversation, and an id that is made up reaches nobody. */
export function createChatDirectory({ engine, sessions }: Core, { channels, isOwner }: Assistant): ChatDirectory {
  return {
    async find({ channel, chat }, context) {
      const wanted = toChat(channel, chat);
      // Policy refuses a guest, and which chats there are is none of their business.
      if (!isOwner(context.channel, context.senderId)) return wanted;
      if (clientChannels.has(channel))
        return { problem: `Nobody can be written to on ${channel}: its people see the conversations that they open.` };
      if (!channels.has(channel)) {
        const names = [...channels.keys()].join(", ") || "none";
        return { problem: `There is no channel ${channel.slice(0, 40)}. Channels: ${names}.` };
      }
      const isKnown = (await sessions.list()).some(
        ({ key }) =>
          channelOf(key) === channel && (chatOf(key) === wanted.chatId || chatOf(key).startsWith(`${wanted.chatId}:`)),
      );
      if (isKnown) return wanted;
      return { problem: `I know no chat ${chat.slice(0, 80)} on ${channel}: only where somebody has written to me.` };
    },

    async remember({ channel, chatId, thread }, text, { turnId, toolCallId, outside }) {
      const key = sessionKeyOf(channel, chatId, thread);
      // Where each thread is a conversation, the answer begins one of its own.
      if (!(await sessions.list()).some((known) => known.key === key)) return;
      // An older history is taken over before anything is added to it.
      await sessions.open(key);
      // What it was composed under goes along.
      const label = outside().length === 0 ? {} : { outside: namesOf(outside()) };
      const messages = [{ role: "assistant", content: text, ...label }];
      const said = draft("session_history_changed", { kind: "said", messages }, { source: "gateway" });
      const event = { ...said, event_id: derivedId("evt", turnId, toolCallId, text) };
      await engine.append(key, [event], { durable: false });
    },
  };
}

/** `-100:5` is a thread of a chat where ids are numbers. */
function toChat(channel: string, chat: string): ToolChat {
  const [, chatId, thread] = /^(-?\d+):(\d+)$/.exec(chat) ?? [];
  return chatId === undefined ? { channel, chatId: chat } : { channel, chatId, thread };
}
