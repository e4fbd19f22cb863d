/** One conversation's key: `channel:chat_id[:thread]`. The only place that builds one. */
export function sessionKeyOf(channel: string, chatId: string, thread?: string): string {
  return thread === undefined || thread === "" ? `${channel}:${chatId}` : `${channel}:${chatId}:${thread}`;
}

/** The channel part of a session key. */
export function channelOf(sessionKey: string): string {
  const colon = sessionKey.indexOf(":");
  return colon === -1 ? sessionKey : sessionKey.slice(0, colon);
}

/** What stands behind the channel in a session key: the chat and, where there is one, the thread. */
export function chatOf(sessionKey: string): string {
  const colon = sessionKey.indexOf(":");
  return colon === -1 ? "" : sessionKey.slice(colon + 1);
}

/** The session that the gateway's own events belong to. */
export function systemKey(node: string): string {
  return `system:${node}`;
}

/** Channels whose people read a session's events themselves: nothing has to be sent to them. */
export const clientChannels: ReadonlySet<string> = new Set(["webui", "cli"]);
