import { type FileHandle, readFile } from "node:fs/promises";
import { sleep } from "../util/async/sleep.js";
import { withPath } from "../util/error-code.js";
import { openIfThere } from "../util/files/real-path.js";

export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

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

export interface ReadOptions {
  /** How many of the last lines to begin with. */
  readonly lines: number;
  /** Leaves out lines of a lower level; those without one stay. Default: none is left out. */
  readonly level?: LogLevel | undefined;
  /** Goes on with what is written, also after the file was rotated, until the signal aborts. */
  readonly follow: boolean;
}

const lookMs = 250;
const chunkBytes = 64 * 1024;

/** Lines of the log at `path`, and of the two files before it, in order. */
export async function* readLog(path: string, options: ReadOptions, signal: AbortSignal): AsyncIterable<LogLine> {
  const keeps = (line: LogLine): boolean => isShown(line, options.level);
  let handle = await openIfThere(path);
  try {
    const before = await lastLines(path, handle, options.lines, keeps);
    yield* before.lines;
    let at = before.end;
    let rest: Buffer = before.rest;
    while (options.follow) {
      // Looked at first: what is written before a rotation is still in this file.
      const isRotated = handle !== undefined && (await isAnother(handle, path));
      for (;;) {
        const piece: Buffer = handle === undefined ? Buffer.alloc(0) : await readAt(handle, at);
        if (piece.length === 0) break;
        at += piece.length;
        const found = linesIn(Buffer.concat([rest, piece]));
        rest = found.rest;
        yield* found.lines.map(toLine).filter(keeps);
      }
      if (handle === undefined || isRotated) {
        await handle?.close();
        handle = await openIfThere(path);
        [at, rest] = [0, Buffer.alloc(0)];
        if (handle !== undefined) continue;
      }
      if ((await handle?.stat())?.size === 0) at = 0;
      await sleep(lookMs, signal);
    }
  } finally {
    await handle?.close();
  }
}

/** Read from the newest file backwards, as far as needed. `end` and `rest` say where to go on. */
async function lastLines(
  path: string,
  handle: FileHandle | undefined,
  count: number,
  keeps: (line: LogLine) => boolean,
): Promise<{ readonly lines: readonly LogLine[]; readonly end: number; readonly rest: Buffer }> {
  const present = handle === undefined ? Buffer.alloc(0) : await withPath(path, () => handle.readFile());
  const { lines: texts, rest } = linesIn(present);
  let lines = count === 0 ? [] : texts.map(toLine).filter(keeps).slice(-count);
  for (const older of [`${path}.1`, `${path}.2`]) {
    if (lines.length >= count) break;
    const content = await readFile(older).catch(() => Buffer.alloc(0));
    const more = linesIn(content).lines.map(toLine).filter(keeps);
    lines = [...more.slice(-(count - lines.length)), ...lines];
  }
  return { lines, end: present.length, rest };
}

function linesIn(bytes: Buffer): { readonly lines: readonly string[]; readonly rest: Buffer } {
  const end = bytes.lastIndexOf(10) + 1;
  const text = bytes.toString("utf8", 0, end);
  return { lines: text.split("\n").filter((line) => line !== ""), rest: bytes.subarray(end) };
}

function toLine(text: string): LogLine {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return { text, fields: {} };
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return { text, fields: {} };
  const { level, time, message, ...fields } = { level: "", time: "", message: "", ...parsed };
  const known = logLevels.find((one) => one === level);
  return {
    text,
    ...(known === undefined ? {} : { level: known }),
    ...(typeof time === "string" && time !== "" ? { time } : {}),
    ...(typeof message === "string" ? { message } : {}),
    fields,
  };
}

function isShown({ level }: LogLine, least: LogLevel | undefined): boolean {
  return level === undefined || least === undefined || logLevels.indexOf(level) >= logLevels.indexOf(least);
}

async function readAt(handle: FileHandle, at: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(chunkBytes), 0, chunkBytes, at);
  return buffer.subarray(0, bytesRead);
}

async function isAnother(handle: FileHandle, path: string): Promise<boolean> {
  const now = await openIfThere(path);
  if (now === undefined) return false;
  try {
    return (await now.stat()).ino !== (await handle.stat()).ino;
  } finally {
    await now.close();
  }
}
