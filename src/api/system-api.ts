import type { OpenedFile } from "../util/files/opened-file.js";

export type LogLevel = "debug" | "info" | "warn" | "error";

/** One line of the log. What cannot be read as one has its text only. */
export interface LogLine {
  readonly text: string;
  readonly level?: LogLevel;
  /** ISO 8601. */
  readonly time?: string;
  readonly message?: string;
  /** All the rest. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Something that was looked at, for a person. Secrets are masked. */
export interface FindingView {
  readonly check: string;
  readonly level: "ok" | "warn" | "fail";
  readonly found: string;
  /** What to do, as an order or a command. */
  readonly todo?: string;
}

export interface ExaminationView {
  readonly findings: readonly FindingView[];
  /** `score`: up to 100. */
  readonly security: { readonly score: number; readonly findings: readonly FindingView[] };
}

export interface BackupView {
  readonly name: string;
  readonly bytes: number;
  /** ISO 8601. */
  readonly createdAt: string;
}

export interface UncountedView {
  /** Undefined where nobody can tell whose log it is. */
  readonly sessionKey?: string | undefined;
  readonly file?: string | undefined;
  readonly reason: string;
}

/** The machine and the program, as their owner sees them. Nothing here gives a secret away. */
export interface SystemApi {
  /** Of the disk that the home is on. */
  disk(): Promise<{ readonly freeBytes: number; readonly totalBytes: number }>;
  /** All that `maxclaw doctor` looks at. Changes nothing; asks services elsewhere. */
  examine(signal: AbortSignal): Promise<ExaminationView>;
  /** Conversations whose messages are not all in the ledger, because their logs are damaged or gone. */
  uncounted(signal: AbortSignal): Promise<readonly UncountedView[]>;
  /** The last lines of the gateway's own log; with `follow` also those that are written from now on, until the signal aborts. */
  logs(
    query: { readonly lines: number; readonly level?: LogLevel | undefined; readonly follow: boolean },
    signal: AbortSignal,
  ): AsyncIterable<LogLine>;
  /** Those that were made here, the newest first. */
  backups(): Promise<readonly BackupView[]>;
  /** A new one, without keys and tokens. @throws {RequestError} 409 while another one is made */
  makeBackup(signal: AbortSignal): Promise<BackupView>;
  /** @throws {RequestError} 404 */
  openBackup(name: string): Promise<OpenedFile>;
  /** Asks the package registry. @throws {RequestError} 502 with why there is no answer */
  newestVersion(signal: AbortSignal): Promise<{ readonly newest: string; readonly isNewer: boolean }>;
}
