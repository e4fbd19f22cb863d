import { quietMsOf } from "./suspects.js";
import type { Suspicion } from "./suspicion.js";
import type { WorkItem } from "./work-table.js";

interface Waiting {
  readonly item: WorkItem;
  readonly suspicion: Suspicion;
  readonly begin: (isQuiet: boolean) => void;
}

/**
 * Lets suspects into work: together only as many as the most suspected of them allows, the least suspected first, and
 * the most suspected after a time without any. Who is not suspected never comes by here.
 */
export class SuspectGate {
  readonly #inside = new Set<WorkItem>();
  /** The least suspected first. */
  readonly #waiting: Waiting[] = [];
  #quietSince = performance.now();
  #timer: NodeJS.Timeout | undefined;

  /** Calls `begin` as soon as it may, at once or later; `leave` is to be called after it. */
  enter(item: WorkItem, suspicion: Suspicion, begin: (isQuiet: boolean) => void): void {
    const entry: Waiting = { item, suspicion, begin };
    const before = this.#waiting.findIndex((other) => isLessSuspected(suspicion, other.suspicion));
    this.#waiting.splice(before === -1 ? this.#waiting.length : before, 0, entry);
    this.#admit();
  }

  /** It has ended, paused, lasted for long, or has gone away before it could begin. */
  leave(item: WorkItem): void {
    const waits = this.#waiting.findIndex((entry) => entry.item === item);
    if (waits !== -1) this.#waiting.splice(waits, 1);
    if (this.#inside.delete(item) && this.#inside.size === 0) this.#quietSince = performance.now();
    this.#admit();
  }

  /** True while it has not been let in. */
  isWaiting(item: WorkItem): boolean {
    return this.#waiting.some((entry) => entry.item === item);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#waiting.length = 0;
  }

  #admit(): void {
    clearTimeout(this.#timer);
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      const { item, suspicion, begin } = first;
      if (!this.#hasRoom(suspicion)) return;
      const quietMs = quietMsOf(suspicion);
      const leftMs = this.#quietSince + quietMs - performance.now();
      if (quietMs > 0 && leftMs > 0) {
        this.#timer = setTimeout(() => this.#admit(), Math.ceil(leftMs)).unref();
        return;
      }
      this.#waiting.shift();
      this.#inside.add(item);
      begin(quietMs > 0);
    }
  }

  #hasRoom({ limit }: Suspicion): boolean {
    const limits = [...this.#inside].map(({ suspicion }) => suspicion?.limit ?? limit);
    return this.#inside.size < Math.min(limit, ...limits);
  }
}

function isLessSuspected(one: Suspicion, other: Suspicion): boolean {
  if (one.limit !== other.limit) return one.limit > other.limit;
  return one.alone + one.points < other.alone + other.points;
}
