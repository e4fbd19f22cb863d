import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { dirname } from "node:path";
import { EngineError } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import { codeOf } from "../../../util/error-code.js";
import { makeFolderSync } from "../../../util/files/make-folder.js";
import { toStartFailure } from "../start-failure.js";
import { HeldLock } from "./held-lock.js";
import { defaultLeaseMs, type Holding, holdingOf, watchLease } from "./holding.js";
import { flock, isShared } from "./kernel-lock.js";
import { type FoundLock, hashOfPath, type LockContent, readLockFile, writeOpenLock } from "./lock-file.js";
import { isSameHost, ownHost } from "./process-host.js";
import { processStart } from "./process-start.js";

/** A held lock. */
export type Lock = Pick<HeldLock, "setAddress" | "assertHeld" | "release" | "isFromLease">;

/** Who holds a lock. */
export interface LockHolder {
  readonly pid: number;
  /** Where its API is, once it listens. */
  readonly address?: string;
  /** What the API there calls itself. */
  readonly instanceId?: string;
  /** Unix ms. */
  readonly startedAt: number;
  /** The name of the container or machine that it runs in, where that is another one: its pid means nothing here. */
  readonly elsewhere?: string;
}

export interface LockOptions {
  /** Where only a lease can hold it: it is over when its holder has not renewed it for so long. Default 15 s. */
  readonly leaseMs?: number;
}

const tries = 20;

/** A lock of our own that nobody sees yet. */
interface Draft {
  readonly path: string;
  readonly fd: number;
  readonly content: LockContent;
}

/**
 * Takes the lock file for this process, from a process that is dead if need be. Of several that try at the same time
 * exactly one gets it.
 *
 * The kernel holds it (flock), so that it also holds between containers; where that does not do, on file systems that
 * several machines share or without a `flock` program, it is a lease.
 *
 * @throws {EngineError} `locked`, naming the holder's pid and address; `persistence` when it cannot be written
 */
export async function acquireLock(path: string, log: Logger, options: LockOptions = {}): Promise<Lock> {
  try {
    makeFolderSync(dirname(path));
    const draft = await createDraft(path, options);
    try {
      return await acquire(path, draft, log);
    } catch (error) {
      fs.closeSync(draft.fd);
      throw error;
    } finally {
      fs.rmSync(draft.path, { force: true });
    }
  } catch (error) {
    throw toStartFailure(path, error);
  }
}

/** So often and so long the other locks are waited for by the process that holds the first. */
const followers = { tries: 5, pauseMs: 200 };

/**
 * Takes all of these locks, or none of them. They are taken together, as each may have to wait for a lease to end. Of two
 * processes that want the same ones at the same time the one that does not get the first gives up, and the other waits for that.
 *
 * @throws {EngineError} as {@link acquireLock}
 */
export async function acquireLocks(paths: readonly string[], log: Logger): Promise<readonly Lock[]> {
  const outcomes = await Promise.allSettled(paths.map((path) => acquireLock(path, log)));
  const locks = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  try {
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === "fulfilled") continue;
      const path = paths[index];
      if (index === 0 || path === undefined) throw outcome.reason;
      locks.push(await acquireSoon(path, log));
    }
    return locks;
  } catch (error) {
    for (const lock of locks) lock.release();
    throw error;
  }
}

async function acquireSoon(path: string, log: Logger): Promise<Lock> {
  for (let left = followers.tries; ; left -= 1) {
    await new Promise((resolve) => setTimeout(resolve, followers.pauseMs));
    try {
      return await acquireLock(path, log);
    } catch (error) {
      if (left === 1 || !(error instanceof EngineError) || error.kind !== "locked") throw error;
    }
  }
}

/** Who holds the lock; undefined when nobody who is alive does. Who cannot be asked counts as alive. */
export async function readLock(path: string): Promise<LockHolder | undefined> {
  const found = readLockFile(path);
  if (found?.content === undefined || (await holdingOf(path, found)) === "gone") return undefined;
  const { pid, startedAt, address, instanceId, place: runsOn } = found.content;
  const isHere = runsOn === undefined || isSameHost(runsOn, ownHost());
  return {
    pid,
    startedAt,
    ...(address === undefined ? {} : { address }),
    ...(instanceId === undefined ? {} : { instanceId }),
    ...(isHere ? {} : { elsewhere: runsOn.host }),
  };
}

async function createDraft(path: string, { leaseMs = defaultLeaseMs }: LockOptions): Promise<Draft> {
  const id = randomBytes(8).toString("hex");
  const draft = `${path}.${id}`;
  const fd = fs.openSync(draft, "wx+", 0o600);
  try {
    // Locked before anybody can see it: under its real name it is never there without its lock.
    const isKernels = (await flock(fd, "exclusive")) === "free" && !isShared(draft);
    const content: LockContent = {
      id,
      pid: process.pid,
      processStart: processStart(process.pid) ?? "unknown",
      startedAt: Date.now(),
      place: ownHost(),
      inode: fs.fstatSync(fd).ino,
      pathHash: hashOfPath(path),
      ...(isKernels ? { hold: "kernel" } : { hold: "lease", leaseMs, beat: 0 }),
    };
    writeOpenLock(fd, content);
    return { path: draft, fd, content };
  } catch (error) {
    fs.closeSync(fd);
    fs.rmSync(draft, { force: true });
    throw error;
  }
}

async function acquire(path: string, draft: Draft, log: Logger): Promise<Lock> {
  const held = (before?: LockContent): Lock =>
    new HeldLock(path, draft, { log, isFromLease: before?.hold === "lease" });
  for (let left = tries; left > 0; left -= 1) {
    if (linkAs(path, draft)) return held();
    const found = readLockFile(path);
    if (found === undefined) continue;
    const holding = await decide(path, found, log);
    if (holding === "changed") continue;
    if (holding !== "gone") throw locked(path, found.content, holding);
    if (await replace(path, found, draft, log)) {
      log.warn("took over the lock of a process that is gone", { file: path, pid: found.content?.pid ?? "unknown" });
      return held(found.content);
    }
    // Somebody else is taking over: see who it is.
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new EngineError(`${path} is being taken by another process. Try again.`, { kind: "locked", retryable: true });
}

async function decide(path: string, found: FoundLock, log: Logger): Promise<Exclude<Holding, "beats"> | "changed"> {
  const holding = await holdingOf(path, found);
  if (holding !== "beats") return holding;
  if (found.content === undefined) return "gone";
  const { place: runsOn, leaseMs = defaultLeaseMs } = found.content;
  log.warn(`waits up to ${leaseMs / 1000} s to see whether the maxclaw that had this folder still runs`, {
    file: path,
    host: runsOn?.host,
  });
  return await watchLease(path, found.content);
}

/** Gives our draft another name; false when there is such a file already. */
function linkAs(path: string, draft: Draft): boolean {
  try {
    fs.linkSync(draft.path, path);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/**
 * Puts our lock in place of a dead one. Only one process may do so: the one that has created a claim file which
 * names the dead holder, and then still finds that holder's lock. A claim whose owner died is itself claimed.
 */
async function replace(path: string, dead: FoundLock, draft: Draft, log: Logger): Promise<boolean> {
  const claims: string[] = [];
  for (let target = dead; ; ) {
    const claim = `${path}.after-${target.id}`;
    if (linkAs(claim, draft)) {
      claims.push(claim);
      break;
    }
    const other = readLockFile(claim);
    if (other === undefined || claims.includes(claim) || (await decide(claim, other, log)) !== "gone") return false;
    claims.push(claim);
    target = other;
  }
  const isStillDead = readLockFile(path)?.id === dead.id;
  if (isStillDead) fs.renameSync(draft.path, path);
  const own = claims.at(-1);
  for (const claim of isStillDead ? claims : [own]) if (claim !== undefined) fs.rmSync(claim, { force: true });
  return isStillDead;
}

function locked(path: string, holder: LockContent | undefined, holding: Holding): EngineError {
  const { pid, address, place: runsOn } = holder ?? {};
  const at = address === undefined || address === "" ? "" : ` at ${address}`;
  const isHere = runsOn === undefined || isSameHost(runsOn, ownHost());
  const who = isHere ? `pid ${pid ?? "unknown"}${at}` : `in another container or machine, ${runsOn.host}${at}`;
  const home = dirname(path);
  const text =
    holding === "unknowable"
      ? `${home} was last used by another maxclaw (${who}), and nobody can tell from here whether it still runs. If it does, stop it there. If you are sure that it does not, delete ${path}. Where the program "flock" (util-linux) is installed, this is found out by itself.`
      : `${home} is in use by another maxclaw (${who}). Stop it${isHere ? "" : " there"} first, or use another folder.`;
  return new EngineError(text, { kind: "locked", retryable: false });
}
