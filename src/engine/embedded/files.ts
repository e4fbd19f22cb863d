import * as fs from "node:fs";
import { open } from "node:fs/promises";

/** Writes all bytes to a file opened for appending. Throws with part of them written when the disk is full. */
export function writeFully(fd: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) done += fs.writeSync(fd, bytes, done, bytes.length - done);
}

/** Makes creations, renames and removals in a folder survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** The `code` of a system error, e.g. `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}

/** What a reader of the file gets back: plain JSON that shares nothing with the value. */
export function cloneJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}
