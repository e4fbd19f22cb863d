import type { ReceivedMessage } from "../channel.js";
import type { BridgeMessage } from "./frames.js";
import { isBroadcast, isGroup, personOf } from "./jid.js";

const voiceNote = "[Voice Message]";

/**
 * As the gateway takes it. Undefined: nobody talks to the assistant there, or nobody knows who wrote: the Go maxclaw's bridge
 * names only the group.
 */
export function toReceived(read: BridgeMessage): ReceivedMessage | undefined {
  const { id, content, isForwarded, participant, wasMentioned } = read;
  const chat = addressOf(read);
  if (isBroadcast(chat) || content === "") return undefined;
  const inGroup = read.isGroup || isGroup(chat);
  if (inGroup && participant === undefined) return undefined;
  const chatId = personOf(chat);
  const isVoice = content === voiceNote;
  return {
    chatId,
    senderId: inGroup ? personOf(participant ?? "") : chatId,
    chatType: inGroup ? "group" : "dm",
    addressed: !inGroup || wasMentioned === true,
    content: isVoice ? "" : content,
    ...(isVoice ? { unreadable: "voice messages that come over the bridge" } : {}),
    ...(isForwarded === true ? { outside: "a forwarded message" } : {}),
    ...(id === "" ? {} : { platformMessageId: id, dedupId: `whatsapp:${chat}:${id}` }),
  };
}

/** The phone number, where the bridge knows it: a hidden id cannot be told in advance. */
function addressOf({ sender, pn }: BridgeMessage): string {
  return sender.endsWith("@lid") && pn?.endsWith("@s.whatsapp.net") === true ? pn : sender;
}
