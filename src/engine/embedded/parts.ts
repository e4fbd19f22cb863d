import type { Logger } from "../../log.js";
import { Admission } from "../admission.js";
import { knownLoss, recordDamage } from "./damage/damage-records.js";
import { eventsInJournal } from "./damage/journal-events.js";
import { JournalMarks } from "./damage/journal-mark.js";
import { raiseHomeFormat, thinnedFormat } from "./home-format.js";
import { Journal } from "./journal/journal.js";
import type { LoadedJournal } from "./journal/load.js";
import { journalFolder } from "./journal/segment.js";
import { defaultLaneLimits, type LaneLimits } from "./lanes/lane-room.js";
import { Lanes } from "./lanes/lanes.js";
import { Leases } from "./leases.js";
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
  readonly lanes: Lanes;
  readonly leases: Leases;
}

/** Builds what an engine is made of and joins it. */
export function createParts(options: EmbeddedEngineOptions, loaded: LoadedJournal): Parts {
  const { log, limits = {}, now = Date.now, onBoundary: boundary = () => {} } = options;
  const { records } = loaded;
  const onFatal = options.process?.onFatal ?? ((error: Error) => stopProcess(error, log));
  const journal: Journal = new Journal(loaded, {
    log,
    assertHeld: options.lock?.assertHeld,
    onFatal(error) {
      leases.close(error);
      onFatal(error);
    },
    mark: new JournalMarks(options.home, options.logs.mark, log),
    onWritable() {
      lanes.resume("inbound");
      lanes.resume("outbound");
    },
  });
  const files = createFiles(options, { records, journal, now, boundary });
  const { writer } = files;
  const { acceptsWaiting = 100, waitMs = 10_000, pendingPerKey = defaultLaneLimits.pendingPerKey } = limits;
  const lanes = new Lanes({ writer, journal, records, now, boundary, log });
  const leases = new Leases(records, async (operations) => {
    // Also on a full disk: anyone who writes to the gateway then is told so.
    writer.write(operations, true);
    await journal.sync();
  });
  return {
    now,
    boundary,
    records,
    journal,
    ...files,
    admission: new Admission({ acceptsWaiting, waitMs }),
    laneLimits: { ...defaultLaneLimits, pendingPerKey },
    lanes,
    leases,
  };
}

/** What writes the journal and the session logs, and moves events from one to the others. */
function createFiles(
  options: EmbeddedEngineOptions,
  { records, journal, now, boundary }: Pick<Parts, "records" | "journal" | "now" | "boundary">,
): Pick<Parts, "logs" | "quiet" | "maintenance" | "writer"> {
  const { log, instanceId, quietMs = 1000 } = options;
  const { forgetMs = 1000, segmentBytes = 8 * 1024 * 1024, sealAtLeast } = options.journal ?? {};
  const logs = new SessionLogs(records.sessions, {
    pathOf: options.logs.pathOf,
    log,
    boundary,
    syncedPosition: () => journal.syncedPosition,
    assertAlone: () => journal.assertAlone(),
    inJournal: (sessionKey) => eventsInJournal(journal.syncedFile, sessionKey),
    knownLoss: (sessionKey) => knownLoss(records, sessionKey),
    shownSeq: options.logs.shownSeq ?? (() => 0),
    onDamage: (damage) => recordDamage({ records, writer, log, now }, damage),
    beforeThin: () => raiseHomeFormat(options.home, thinnedFormat),
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
    sealAtLeast,
  });
  const maintenance = new Maintenance({ journal, records, logs, quiet, seen, log, segmentBytes, forgetMs, boundary });
  const publisher = new Publisher(options.publish, log);
  const onWritten = (): void => maintenance.check();
  const writer: Writer = new Writer({
    journal,
    records,
    logs,
    quiet,
    publisher,
    instanceId,
    now,
    log,
    onWritten,
  });
  return { logs, quiet, maintenance, writer };
}

function stopProcess(error: Error, log: Logger): void {
  log.error(`the process stops and writes nothing more: ${error.message}`, { error });
  process.exit(exitCode);
}
