import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import { EngineError } from "../../errors.js";
import type { Logger } from "../../log.js";
import { codeOf } from "./files.js";
import { processStart } from "./process-start.js";
import { toStartFailure } from "./start-failure.js";

/** A held lock. */
export interface Lock {
  /** Tells others where the holder's API is. @throws {EngineError} `persistence` */
  setAddress(address: string): void;
  /** Lets go. Does nothing when called again. */
  release(): void;
}

/** Who holds a lock. */
export interface LockHolder {
  readonly pid: number;
  /** Where its API is, once it listens. */
  readonly address?: string;
  /** Unix ms. */
  readonly startedAt: number;
}

const content = z.object({
  id: z.string(),
  pid: z.number(),
  processStart: z.string(),
  startedAt: z.number(),
  address: z.string().optional(),
});
type Content = z.infer<typeof content>;

const tries = 20;

/**
 * Takes the lock file for this process, from a process that is dead if need be. Of several that try at the same time
 * exactly one gets it.
 *
 * @throws {EngineError} `locked`, naming the holder's pid and address; `persistence` when it cannot be written
 */
export async function acquireLock(path: string, log: Logger): Promise<Lock> {
  try {
    return await acquire(path, log);
  } catch (error) {
    throw toStartFailure(path, error);
  }
}

async function acquire(path: string, log: Logger): Promise<Lock> {
  fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const mine: Content = {
    id: randomBytes(8).toString("hex"),
    pid: process.pid,
    processStart: processStart(process.pid) ?? "unknown",
    startedAt: Date.now(),
  };
  for (let left = tries; left > 0; left -= 1) {
    if (createAs(path, mine)) return held(path, mine);
    const found = read(path);
    if (found === undefined) continue;
    if (found.content !== undefined && isHeld(found.content)) throw locked(path, found.content);
    if (replace(path, found, mine)) {
      log.warn("took over the lock of a process that is gone", { file: path, pid: found.content?.pid ?? "unknown" });
      return held(path, mine);
    }
    // Somebody else is taking over: see who it is.
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new EngineError(`${path} is being taken by another process. Try again.`, { kind: "locked", retryable: true });
}

/** Who holds the lock; undefined when nobody who is alive does. */
export function readLock(path: string): LockHolder | undefined {
  const found = read(path)?.content;
  if (found === undefined || !isHeld(found)) return undefined;
  const { pid, startedAt, address } = found;
  return { pid, startedAt, ...(address === undefined ? {} : { address }) };
}

function held(path: string, mine: Content): Lock {
  let isReleased = false;
  return {
    setAddress(address) {
      if (isReleased) return;
      try {
        writeOver(path, { ...mine, address });
      } catch (error) {
        throw toStartFailure(path, error);
      }
    },
    release() {
      if (isReleased) return;
      isReleased = true;
      if (read(path)?.content?.id === mine.id) fs.rmSync(path, { force: true });
    },
  };
}

interface Found {
  readonly content: Content | undefined;
  /** Names this very holder, or these very bytes where they are no lock. */
  readonly id: string;
}

function read(path: string): Found | undefined {
  let text: string;
  try {
    text = fs.readFileSync(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
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

function isHeld(holder: Content | undefined): boolean {
  return holder !== undefined && processStart(holder.pid) === holder.processStart;
}

/** Creates the file with its content in one step; false when it is there already. */
function createAs(path: string, mine: Content): boolean {
  const draft = `${path}.${mine.id}`;
  try {
    fs.writeFileSync(draft, JSON.stringify(mine), { mode: 0o600 });
    fs.linkSync(draft, path);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    fs.rmSync(draft, { force: true });
  }
}

function writeOver(path: string, mine: Content): void {
  const draft = `${path}.${mine.id}`;
  try {
    fs.writeFileSync(draft, JSON.stringify(mine), { mode: 0o600 });
    fs.renameSync(draft, path);
  } catch (error) {
    fs.rmSync(draft, { force: true });
    throw error;
  }
}

/**
 * Puts our lock in the place of a dead one. Only one process may do so: the one that has created a claim file which
 * names the dead holder, and then still finds that holder's lock. A claim whose owner died is itself claimed.
 */
function replace(path: string, dead: Found, mine: Content): boolean {
  const claims: string[] = [];
  for (let target = dead; ; ) {
    const claim = `${path}.after-${target.id}`;
    if (createAs(claim, mine)) {
      claims.push(claim);
      break;
    }
    const other = read(claim);
    if (other === undefined || isHeld(other.content) || claims.includes(claim)) return false;
    claims.push(claim);
    target = other;
  }
  const isStillDead = read(path)?.id === dead.id;
  if (isStillDead) writeOver(path, mine);
  const own = claims.at(-1);
  for (const claim of isStillDead ? claims : [own]) if (claim !== undefined) fs.rmSync(claim, { force: true });
  return isStillDead;
}

function locked(path: string, holder: Content): EngineError {
  const at = holder.address === undefined ? "" : ` at ${holder.address}`;
  return new EngineError(
    `${dirname(path)} is in use by another maxclaw (pid ${holder.pid}${at}). Stop it first, or use another folder.`,
    { kind: "locked", retryable: false },
  );
}
