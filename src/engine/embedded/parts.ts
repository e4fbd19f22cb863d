import { knownLoss, tellDamage } from "./damage/damage-records.js";
import { eventsInJournal } from "./damage/journal-events.js";
import { JournalMarks } from "./damage/journal-mark.js";
import { Journal } from "./journal/journal.js";
import type { LoadedJournal } from "./journal/load.js";
import { journalFolder } from "./journal/segment.js";
import { AcceptListeners } from "./lanes/accept-listeners.js";
import { Admission } from "./lanes/admission.js";
import { defaultLaneLimits, type LaneLimits } from "./lanes/lane-room.js";
import { Lanes } from "./lanes/lanes.js";
import { Publisher } from "./logs/publisher.js";
import { QuietFlush } from "./logs/quiet-flush.js";
import { SessionLogs } from "./logs/session-logs.js";
import { Writer } from "./logs/writer.js";
import { Maintenance } from "./maintenance.js";
import type { EmbeddedEngineOptions, OnBoundary } from "./options.js";
import { seenFolder } from "./seen/format.js";
import { SeenKeeper } from "./seen/seen-keeper.js";
import type { LiveRecords } from "./state.js";

const exitCode = 74;

export interface Parts {
  readonly now: () => number;
  readonly boundary: OnBoundary;
  readonly records: LiveRecords;
  readonly journal: Journal;
  readonly logs: SessionLogs;
  readonly quiet: QuietFlush;
  readonly maintenance: Maintenance;
  readonly writer: Writer;
  readonly admission: Admission;
  readonly laneLimits: LaneLimits;
  readonly listeners: AcceptListeners;
  readonly lanes: Lanes;
}

/** Builds what an engine is made of and joins it. */
export function createParts(options: EmbeddedEngineOptions, loaded: LoadedJournal): Parts {
  const { log, limits = {}, now = Date.now, quietMs = 1000, segmentBytes = 16 * 1024 * 1024 } = options;
  const { records } = loaded;
  const boundary = options.onBoundary ?? (() => {});
  const journal: Journal = new Journal(loaded, {
    log,
    assertHeld: options.assertHeld,
    onFatal: options.onFatal ?? stopProcess,
    mark: new JournalMarks(options.home, options.logsMark, log),
    onWritable: () => {
      lanes.resume("inbound");
      lanes.resume("outbound");
    },
  });
  const logs = new SessionLogs(records.sessions, {
    pathOf: options.sessionLogPath,
    log,
    boundary,
    syncedPosition: () => journal.syncedPosition,
    assertAlone: () => journal.assertAlone(),
    inJournal: (sessionKey) => eventsInJournal(journal.syncedFile, sessionKey),
    knownLoss: (sessionKey) => knownLoss(records, sessionKey),
    shownSeq: options.shownSeq ?? (() => 0),
    onDamage: (damage) => tellDamage({ records, writer, log, now }, damage),
  });
  const quiet = new QuietFlush(logs, records.sessions, quietMs, log);
  const seen = new SeenKeeper({
    ids: records.seen,
    folder: seenFolder(journalFolder(options.home)),
    log,
    now,
    boundary,
    note: async (files) => {
      writer.write([{ o: "sealed", files: [...files] }]);
      await journal.sync(false);
    },
    sealAtLeast: options.sealAtLeast,
  });
  const maintenance = new Maintenance({
    journal,
    records,
    logs,
    quiet,
    seen,
    log,
    segmentBytes,
    forgetMs: options.forgetMs ?? 1000,
    boundary,
  });
  const publisher = new Publisher(options.publish, log);
  const { instanceId } = options;
  const writer: Writer = new Writer({
    journal,
    records,
    logs,
    quiet,
    publisher,
    instanceId,
    now,
    log,
    onWritten: () => maintenance.check(),
  });
  const { acceptsWaiting = 100, waitMs = 10_000, pendingPerKey = defaultLaneLimits.pendingPerKey } = limits;
  const admission = new Admission({ acceptsWaiting, waitMs });
  const laneLimits = { ...defaultLaneLimits, pendingPerKey };
  const listeners = new AcceptListeners(log);
  const lanes = new Lanes(
    {
      writer,
      journal,
      records,
      now,
      boundary,
      log,
    },
    (item) => listeners.tell(item),
  );
  return { now, boundary, records, journal, logs, quiet, maintenance, writer, admission, laneLimits, listeners, lanes };

  function stopProcess(error: Error): void {
    log.error(`the process stops and writes nothing more: ${error.message}`, { error });
    process.exit(exitCode);
  }
}
