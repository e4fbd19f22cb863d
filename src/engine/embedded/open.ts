import { messageOf } from "../../errors.js";
import type { Logger } from "../../log.js";
import { linked } from "../../util/async/linked.js";
import type {
  Acceptance,
  AcceptOptions,
  ConsumeOptions,
  Engine,
  EngineStatus,
  Handler,
  QueueName,
  StoredWork,
  Work,
} from "../engine.js";
import { damageKind } from "../log-damage.js";
import { closedError, createDeadLetters, createRecords, createRefusal } from "./facts.js";
import { frozenCopy } from "./files.js";
import { loadJournal } from "./journal/load.js";
import type { Operation } from "./journal/operations.js";
import { journalFolder } from "./journal/segment.js";
import { storeEvents } from "./lanes/delivery.js";
import { assertRoom, longLanes } from "./lanes/lane-room.js";
import { judgeCrash } from "./lanes/suspects.js";
import { toStored } from "./lanes/work-table.js";
import { pendingOf } from "./logs/session-table.js";
import type { EmbeddedEngineOptions } from "./options.js";
import { createParts, type Parts } from "./parts.js";
import { noteStart, noteStop, readBootId } from "./run-note.js";
import { toStartFailure } from "./start-failure.js";

const settleMs = 5000;
const firstWindowMs = 4000;

/**
 * Opens the engine that lives in this process and its home folder. Reads the journal and no session log. The caller
 * holds the lock on the home.
 *
 * @throws {EngineError} `corrupt` when the journal is damaged where it was known to be safe, or of a newer version;
 *   `persistence` when the disk does not let it be read, written or synced
 */
export async function openEmbeddedEngine(options: EmbeddedEngineOptions): Promise<Engine> {
  const parts = await openParts(options);
  noteCrash(parts, options);
  removeLogs(parts, options.log);
  for (const session of parts.records.sessions.all()) if (pendingOf(session).length > 0) parts.quiet.touch(session.key);
  return createEngine(parts, options);
}

async function openParts(options: EmbeddedEngineOptions): Promise<Parts> {
  try {
    const { sessionLogs, sessionLogPath: logPathOf, logsMark, isTakenOver } = options;
    const known = { logPathOf, logsMark, isTakenOver, ...(sessionLogs === undefined ? {} : { logs: sessionLogs }) };
    const parts = createParts(options, await loadJournal(options.home, options.log, known));
    await noteStart(parts, options.bootId ?? readBootId());
    return parts;
  } catch (error) {
    throw toStartFailure(journalFolder(options.home), error);
  }
}

/** What the process before has left in work becomes suspect of having ended it. */
function noteCrash({ records, writer }: Parts, { log, limits = {} }: EmbeddedEngineOptions): void {
  const changes = judgeCrash([...records.work.all()], limits.suspectMs ?? firstWindowMs);
  if (changes.length === 0) return;
  try {
    writer.write(changes);
  } catch (error) {
    // The next start finds the same in the journal and judges the same.
    log.warn("what was in work when the last process ended could not be noted", { error });
    for (const change of changes) records.apply(change, { isDurable: true, bytes: 0, position: 0 });
  }
}

function createEngine(parts: Parts, options: EmbeddedEngineOptions): Engine {
  const { journal, records, logs, writer, lanes, admission, maintenance, boundary, now } = parts;
  const closing = new AbortController();
  const consuming = new Set<Promise<void>>();
  let isClosed = false;
  let closed: Promise<void> | undefined;

  function assertOpen(): void {
    if (isClosed) throw closedError();
  }

  async function store(operations: readonly Operation[], isReceipt = false): Promise<void> {
    assertOpen();
    writer.write(operations, isReceipt);
    await journal.sync();
  }

  async function accept(work: Work, { events, cursor, isUrgent = false }: AcceptOptions): Promise<Acceptance> {
    const written = await admission.enter(() => {
      if (closing.signal.aborted) throw closedError();
      if (records.hasSeen(work, now())) return undefined;
      assertRoom(records.work, work, parts.laneLimits, isUrgent);
      const operations: Operation[] = [{ o: "work", work: frozenCopy(work), at: now() }];
      if (cursor !== undefined) operations.push({ o: "cursor", name: cursor.name, value: cursor.value });
      return writer.writeEvents(work.sessionKey, events, operations);
    });
    try {
      if (written !== undefined) boundary("accept:before-sync");
      // A duplicate counts as arrived only once the first one is durable.
      await journal.sync(written !== undefined);
      if (written === undefined) return { status: "duplicate" };
      boundary("accept:after-sync");
    } finally {
      admission.leave();
    }
    await written.publish();
    const item = records.work.item(work.queue, work.id);
    if (item !== undefined) lanes.makeAvailable(item);
    return { status: "accepted", events: await written.events() };
  }

  async function consume(
    queue: QueueName,
    limits: ConsumeOptions,
    handler: Handler<QueueName>,
    signal: AbortSignal,
  ): Promise<void> {
    if (closing.signal.aborted) throw closedError();
    using scope = linked(signal);
    const stop = (): void => scope.abort(closedError());
    closing.signal.addEventListener("abort", stop, { once: true });
    const done = lanes.consume(queue, limits, handler, scope.signal);
    consuming.add(done);
    try {
      await done;
    } finally {
      consuming.delete(done);
      closing.signal.removeEventListener("abort", stop);
    }
  }

  async function close(): Promise<void> {
    closing.abort();
    journal.end();
    admission.close(closedError());
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), settleMs);
    });
    const hasSettled = await Promise.race([Promise.allSettled(consuming).then(() => true), limit]);
    clearTimeout(timer);
    isClosed = true;
    lanes.fenceAll();
    parts.quiet.stop();
    maintenance.stopHolding();
    try {
      if (hasSettled) noteStop(parts);
      await maintenance.compact();
    } catch (error) {
      options.log.warn("closing could not move everything into the session logs; it stays in the journal", {
        error: messageOf(error),
      });
    }
    await journal.close();
    records.seen.close();
  }

  return {
    accept: async (work, acceptOptions) => {
      if (closing.signal.aborted) throw closedError();
      return accept(work, acceptOptions);
    },

    refuse: createRefusal(parts, store),

    // The queue decides what the handler gets, which a plain union does not show to the compiler.
    consume: (queue, limits, handler, signal) => consume(queue, limits, handler as Handler<QueueName>, signal),

    append: async (sessionKey, events, appendOptions) => {
      assertOpen();
      return storeEvents(parts, sessionKey, events, appendOptions);
    },

    publish(sessionKey, event) {
      assertOpen();
      return writer.publish(sessionKey, event);
    },

    onAccepted: (sessionKey, listener) => parts.listeners.add(sessionKey, listener),

    async events(sessionKey, { afterSeq, limit }) {
      assertOpen();
      const session = logs.open(sessionKey);
      const { lastSeq } = session;
      const events = await logs.read(session, afterSeq, limit);
      const reached = events.at(-1)?.seq ?? afterSeq;
      return { events, hasMore: events.length === limit && reached < lastSeq };
    },

    async lastSequence(sessionKey) {
      assertOpen();
      return logs.open(sessionKey).lastSeq;
    },

    recentSessions: () => [...records.sessions.all()].filter(({ lastSeq }) => lastSeq > 0).map(({ key }) => key),

    waiting<Q extends QueueName>(queue: Q, key: string): readonly StoredWork<Q>[] {
      const items = records.work.lane(queue, key)?.items ?? [];
      return items.filter((item) => item.isDurable).map((item) => toStored(item) as StoredWork<Q>);
    },

    longLanes: (least) => longLanes(records.work, least),

    async deleteSession(sessionKey) {
      assertOpen();
      const { lastSeq, lastTime } = logs.open(sessionKey);
      const isEmpty = lastSeq === (records.sessions.tombstones.get(sessionKey)?.seq ?? 0);
      if (isEmpty && !records.work.hasWorkOf(sessionKey)) return;
      writer.write([
        { o: "tombstone", key: sessionKey, seq: lastSeq, timestamp: lastTime },
        { o: "remove", kind: damageKind, id: sessionKey },
      ]);
      lanes.fenceDeleted();
      maintenance.forgetSoon();
      await journal.sync();
      removeLog(parts, sessionKey, options.log);
    },

    cursor: (name) => records.cursors.get(name),
    records: (kind) => createRecords(parts, kind, store),
    dead: createDeadLetters(parts, store),

    status(): EngineStatus {
      const reason = journal.refusal;
      return {
        writable: reason === undefined,
        ...(reason === undefined ? {} : { reason }),
        inboundWaiting: records.work.count("inbound"),
        outboundWaiting: records.work.count("outbound"),
        deadLetters: records.work.dead.size,
        syncs: journal.syncs,
        problems: [...records.seen.problems.values()],
      };
    },

    async flush() {
      assertOpen();
      await maintenance.flush();
    },

    async holdFiles() {
      assertOpen();
      const held = await maintenance.hold();
      return {
        ...held,
        async [Symbol.asyncDispose]() {
          await held[Symbol.asyncDispose]();
          removeLogs(parts, options.log);
        },
      };
    },

    [Symbol.asyncDispose](): Promise<void> {
      closed ??= close();
      return closed;
    },
  };
}

/** Takes off the disk what deleted sessions have left there. */
function removeLogs(parts: Parts, log: Logger): void {
  for (const [key, tombstone] of parts.records.sessions.tombstones) if (!tombstone.isGone) removeLog(parts, key, log);
}

/**
 * Takes a deleted session's log off the disk. While somebody holds the files it is left for later, and so is what fails:
 * for the next start.
 */
function removeLog({ logs, writer, records, maintenance }: Parts, key: string, log: Logger): void {
  if (maintenance.isHeld) return;
  if (records.sessions.tombstones.get(key)?.isGone !== false) return;
  try {
    logs.remove(key);
    writer.write([{ o: "gone", key }]);
  } catch (error) {
    log.warn("the log of a deleted session could not be removed; it is tried again at the next start", {
      session: key,
      error: messageOf(error),
    });
  }
}
