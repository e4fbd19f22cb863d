import * as fs from "node:fs";
import { join } from "node:path";
import { EngineError } from "../../errors.js";
import { isMissing } from "../../util/error-code.js";
import { readPlain } from "../../util/files/real-path.js";

/**
 * The newest format of a home that this program reads, and the one it writes. It goes up when an older program would take files for
 * damaged, or read them wrongly, that have no number of their own.
 */
export const homeFormat = 2;

/** What a home begins with: every program reads it. */
const firstFormat = 1;
/** Numbers of events are missing in its session logs, and that is not damage. */
export const thinnedFormat = 2;

export const homeFormatName = "format.json";

/** @throws {EngineError} `corrupt` for a home that a newer program has written */
export function assertHomeFormat(home: string): void {
  readFormat(home);
}

/** The same; and writes down the format of a home that has none, as homes of 0.1 have none. Only this process works in it. */
export function claimHomeFormat(home: string): void {
  if (readFormat(home) !== undefined) return;
  // Of one that is cut off nobody knows what it said.
  writeFormat(home, fs.existsSync(join(home, homeFormatName)) ? homeFormat : firstFormat);
}

/** Has programs that read only older formats refuse the home by name. On the disk when it returns. */
export function raiseHomeFormat(home: string, format: number): void {
  if ((readFormat(home) ?? 0) < format) writeFormat(home, format);
}

function writeFormat(home: string, format: number): void {
  const path = join(home, homeFormatName);
  const unfinished = `${path}.${process.pid}.tmp`;
  const fd = fs.openSync(unfinished, "w", 0o600);
  try {
    fs.writeFileSync(fd, `${JSON.stringify({ format: "maxclaw-home", v: format })}\n`);
    fs.fsyncSync(fd);
  } catch (error) {
    fs.rmSync(unfinished, { force: true });
    throw error;
  } finally {
    fs.closeSync(fd);
  }
  fs.renameSync(unfinished, path);
  const folder = fs.openSync(home, "r");
  try {
    fs.fsyncSync(folder);
  } finally {
    fs.closeSync(folder);
  }
}

/** Undefined where there is none, or nothing that can be read: it is written again. */
function readFormat(home: string): number | undefined {
  const path = join(home, homeFormatName);
  const number = numberIn(path);
  if (number === undefined || number <= homeFormat) return number;
  throw new EngineError(
    `${path} says that this home has format ${number}; this maxclaw reads formats up to ${homeFormat}. It was written by a newer version: update maxclaw, or restore the backup from before the update.`,
    { kind: "corrupt" },
  );
}

function numberIn(path: string): number | undefined {
  let text: string;
  try {
    text = readPlain(path).toString("utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  try {
    const value: unknown = JSON.parse(text);
    const isOurs = typeof value === "object" && value !== null && "v" in value;
    return isOurs && typeof value.v === "number" ? value.v : undefined;
  } catch {
    // Cut by a crash.
    return undefined;
  }
}
