const spawned = ":spawn:";

/**
 * One conversation's key: `channel:chat_id[:thread]`. The only place that builds one. It is never that of a sub-agent,
 * however somebody has called a chat or a thread.
 */
export function sessionKeyOf(channel: string, chatId: string, thread?: string): string {
  const key = thread === undefined || thread === "" ? `${channel}:${chatId}` : `${channel}:${chatId}:${thread}`;
  return key.replaceAll(spawned, ":spawn;");
}

/** The channel part of a session key. */
export function channelOf(sessionKey: string): string {
  const colon = sessionKey.indexOf(":");
  return colon === -1 ? sessionKey : sessionKey.slice(0, colon);
}

/** What is behind the channel in a session key: the chat and, where there is one, the thread. */
export function chatOf(sessionKey: string): string {
  const colon = sessionKey.indexOf(":");
  return colon === -1 ? "" : sessionKey.slice(colon + 1);
}

/** Where the people of a platform's session read. Ids of platforms hold no colon: what is behind one is the thread. */
export function placeOf(sessionKey: string): { channel: string; chatId: string; thread?: string } {
  const [chatId = "", ...thread] = chatOf(sessionKey).split(":");
  return { channel: channelOf(sessionKey), chatId, ...(thread.length === 0 ? {} : { thread: thread.join(":") }) };
}

/** The session of a sub-agent. */
export function childKeyOf(parentKey: string, taskId: string): string {
  return `${parentKey}${spawned}${taskId}`;
}

/** True when the session is one of a sub-agent, or of a sub-agent's sub-agent, of this one. */
export function isBelow(key: string, sessionKey: string): boolean {
  return key.startsWith(`${sessionKey}${spawned}`);
}

/** How many sub-agents are between a session and its chat, itself included: 0 for the chat's own. */
export function depthOf(sessionKey: string): number {
  return sessionKey.split(spawned).length - 1;
}

/** The session of the chat itself, for which a sub-agent works in the end. */
export function rootKeyOf(sessionKey: string): string {
  return sessionKey.split(spawned)[0] ?? sessionKey;
}

/** The session that the gateway's own events belong to. */
export function systemKey(node: string): string {
  return `system:${node}`;
}

/** Channels whose people read a session's events themselves: nothing has to be sent to them. */
export const clientChannels: ReadonlySet<string> = new Set(["webui", "cli"]);
