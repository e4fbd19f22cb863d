import { EmbeddedEngine } from "./embedded-engine.js";
import { loadJournal } from "./journal/load.js";
import { journalFolder } from "./journal/segment.js";
import { judgeCrash } from "./lanes/suspects.js";
import { pendingOf } from "./logs/session-table.js";
import type { EmbeddedEngineOptions } from "./options.js";
import { createParts, type Parts } from "./parts.js";
import { noteStart, readBootId } from "./run-note.js";
import { toStartFailure } from "./start-failure.js";

const firstWindowMs = 4000;

/**
 * Opens the engine that lives in this process and its home folder. Reads the journal and no session log. The caller
 * holds the lock on the home.
 *
 * @throws {EngineError} `corrupt` when the journal is damaged where it was known to be safe, or of a newer version;
 *   `persistence` when the disk does not let it be read, written or synced
 */
export async function openEmbeddedEngine(options: EmbeddedEngineOptions): Promise<EmbeddedEngine> {
  const parts = await openParts(options);
  const { home, instanceId, log, logs } = options;
  noteCrash(parts, options);
  const engine = new EmbeddedEngine(parts, { home, instanceId, log, sessionLogs: logs.all });
  for (const session of parts.records.sessions.all()) if (pendingOf(session).length > 0) parts.quiet.touch(session.key);
  return engine;
}

async function openParts(options: EmbeddedEngineOptions): Promise<Parts> {
  try {
    const { pathOf: logPathOf, all, mark: logsMark } = options.logs;
    const { isTakenOver } = options.lock ?? {};
    const known = { logPathOf, logsMark, isTakenOver, ...(all === undefined ? {} : { logs: all }) };
    const parts = createParts(options, await loadJournal(options.home, options.log, known));
    await noteStart(parts, options.process?.bootId ?? readBootId());
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
