import { dirname } from "node:path";
import { EngineError } from "../../../errors.js";
import type { StoredEvent } from "../../../events/event.js";
import { codeOf } from "../../../util/error-code.js";
import { reasonOf } from "../../../util/files/system-fault.js";
import { eachLine } from "../logs/line-walk.js";
import { parseEventLine } from "../logs/log-reading.js";
import { seenFolder } from "../seen/format.js";
import { checkSealed } from "../seen/open-sealed.js";
import { type EventProblem, SessionCheck } from "./check-session.js";
import { readStoredJournal, type StoredFiles, type StoredJournal } from "./stored-files.js";

export interface EventReport {
  /** Without the gateway's own log. */
  readonly sessions: number;
  readonly events: number;
  /** At most 1000, and the first of each kind in each log. */
  readonly problems: readonly EventProblem[];
  readonly problemCount: number;
}

export interface VerifyOptions {
  /** Only this session. */
  readonly sessionKey?: string | undefined;
  /** Where a session's log belongs. */
  readonly logPathOf: (sessionKey: string) => string;
  /** Whose log a file is by all that is known besides its lines, of which none can be read. */
  readonly keyOfLog?: ((file: string) => string | undefined) | undefined;
  readonly signal: AbortSignal;
  /** Called after each log. */
  readonly onProgress?:
    | ((progress: { readonly filesDone: number; readonly files: number; readonly events: number }) => void)
    | undefined;
}

const mostListed = 1000;

/**
 * Checks what is stored: checksums, numbers without gaps and repeats, times in order, and that the causes of each reply
 * lead back to the message it answers. Changes nothing.
 *
 * @throws {EngineError} `corrupt` when the journal is of a newer version
 */
export async function verifyStoredEvents(files: StoredFiles, options: VerifyOptions): Promise<EventReport> {
  const { sessionKey, logPathOf } = options;
  const verification = new Verification(readStoredJournal(files), options);
  const logs = sessionKey === undefined ? files.logs : [logPathOf(sessionKey)];
  for (const [index, file] of logs.entries()) {
    await verification.checkReadable(file);
    options.onProgress?.({ filesDone: index + 1, files: logs.length, events: verification.events });
  }
  verification.checkUnlogged();
  await verification.settleCauses(files.logs);
  return verification.toReport();
}

class Verification {
  readonly #journal: StoredJournal;
  readonly #options: VerifyOptions;
  /** Events of sessions that were not looked at yet. */
  readonly #inJournal = new Map<string, readonly StoredEvent[]>();
  readonly #missingCauses = new Map<string, EventProblem>();
  readonly #problems: EventProblem[] = [];
  /** Of which something is listed: a kind in a log. */
  readonly #listed = new Set<string>();
  readonly #unreadable = new Set<string>();
  #problemCount = 0;
  #sessions = 0;
  #events = 0;

  constructor(journal: StoredJournal, options: VerifyOptions) {
    this.#journal = journal;
    this.#options = options;
    const { path, problem, records } = journal;
    for (const message of path === undefined ? [] : checkSealed(seenFolder(dirname(path)), records.seen.files))
      this.#report({ kind: "journal", message });
    if (problem !== undefined)
      this.#report({ kind: "journal", message: problem, ...(path === undefined ? {} : { file: path }) });
    for (const { key, tail } of records.sessions.all()) {
      const isWanted = options.sessionKey === undefined || key === options.sessionKey;
      if (isWanted && tail.length > 0)
        this.#inJournal.set(
          key,
          tail.map(({ event }) => event),
        );
    }
  }

  get events(): number {
    return this.#events;
  }

  /** A log that the system does not let anybody read is the finding, and keeps nobody from reading the others. */
  async checkReadable(file: string): Promise<void> {
    try {
      await this.#checkLog(file);
    } catch (error) {
      this.#options.signal.throwIfAborted();
      if (codeOf(error) === undefined) throw error;
      this.#unreadable.add(file);
      const key = this.#options.sessionKey ?? this.#options.keyOfLog?.(file);
      if (key !== undefined) this.#inJournal.delete(key);
      const message = `this log cannot be read: ${reasonOf(error)}`;
      this.#report({ kind: "unreadable", message, ...(key === undefined ? {} : { sessionKey: key }), file });
    }
  }

  async #checkLog(file: string): Promise<void> {
    const early: { readonly line: number; readonly byte: number }[] = [];
    let check: SessionCheck | undefined;
    let key = this.#options.sessionKey;
    await eachLine(
      file,
      (bytes, { line, byte }) => {
        const event = this.#parse(bytes, { file, line });
        if (event === "newer") return;
        if (event === undefined) {
          if (check === undefined) early.push({ line, byte });
          else check.damaged({ file, line }, byte);
          return;
        }
        key ??= event.session_key;
        if (event.seq < this.#firstSeq(event.session_key)) return;
        check ??= this.#begin(key, file, early);
        this.#events += 1;
        check.add(event, { file, line });
      },
      this.#options.signal,
    );
    if (key === undefined && early.length > 0) {
      const known = this.#options.keyOfLog?.(file);
      if (known !== undefined && file === this.#options.logPathOf(known)) key = known;
      else this.#report({ kind: "damaged", message: "no line of this log can be read", file, line: 1 });
    }
    if (key === undefined) return;
    if (file !== this.#options.logPathOf(key)) {
      const message = `this is a log of ${key}, whose log is ${this.#options.logPathOf(key)}: the gateway does not read it`;
      check?.settle();
      this.#report({ kind: "foreign", message, sessionKey: key, file });
    } else if (check !== undefined || early.length > 0 || this.#inJournal.has(key)) {
      this.#finish(key, check ?? this.#begin(key, file, early));
    }
  }

  #parse(bytes: Buffer, position: { readonly file: string; readonly line: number }): StoredEvent | undefined | "newer" {
    try {
      return parseEventLine(bytes);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      this.#report({ kind: "version", message: error.message, ...position });
      return "newer";
    }
  }

  /** Sessions that have no log yet. */
  checkUnlogged(): void {
    for (const key of [...this.#inJournal.keys()]) this.#finish(key, this.#begin(key, "", []));
  }

  /** An event may be caused by one of another session, as those of a sub-agent are. */
  async settleCauses(logs: readonly string[]): Promise<void> {
    const missing = this.#missingCauses;
    for (const file of missing.size === 0 ? [] : logs.filter((log) => !this.#unreadable.has(log))) {
      await eachLine(
        file,
        (bytes) => {
          const id = /"event_id":"([^"]+)"/.exec(bytes.toString("latin1", 0, 120))?.[1] ?? "";
          // In the session's own log it is behind what it is said to have caused.
          if (missing.has(id) && missing.get(id)?.file !== file) missing.delete(id);
        },
        this.#options.signal,
      );
    }
    for (const problem of missing.values()) this.#report(problem);
  }

  toReport(): EventReport {
    return {
      sessions: this.#sessions,
      events: this.#events,
      problems: this.#problems,
      problemCount: this.#problemCount,
    };
  }

  /** What is before it was deleted with the session. */
  #firstSeq(key: string): number {
    return (this.#journal.records.sessions.tombstones.get(key)?.seq ?? 0) + 1;
  }

  #begin(
    key: string,
    file: string,
    damaged: readonly { readonly line: number; readonly byte: number }[],
  ): SessionCheck {
    const check = new SessionCheck(key, this.#firstSeq(key), (problem) => this.#report(problem));
    for (const { line, byte } of damaged) check.damaged({ file, line }, byte);
    return check;
  }

  /** What is in the log and in the journal is the same; the journal goes on where the log ends. */
  #finish(key: string, check: SessionCheck): void {
    const rest = (this.#inJournal.get(key) ?? []).filter(({ seq }) => seq > check.lastSeq);
    this.#inJournal.delete(key);
    check.endLog(rest[0]);
    for (const event of rest) check.add(event, { file: this.#journal.path ?? "journal" });
    check.settle();
    this.#events += rest.length;
    // `sessions list` does not count the gateway's own log either.
    if (!key.startsWith("system:")) this.#sessions += 1;
    for (const [cause, problem] of check.missingCauses) this.#missingCauses.set(cause, problem);
  }

  #report(problem: EventProblem): void {
    this.#problemCount += 1;
    const name = `${problem.kind} ${problem.sessionKey ?? problem.file}`;
    if (this.#problems.length >= mostListed && this.#listed.has(name)) return;
    this.#listed.add(name);
    this.#problems.push(problem);
  }
}
