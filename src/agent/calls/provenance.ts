import type { InboundMessage } from "../../bus/messages.js";
import { channelOf, chatOf, clientChannels } from "../../events/session-key.js";
import type { Writer } from "../../sessions/history/history-entries.js";
import type { ResidentSession } from "../../sessions/resident-session.js";
import { addressesIn } from "../../util/web-addresses.js";
import type { JudgedQuote } from "../model/context.js";
import type { AgentPorts, ChatPorts, SessionPorts } from "../ports.js";

const maxAddresses = 100;

export function roleOf({ channel, senderId }: InboundMessage, { isOwner }: Pick<ChatPorts, "isOwner">) {
  return isOwner(channel, senderId) ? "owner" : "guest";
}

/** Whose messages count as others', in a turn for the sender of this one: for an owner those of all guests. */
export function othersFor(
  message: InboundMessage,
  chat: Pick<ChatPorts, "isOwner">,
): ((writer: Writer) => boolean) | undefined {
  if (roleOf(message, chat) === "guest") return undefined;
  const { sessionKey } = message;
  const isOwnersChat =
    clientChannels.has(channelOf(sessionKey)) || chat.isOwner(channelOf(sessionKey), chatOf(sessionKey));
  return ({ role, channel, senderId }) => {
    if (role !== undefined) return role === "guest";
    return channel === undefined || senderId === undefined ? !isOwnersChat : !chat.isOwner(channel, senderId);
  };
}

/** An owner's own files are an owner's own words. What a guest sends never is, in no turn. */
export async function ownUploads(
  folder: string,
  { channel, senderId }: InboundMessage,
  { chat: { isOwner }, files: { sendersIn } }: Pick<AgentPorts, "chat" | "files">,
): Promise<(path: string) => boolean> {
  if (!isOwner(channel, senderId)) return () => false;
  const senderOf = await sendersIn(folder);
  return (path) => {
    const by = senderOf(path);
    return by !== undefined && isOwner(by.slice(0, by.indexOf(":")), by.slice(by.indexOf(":") + 1));
  };
}

/** The web addresses in a message that no model made up: all that a person wrote, quoted or passed on. */
export function addressesOf(message: InboundMessage): readonly string[] {
  if (message.addresses !== undefined) return message.addresses;
  if (isByModel(message)) return [];
  const { content, quoted } = message;
  const theirs = quoted === undefined || quoted.by === "assistant" ? "" : quoted.text;
  return addressesIn(`${content}\n${theirs}`, maxAddresses);
}

/** Briefs, reports, scheduled messages and heartbeats. */
function isByModel({ taskId, resultOf, jobId, internal }: InboundMessage): boolean {
  return taskId !== undefined || resultOf !== undefined || jobId !== undefined || internal === true;
}

/**
 * Platforms say whose message is answered, and not what had a say in it. So it counts as the assistant's or the sender's
 * own only where the conversation's record holds that very text, free of what others wrote.
 */
export async function judgeQuote(
  { quoted, attachments }: InboundMessage,
  session: Pick<ResidentSession, "document">,
  sessions: Pick<SessionPorts, "wasAnswered">,
): Promise<JudgedQuote | undefined> {
  if (quoted === undefined) return undefined;
  const { by, text } = quoted;
  if (by === "other") return { ...quoted, isForeign: true };
  // The names of files that came along are on lines of their own, and say what the message says about those files anyway.
  const names = new Set(attachments.map(({ filename }) => `[${filename}]`));
  const words = text.split("\n").filter((line) => !names.has(line));
  if (session.document.holdsOwn(by === "assistant" ? "assistant" : "user", words.join("\n")))
    return { ...quoted, isForeign: false };
  return { ...quoted, isForeign: by === "sender" || !(await sessions.wasAnswered(text)) };
}
