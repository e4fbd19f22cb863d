import { basename, join } from "node:path";
import type { StoredFiles } from "../engine/embedded/inspect/stored-files.js";
import { type EventTrace, traceStoredEvent } from "../engine/embedded/inspect/trace.js";
import {
  type VerifyOptions as AllOptions,
  type EventReport,
  verifyStoredEvents,
} from "../engine/embedded/inspect/verify.js";
import { systemKey } from "../events/session-key.js";
import {
  createSessionFiles,
  documentSuffix,
  gatewayLogName,
  keyInDocument,
  keyOfLogName,
  logSuffix,
} from "../sessions/file-names.js";
import { namesIn } from "./files.js";

export type { EventTrace, TracedPosition } from "../engine/embedded/inspect/trace.js";
export type { EventReport } from "../engine/embedded/inspect/verify.js";

/** The files of a gateway that does not run, or that holds them still. */
export interface GatewayFiles {
  readonly home: string;
  readonly workspace: string;
  /** What of the journal counts, while a gateway holds the files. */
  readonly segment?: { readonly path: string; readonly bytes: number } | undefined;
}

export type VerifyOptions = Pick<AllOptions, "signal" | "onProgress">;

/** Checks the events of all sessions, or of one. Changes nothing. */
export function verifyEvents(
  files: GatewayFiles,
  sessionKey: string | undefined,
  options: VerifyOptions,
): Promise<EventReport> {
  const logPathOf = logPaths(files);
  return verifyStoredEvents(storedFiles(files), { ...options, sessionKey, logPathOf, keyOfLog });
}

/** The key in the document beside a log, else the one that is in the log's name. */
function keyOfLog(file: string): string | undefined {
  return keyInDocument(file.replace(logSuffix, documentSuffix)) ?? keyOfLogName(basename(file));
}

/** Where an event is, what caused it and what it led to; undefined when it is not stored. Changes nothing. */
export function traceEvent(files: GatewayFiles, eventId: string, signal: AbortSignal): Promise<EventTrace | undefined> {
  return traceStoredEvent(storedFiles(files), eventId, { logPathOf: logPaths(files), signal });
}

/** All files that events are in. */
export function storedFiles({ home, workspace, segment }: GatewayFiles): StoredFiles {
  const dir = join(workspace, ".sessions");
  const logs = namesIn(dir)
    .filter((name) => name.endsWith(logSuffix))
    .sort()
    .map((name) => join(dir, name));
  return { home, logs: [join(home, gatewayLogName), ...logs], segment };
}

/** Where the log of each session belongs. */
export function logPaths({ home, workspace }: GatewayFiles): (sessionKey: string) => string {
  const files = createSessionFiles(join(workspace, ".sessions"));
  return (key) => (key === systemKey("local") ? join(home, gatewayLogName) : files.logPath(key));
}
