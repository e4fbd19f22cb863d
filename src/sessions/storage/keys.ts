import { channelOf, chatOf } from "../../events/session-key.js";

/**
 * The four records of a session:
 *
 * - head, `sessions:{key}`: the document without its messages
 * - messages, `messages:{key}`
 * - line, `idx:sessions:channel:{channel}:{key}`: what the list of sessions shows of it
 * - chat, `idx:sessions:chat:{chat_id}:{key}`: finds the sessions of a chat; `:` and `%` of its id are `%3a` and `%25`
 */
export type RecordKind = "head" | "messages" | "line" | "chat";

/** How the keys of each kind begin. */
export const kindPrefixes: Readonly<Record<RecordKind, string>> = {
  head: "sessions:",
  messages: "messages:",
  line: "idx:sessions:channel:",
  chat: "idx:sessions:chat:",
};

const indexPrefix = "idx:";

export const recordKinds: readonly RecordKind[] = ["head", "messages", "line", "chat"];

/** The key of one of a session's records. */
export function recordKey(kind: RecordKind, sessionKey: string): string {
  const prefix = kindPrefixes[kind];
  switch (kind) {
    case "head":
    case "messages":
      return prefix + sessionKey;
    case "line":
      return `${prefix}${channelOf(sessionKey)}:${sessionKey}`;
    case "chat":
      return `${prefix}${chatOf(sessionKey).replaceAll("%", "%25").replaceAll(":", "%3a")}:${sessionKey}`;
  }
}

/** The kind of a record and its session; undefined for a key that follows none of the four forms. */
export function parseRecordKey(key: string): { readonly kind: RecordKind; readonly sessionKey: string } | undefined {
  const kind = recordKinds.find((each) => key.startsWith(kindPrefixes[each]));
  if (kind === undefined) return undefined;
  const rest = key.slice(kindPrefixes[kind].length);
  const sessionKey = kind === "head" || kind === "messages" ? rest : rest.slice(rest.indexOf(":") + 1);
  return recordKey(kind, sessionKey) === key ? { kind, sessionKey } : undefined;
}

/** Whether a scan for `prefix` can find records of this kind. */
export function isKindInScan(kind: RecordKind, prefix: string): boolean {
  const begin = kindPrefixes[kind];
  return prefix.startsWith(begin) || isInScan(begin, prefix);
}

/** True for a key that a scan for `prefix` finds: indexes only when they are asked for. */
export function isInScan(key: string, prefix: string): boolean {
  return key.startsWith(prefix) && (prefix.startsWith(indexPrefix) || !key.startsWith(indexPrefix));
}
