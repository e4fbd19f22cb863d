import { join } from "node:path";
import { type LockHolder, readLock } from "../engine/embedded/locking/lock.js";
import { sleep } from "../util/async/sleep.js";

/** A gateway process that holds a home. */
export interface RunningGateway {
  readonly pid: number;
  /** Where its HTTP server answers from this machine, e.g. `127.0.0.1:18890`. */
  readonly address: string;
  /** The container or machine that it runs in, where that is another one: its address may mean somebody else here. */
  readonly elsewhere?: string | undefined;
  /** What the right one calls itself. */
  readonly instanceId?: string | undefined;
}

const startMs = 3000;
const longestCommandMs = 10_000;

/**
 * The gateway that holds this home, by its lock file. One that has only just started gets three seconds to say its
 * address; one that has none, because it runs without HTTP, is not found.
 */
export async function findRunningGateway(home: string, signal: AbortSignal): Promise<RunningGateway | undefined> {
  for (const giveUpAt = Date.now() + startMs; ; ) {
    const lock = await readLock(join(home, "gateway.lock"));
    if (lock === undefined) return undefined;
    if (lock.address !== undefined && lock.address !== "") {
      const { pid, address, elsewhere, instanceId } = lock;
      return { pid, address: fromHere(address), elsewhere, instanceId };
    }
    if (lock.address === "" || Date.now() > giveUpAt) return undefined;
    await sleep(50, signal);
  }
}

/**
 * Waits while a process that cannot be talked to holds this home, as another command does for a moment: no longer than ten
 * seconds. `onWait`: it takes longer than a second. Returns who holds it then.
 */
export async function whenFree(home: string, onWait: (holder: LockHolder) => void): Promise<LockHolder | undefined> {
  const { signal } = new AbortController();
  const began = performance.now();
  let isTold = false;
  for (;;) {
    const holder = await holderOf(home);
    const waitedMs = performance.now() - began;
    const isClosed = holder !== undefined && holder.elsewhere === undefined && !hasAddress(holder);
    if (!isClosed || waitedMs > longestCommandMs) return holder;
    if (!isTold && waitedMs > 1000) {
      isTold = true;
      onWait(holder);
    }
    await sleep(50, signal);
  }
}

export function hasAddress({ address }: LockHolder): boolean {
  return address !== undefined && address !== "";
}

/** The process that holds this home, also one that cannot be talked to. */
export async function holderOf(home: string): Promise<LockHolder | undefined> {
  return await readLock(join(home, "gateway.lock"));
}

/** An address that means "every interface" is none to connect to. */
function fromHere(address: string): string {
  return address.replace(/^0\.0\.0\.0:/, "127.0.0.1:").replace(/^\[::\]:/, "[::1]:");
}
