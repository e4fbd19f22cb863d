import { join } from "node:path";
import { assertHomeFormat } from "../../engine/embedded/home-format.js";
import type { LiveRecords } from "../../engine/embedded/state.js";
import type { Engine } from "../../engine/engine.js";
import type { StoredEvent } from "../../events/event.js";
import { isBelow } from "../../events/session-key.js";
import { silentLog } from "../../log.js";
import { readStaleNotes, staleNotesName } from "../../sessions/document/stale-notes.js";
import { findUnlisted } from "../../sessions/document/unlisted.js";
import { createSessionFiles } from "../../sessions/file-names.js";
import { SessionList, type SessionsWanted } from "../../sessions/list/session-list.js";
import { readMarks, type SessionMarks } from "../../sessions/marks/marks.js";
import { UnreadCounts } from "../../sessions/marks/unread.js";
import { deletionKind, marksKind } from "../../sessions/record-kinds.js";
import { apply, newSession } from "../../sessions/resident-session.js";
import { ResidentSessions } from "../../sessions/resident-sessions.js";
import type { SessionSummary } from "../../sessions/session.js";
import { SessionRepository } from "../../sessions/session-repository.js";
import { FileStorage } from "../../sessions/storage/file.js";
import { createStorageMark } from "../../sessions/storage/mark.js";
import { systemSentence } from "../../util/files/system-fault.js";
import { examineJournal } from "../doctor.js";
import type { GatewayFiles } from "../events.js";
import { eachStoredEvent } from "./session.js";

/** A conversation as the gateway lists it. */
type StoredListing = SessionSummary &
  Pick<SessionMarks, "pinned" | "archived"> & { readonly unread?: number; readonly lastSequence: number };

export interface StoredListWanted extends Pick<SessionsWanted, "limit" | "isWanted"> {
  /** Logs are read for it. */
  readonly isUnreadCounted: boolean;
}

export interface StoredSessionList {
  readonly sessions: readonly StoredListing[];
  /** How many are wanted, on all pages. */
  readonly total: number;
  /** Why the list may lack something: one sentence each, with what to do. */
  readonly problems: readonly string[];
}

/**
 * The conversations of a gateway that does not run, from its index file, with what a crash has kept from being written there.
 * Undefined where the documents have been in another storage: then only a gateway can tell. Changes nothing.
 *
 * @throws {EngineError} `corrupt` for a home of a newer version
 */
export async function listStoredSessions(
  gateway: GatewayFiles,
  { isUnreadCounted, ...wanted }: StoredListWanted,
  signal: AbortSignal,
): Promise<StoredSessionList | undefined> {
  assertHomeFormat(gateway.home);
  const files = createSessionFiles(join(gateway.workspace, ".sessions"));
  if (!(await createStorageMark(files.dir, undefined).isCurrent())) return undefined;
  const { records, problem, problems: found } = examineJournal(gateway);
  const problems = [...(problem === undefined ? [] : [problem]), ...found];
  const log = silentLog;
  const repository = new SessionRepository(new FileStorage(files, log, { isReadOnly: true }), files);
  await repository.load();
  const residents = await foldBehind(gateway, { records, repository, problems }, signal);
  const list = new SessionList(repository, residents, goneOf(records, repository));
  const { sessions, total } = await list.page({ ...wanted, except: "system:" });
  const marks = readMarks(records.facts.get(marksKind) ?? new Map());
  const unread = new UnreadCounts(storedEvents(gateway, records, signal), marks);
  const listed: StoredListing[] = [];
  for (const summary of sessions) {
    const { pinned, archived } = marks.of(summary.key);
    const lastSequence = list.lastSequenceOf(summary.key);
    const counted = isUnreadCounted ? { unread: await unread.count(summary, lastSequence) } : {};
    listed.push({ ...summary, pinned, archived, ...counted, lastSequence });
  }
  return { sessions: listed, total, problems: [...new Set(problems)] };
}

interface Behind {
  readonly records: LiveRecords;
  readonly repository: SessionRepository;
  /** Gets a sentence for each log that cannot be read. */
  readonly problems: string[];
}

/** Those whose documents do not show all of their events, as their events tell. */
async function foldBehind(
  { workspace }: GatewayFiles,
  { records, repository, problems }: Behind,
  signal: AbortSignal,
): Promise<ResidentSessions> {
  const residents = new ResidentSessions();
  const dir = join(workspace, ".sessions");
  const recent = [...records.sessions.all()].flatMap(({ key, lastSeq }) => (lastSeq > 0 ? [key] : []));
  const stale = readStaleNotes(join(dir, staleNotesName));
  const unlisted = await findUnlisted(dir, repository, (problem) => problems.push(problem));
  for (const key of new Set([...stale, ...recent, ...unlisted])) {
    const lastSeq = records.sessions.find(key)?.lastSeq ?? 0;
    if (key.startsWith("system:") || (lastSeq > 0 && repository.rows.get(key)?.lastSequence === lastSeq)) continue;
    const session = newSession(key);
    const onEvent = (event: StoredEvent): void => apply(session, event);
    try {
      await eachStoredEvent({ workspace, records, key, onEvent }, signal);
    } catch (error) {
      const refusal = systemSentence(error);
      if (refusal === undefined) throw error;
      problems.push(refusal);
      continue;
    }
    session.early = undefined;
    residents.add({ session, ready: Promise.resolve() });
  }
  return residents;
}

/** Deleted, and not begun again; or to be deleted by the next start. */
function goneOf({ sessions, facts }: LiveRecords, { rows }: SessionRepository): ReadonlyMap<string, unknown> {
  const gone = new Map<string, unknown>();
  for (const [key, { seq }] of sessions.tombstones) {
    const reached = Math.max(rows.get(key)?.lastSequence ?? 0, sessions.find(key)?.lastSeq ?? 0);
    if (reached <= seq) gone.set(key, seq);
  }
  const begun = [...(facts.get(deletionKind)?.keys() ?? [])];
  if (begun.length === 0) return gone;
  for (const key of [...begun, ...rows.keys()])
    if (begun.some((deleted) => key === deleted || isBelow(key, deleted))) gone.set(key, undefined);
  return gone;
}

/** The events of a session, as an engine gives them. */
function storedEvents({ workspace }: GatewayFiles, records: LiveRecords, signal: AbortSignal): Pick<Engine, "events"> {
  return {
    async events(key, { afterSeq, limit }) {
      const events: StoredEvent[] = [];
      const onEvent = (event: StoredEvent): void => {
        if (event.seq > afterSeq && events.length < limit) events.push(event);
      };
      await eachStoredEvent({ workspace, records, key, onEvent }, signal);
      return { events, hasMore: false };
    },
  };
}
