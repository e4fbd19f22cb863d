import * as fs from "node:fs";
import { codeOf } from "../../../util/error-code.js";
import { flock, isShared, type KernelAnswer } from "./kernel-lock.js";
import { type FoundLock, hashOfPath, type LockContent, readLockFile } from "./lock-file.js";
import { isRunning, isSameHost, ownHost } from "./process-host.js";

/**
 * Whether the process that is named in a lock file still holds it. `beats`: only watching its beat tells. `unknowable`:
 * it runs under another kernel, or there is nothing here to ask the kernel with.
 */
export type Holding = "held" | "gone" | "beats" | "unknowable";

/** How often a lease is looked at while it is being watched. */
const looks = 20;

export const defaultLeaseMs = 15_000;

export async function holdingOf(path: string, { content }: FoundLock): Promise<Holding> {
  if (content === undefined) return (await askKernel(path)) === "busy" ? "held" : "gone";
  const { place: runsOn, pid, processStart: start } = content;
  // Of an earlier version, whose locks hold among processes that see each other.
  if (runsOn === undefined) return isRunning({ pid, start }) ? "held" : "gone";
  const own = ownHost();
  if (isSameHost(own, runsOn)) return isRunning({ pid, start }) && !(await isCopy(path, content)) ? "held" : "gone";
  const answer = await askKernel(path);
  if (answer === "busy") return "held";
  if (content.hold === "lease") return "beats";
  if (isShared(path)) return "unknowable";
  // On a disk of this machine, a holder from another run of the kernel is one from before the last start of the machine.
  const isFromBefore = own.boot !== undefined && runsOn.boot !== undefined && own.boot !== runsOn.boot;
  return answer === "free" || isFromBefore ? "gone" : "unknowable";
}

/** Whether this is a copy of the file that the process holds. Where inodes change by themselves, the kernel or the path knows better. */
async function isCopy(path: string, { inode, pathHash, hold }: LockContent): Promise<boolean> {
  if (inode === undefined || fs.statSync(path, { throwIfNoEntry: false })?.ino === inode) return false;
  return hold === "kernel" ? (await askKernel(path)) === "free" : hashOfPath(path) !== pathHash;
}

/**
 * Watches a lease until it beats, or has not for its whole length, by this process's own clock. A time in which this
 * process did not run itself counts as one look. `changed`: somebody else has it now, or nobody.
 */
export async function watchLease(
  path: string,
  { id, beat, leaseMs = defaultLeaseMs }: LockContent,
): Promise<"held" | "gone" | "changed"> {
  for (let left = looks; left > 0; left -= 1) {
    await new Promise((resolve) => setTimeout(resolve, leaseMs / looks));
    const found = readLockFile(path);
    if (found?.id !== id) return "changed";
    if (found.content?.beat !== beat) return "held";
  }
  return "gone";
}

async function askKernel(path: string): Promise<KernelAnswer> {
  let fd: number;
  try {
    fd = fs.openSync(path, "r");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return "free";
    throw error;
  }
  try {
    return await flock(fd, "shared");
  } finally {
    fs.closeSync(fd);
  }
}
