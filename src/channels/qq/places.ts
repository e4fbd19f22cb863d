import type { ReceivedMessage } from "../channel.js";

/**
 * Where a chat is at QQ. A private chat has the person's openid as its id, as with the Go maxclaw; groups and guild channels
 * have a word before theirs, because openids of people and groups look the same.
 */
export type Place =
  | { readonly kind: "user" | "group" | "channel"; readonly id: string }
  /** Private messages of a guild: the chat has the person's id, and QQ wants that of a guild made for the two. */
  | { readonly kind: "guild-dm"; readonly id: string };

const groupPrefix = "group-";
const channelPrefix = "channel-";

export function chatIdOf({ kind, id }: { readonly kind: "group" | "channel"; readonly id: string }): string {
  return `${kind === "group" ? groupPrefix : channelPrefix}${id}`;
}

/** `guildId`: known from what the person has written. */
export function placeOf(chatId: string, guildId: string | undefined): Place {
  if (chatId.startsWith(groupPrefix)) return { kind: "group", id: chatId.slice(groupPrefix.length) };
  if (chatId.startsWith(channelPrefix)) return { kind: "channel", id: chatId.slice(channelPrefix.length) };
  return guildId === undefined ? { kind: "user", id: chatId } : { kind: "guild-dm", id: guildId };
}

export function pathOf({ kind, id }: Place): string {
  const at = encodeURIComponent(id);
  if (kind === "user") return `/v2/users/${at}`;
  if (kind === "group") return `/v2/groups/${at}`;
  return kind === "channel" ? `/channels/${at}` : `/dms/${at}`;
}

/** Guilds have an older API: no numbered replies, no upload, pictures alone. */
export function isOfGuild({ kind }: Place): boolean {
  return kind === "channel" || kind === "guild-dm";
}

export function chatTypeOf(kind: Place["kind"]): ReceivedMessage["chatType"] {
  return kind === "user" || kind === "guild-dm" ? "dm" : "group";
}

/** How long a message can be answered. https://bot.q.qq.com/wiki/develop/api-v2/server-inter/message/send-receive/send.html */
export function replyMinutes({ kind }: Place): number {
  return kind === "user" ? 60 : 5;
}

/** How often. For guilds QQ names no number. */
export function mostReplies(place: Place): number {
  return isOfGuild(place) ? Number.POSITIVE_INFINITY : 5;
}
