import type { Engine } from "../../engine/engine.js";
import { draft } from "../../events/event.js";
import { channelOf, chatOf } from "../../events/session-key.js";
import type { MarkedSessions, SessionMarks } from "../../sessions/marks/marks.js";
import type { UnreadCounts } from "../../sessions/marks/unread.js";
import type { SessionStore } from "../../sessions/session-store.js";
import type { KeptSessionsApi, ListedSession, MarkFilter } from "./kept-sessions-api.js";

interface ListPorts {
  readonly engine: Pick<Engine, "announce">;
  readonly sessions: Pick<SessionStore, "page" | "lastSequence">;
  readonly marks: MarkedSessions;
  readonly unread: Pick<UnreadCounts, "count">;
}

type Query = Parameters<KeptSessionsApi["listSessions"]>[0];

/** The list with what the owner has made of each session. */
export async function listSessions(
  { sessions, marks, unread }: ListPorts,
  { limit, offset, ...wanted }: Query,
): ReturnType<KeptSessionsApi["listSessions"]> {
  const filters = [
    filterOf("archived", wanted.archived, marks),
    filterOf("pinned", wanted.pinned, marks),
    ofChat(wanted),
  ];
  const active = filters.filter((filter) => filter !== undefined);
  const isWanted = active.length === 0 ? undefined : (key: string): boolean => active.every((filter) => filter(key));
  const page = await sessions.page({ limit, offset, isWanted, except: "system:" });
  const listed = page.sessions.map(async (summary): Promise<ListedSession> => {
    const { pinned, archived } = marks.of(summary.key);
    const lastSequence = sessions.lastSequence(summary.key);
    return { ...summary, pinned, archived, unread: await unread.count(summary, lastSequence), lastSequence };
  });
  return { sessions: await Promise.all(listed), total: page.total };
}

/** Tells all clients. */
export async function told(
  { engine }: Pick<ListPorts, "engine">,
  key: string,
  now: SessionMarks,
): Promise<SessionMarks> {
  const { pinned, archived, readSeq } = now;
  const payload = { pinned, archived, ...(readSeq === undefined ? {} : { read_seq: readSeq }) };
  await engine.announce(key, draft("session_marks_changed", payload, { source: "client" }));
  return now;
}

type Filter = (key: string) => boolean;

function filterOf(mark: "archived" | "pinned", filter: MarkFilter = "all", marks: MarkedSessions): Filter | undefined {
  return filter === "all" ? undefined : (key) => marks.of(key)[mark] === (filter === "true");
}

function ofChat({ channel, chatId }: Pick<Query, "channel" | "chatId">): Filter | undefined {
  if (channel === undefined && chatId === undefined) return undefined;
  return (key) => {
    if (channel !== undefined && channelOf(key) !== channel) return false;
    return chatId === undefined || chatOf(key) === chatId || chatOf(key).startsWith(`${chatId}:`);
  };
}
