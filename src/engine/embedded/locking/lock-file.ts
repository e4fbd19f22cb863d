import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { codeOf } from "../../../util/error-code.js";
import { readPlain } from "../../../util/files/real-path.js";

const processHost = z.object({ host: z.string(), boot: z.string().optional(), pids: z.string().optional() });

const content = z.object({
  id: z.string(),
  pid: z.number(),
  processStart: z.string(),
  startedAt: z.number(),
  address: z.string().optional(),
  /** What the API at that address calls itself. */
  instanceId: z.string().optional(),
  /** Missing in locks of earlier versions, which knew nothing beyond process ids. */
  place: processHost.optional(),
  /** Which file it is: a copy of it, as in a home that was copied under a gateway, is held by nobody. Missing in earlier versions. */
  inode: z.number().optional(),
  pathHash: z.string().optional(),
  /** `kernel`: by flock, as long as the file is open. `lease`: as long as `beat` goes on. */
  hold: z.enum(["kernel", "lease"]).optional(),
  /** A lease without a new beat for so long is over. */
  leaseMs: z.number().optional(),
  beat: z.number().optional(),
});

/** What is in a lock file. */
export type LockContent = z.infer<typeof content>;

export interface FoundLock {
  readonly content: LockContent | undefined;
  /** Names this very holder, or these very bytes where they are not a lock. */
  readonly id: string;
}

/** All contents have this length, so that one write puts one in place of another. */
const contentBytes = 1024;

/** Undefined when there is no such file. */
export function readLockFile(path: string): FoundLock | undefined {
  try {
    return parseLock(readPlain(path).toString("utf8"));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** What names the file at this path, however one comes to it. */
export function hashOfPath(path: string): string {
  const real = join(fs.realpathSync(dirname(path)), basename(path));
  return createHash("sha256").update(real).digest("hex").slice(0, 16);
}

export function writeOpenLock(fd: number, lock: LockContent): void {
  const bytes = Buffer.from(`${JSON.stringify(lock).padEnd(contentBytes - 1)}\n`);
  const written = fs.writeSync(fd, bytes, 0, bytes.length, 0);
  if (written < bytes.length) throw new Error(`${written} of ${bytes.length} bytes were written`);
}

function parseLock(text: string): FoundLock {
  const parsed = content.safeParse(parseJson(text));
  return parsed.success ? { content: parsed.data, id: parsed.data.id } : { content: undefined, id: "unreadable" };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
