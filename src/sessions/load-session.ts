import type { Engine } from "../engine/engine.js";
import { messageOf } from "../errors.js";
import { draft } from "../events/event.js";
import type { Logger } from "../log.js";
import { readDocument, shownSequence } from "./document/document-file.js";
import { takeOverDocument } from "./document/take-over-document.js";
import type { SessionFiles } from "./file-names.js";
import { type FoundFolds, readFolds, writeFolds } from "./folds/fold-file.js";
import type { PackedSessions } from "./folds/packed-sessions.js";
import { foldsOf, restoreFolds } from "./folds/session-folds.js";
import { readPlanFile } from "./history/plan-file.js";
import { removeFolders } from "./remove-folders.js";
import { apply, type MutableSession } from "./resident-session.js";
import { LostEvents, restoreMessages } from "./restore-messages.js";
import type { DocumentMessage } from "./session.js";

const pageSize = 1000;
/** The folds are written once the log has grown by so many events, or by this part of what they show. */
const foldEvents = 500;
const foldPart = 1 / 50;

export interface LoadPorts {
  readonly engine: Pick<Engine, "events" | "append" | "lastSequence">;
  readonly files: SessionFiles;
  readonly log: Logger;
  readonly now: () => Date;
  readonly packed: PackedSessions;
}

/** Brings a session to where its log is. A Go maxclaw's document becomes the log's first event. */
export async function loadSession(ports: LoadPorts, session: MutableSession): Promise<void> {
  const { engine, files } = ports;
  const lost = new LostEvents();
  let page = await openPage(ports, session);
  for (;;) {
    for (const event of page.events) {
      lost.see(event);
      apply(session, event);
    }
    if (!page.hasMore) break;
    page = await engine.events(session.key, { afterSeq: session.document.lastSequence, limit: pageSize });
  }
  // What a deletion that was cut off left behind is none of the next life's.
  if (session.document.lastSequence === 0 && (await engine.lastSequence(session.key)) > 0)
    await removeFolders(files, session.key);
  for (const event of session.early ?? []) if (event.seq > session.document.lastSequence) lost.see(event);
  await compareDocument(ports, session, lost);
  // Later one that a tool has written would pass for it.
  if (!session.logged.hasToolRun) await takeOverPlan(ports, session);
  for (const event of session.early ?? []) if (event.seq > session.document.lastSequence) apply(session, event);
  session.early = undefined;
}

/** Writes what the session has come to where reading its log would take long. It can be made again: nobody fails for it. */
export async function keepFolds({ files, log }: LoadPorts, session: MutableSession): Promise<void> {
  const { lastSequence: seq } = session.document;
  if (seq - session.logged.foldedSeq < Math.max(foldEvents, seq * foldPart)) return;
  const folds = foldsOf(session);
  if (folds === undefined) return;
  try {
    const { key, logged } = session;
    const { lastEventId: eventId } = logged;
    await writeFolds(files.kept(key), { key, seq, eventId }, folds);
    session.logged.foldedSeq = seq;
  } catch (error) {
    log.warn(`The folds of ${session.key} could not be written: ${messageOf(error)}`, { session: session.key });
  }
}

/** The first events to apply: those behind the folds, where there are some and the log still holds the event they end with. */
async function openPage({ engine, files, packed }: LoadPorts, session: MutableSession): ReturnType<Engine["events"]> {
  const { key } = session;
  const found = packed.take(key) ?? (await readFolds(files.kept(key), key));
  if (found === undefined) return await engine.events(key, { afterSeq: 0, limit: pageSize });
  const { seq, eventId } = found.place;
  const { events, hasMore } = await engine.events(key, { afterSeq: seq - 1, limit: pageSize });
  const [last, ...later] = events;
  if (last?.seq !== seq || last.event_id !== eventId) return await engine.events(key, { afterSeq: 0, limit: pageSize });
  restoreFound(session, found);
  return { events: later, hasMore };
}

/** Puts a session that is empty where these folds are. */
export function restoreFound(session: MutableSession, { folds, foldedSeq, place }: FoundFolds): void {
  restoreFolds(session, folds);
  session.logged.foldedSeq = foldedSeq;
  session.logged.isCompared = true;
  session.logged.lastEventId = place.eventId;
}

/** What the document has that the log lacks: an older history, or what was lost of the log. */
async function compareDocument(ports: LoadPorts, session: MutableSession, lost: LostEvents): Promise<void> {
  const path = ports.files.documentPath(session.key);
  const messages = (): readonly DocumentMessage[] => session.document.toDocument().messages;
  const lastSequence = Math.max(session.document.lastSequence, session.early?.at(-1)?.seq ?? 0);
  if (session.logged.hasImport && lost.gaps.length === 0) return;
  // It was compared when the folds were made, and is still one that we have written.
  const shown = session.logged.isCompared && lost.gaps.length === 0 ? shownSequence(path) : 0;
  if (shown > 0 && shown <= lastSequence) return;
  const reading = await readDocument(path);
  await restoreMessages(ports, { key: session.key, lastSequence, messages }, lost, reading);
  const stored = { key: session.key, lastSequence: session.document.lastSequence };
  if (!session.logged.hasImport) await takeOverDocument(ports, stored, ports.now(), reading);
}

/** A plan that the Go maxclaw left behind, where the log tells about none. */
async function takeOverPlan({ engine, files, log }: LoadPorts, { key, plan }: MutableSession): Promise<void> {
  if (plan.isRecorded) return;
  const found = await readPlanFile(files.folder(key));
  if (found.status !== "ok") return;
  await engine.append(key, [draft("plan_updated", { plan: found.plan, change: "created" }, { source: "gateway" })], {
    durable: true,
  });
  log.info(`Imported the plan “${found.plan.goal}”`, { session: key });
}
