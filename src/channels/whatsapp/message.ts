import type { ReceivedFile, ReceivedMessage } from "../channel.js";
import type { BridgeMessage } from "./frames.js";
import { isBroadcast, isGroup, personOf } from "./jid.js";

const voiceNote = "[Voice Message]";

/**
 * As the gateway takes it. Undefined: nobody talks to the assistant there, or nobody knows who wrote: the Go maxclaw's bridge
 * names only the group.
 */
export function toReceived(
  read: BridgeMessage,
  toFile: (file: NonNullable<BridgeMessage["file"]>, seq: number) => ReceivedFile,
): ReceivedMessage | undefined {
  const { id, content, change, file, isForwarded, name, participant, seq, unreadable, wasMentioned } = read;
  const chat = addressOf(read);
  const isEmpty = content === "" && file === undefined && unreadable === undefined && change === undefined;
  if (isBroadcast(chat) || isEmpty) return undefined;
  const inGroup = read.isGroup || isGroup(chat);
  if (inGroup && participant === undefined) return undefined;
  const chatId = personOf(chat);
  const isVoice = content === voiceNote;
  const files = file === undefined || seq === undefined ? undefined : [toFile(file, seq)];
  const notRead =
    unreadable ?? (isVoice && files === undefined ? "voice messages that come over the bridge" : undefined);
  return {
    chatId,
    senderId: inGroup ? personOf(participant ?? "") : chatId,
    ...(name === undefined ? {} : { senderName: name }),
    chatType: inGroup ? "group" : "dm",
    addressed: !inGroup || wasMentioned === true,
    content: isVoice ? "" : content,
    ...(files === undefined ? {} : { files }),
    ...(notRead === undefined ? {} : { unreadable: notRead }),
    ...(isForwarded === true ? { outside: "a forwarded message" } : {}),
    ...quotedIn(read),
    ...(change === undefined ? {} : { change }),
    ...(id === "" ? {} : { platformMessageId: id, dedupId: dedupIdOf(chat, read) }),
  };
}

/** An edit has the id of the message that it is about. */
function dedupIdOf(chat: string, { id, change, changeId = "" }: BridgeMessage): string {
  return change === undefined ? `whatsapp:${chat}:${id}` : `whatsapp:${chat}:${id}:${change}:${changeId}`;
}

function quotedIn({ quoted, fromMe, isGroup: inGroup }: BridgeMessage): Partial<ReceivedMessage> {
  if (quoted === undefined) return {};
  // In a direct chat it is of one of two; the account's own words may also be its owner's.
  const by = quoted.fromMe ? "assistant" : inGroup || fromMe ? "other" : "sender";
  return { replyTo: quoted.id, ...(quoted.text === "" ? {} : { quoted: { text: quoted.text, by } }) };
}

/** The phone number, where the bridge knows it: a hidden id cannot be told in advance. */
function addressOf({ sender, pn }: BridgeMessage): string {
  return sender.endsWith("@lid") && pn?.endsWith("@s.whatsapp.net") === true ? pn : sender;
}
