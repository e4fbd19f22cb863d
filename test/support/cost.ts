import assert from "node:assert/strict";

/** What the yardstick takes on a machine of the usual speed. */
const yardstickMs = 2;

/** CPU milliseconds, of the best of some runs: other work on the machine does not count. */
export function cpuMs(run: () => unknown, times = 1): number {
  let best = Number.POSITIVE_INFINITY;
  for (let n = 0; n < times; n++) {
    const from = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(from);
    best = Math.min(best, (user + system) / 1000);
  }
  return best;
}

/** How many times as long as a machine of the usual speed this one takes now; one that is faster counts as usual. */
export function slowness(): number {
  return Math.max(1, cpuMs(yardstick, 5) / yardstickMs);
}

/** Some of everything that parsers do, and plainly linear. */
function yardstick(): number {
  const words = "A plain line of words, which is split and joined again.\n".repeat(600).split(/\s/);
  const seen = new Map<string, number>();
  for (const [at, word] of words.entries()) seen.set(`${word}${at % 1000}`, at);
  return [...seen.keys()].join(" ").replace(/[a-z]+(?=\d)/g, "").length;
}

/**
 * Fails when `run` needs more CPU time than so many milliseconds on a machine of the usual speed. One that is slow, or does
 * other work too, gets as much more as it needs for everything, and some tries.
 */
export function assertSoon(run: () => unknown, usualMs: number, about = "it"): void {
  let ms = cpuMs(run);
  let limit = usualMs;
  for (let tries = 0; ms >= limit && tries < 3; tries += 1) {
    limit = usualMs * slowness();
    ms = Math.min(ms, cpuMs(run));
  }
  assert.ok(ms < limit, `${about} took ${Math.round(ms)} ms of CPU time, and may take ${Math.round(limit)}`);
}

/** Between what is linear, which takes 4 times as long for 4 times as much, and what is quadratic: 16 times. */
const mostGrowth = 9;
/** So much is no matter of the machine. */
const plainGrowth = 100;
/** Nothing that takes so long is run with four times as much. */
const longMs = 1000;

/**
 * Whether the time grows faster than what is read, around that length and, where it seems so, beyond: a machine that is slow, or
 * has just found something to do, is not taken for it. `prepare` gives the work for a length.
 */
export function isSteep(prepare: (length: number) => () => unknown, length: number): boolean {
  const middle = prepare(length);
  const grown = growth(prepare(length / 4), middle);
  if (grown < mostGrowth) return false;
  return grown > plainGrowth || cpuMs(middle) > longMs || growth(middle, prepare(length * 4)) >= mostGrowth;
}

/** The small one is run as often as it takes to be measured. The least of some tries counts: other work can only add to it. */
function growth(small: () => unknown, large: () => unknown): number {
  const times = Math.ceil(Math.min(200, Math.max(1, 4 / Math.max(0.02, cpuMs(small, 3)))));
  const often = (): void => {
    for (let n = 0; n < times; n += 1) small();
  };
  const smallMs = Math.max(0.001, cpuMs(often, 3) / times);
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 4 && least >= mostGrowth; tries += 1) least = Math.min(least, cpuMs(large) / smallMs);
  return least;
}

const stepMs = 10;

/**
 * The result of work in this process. Fails when it takes longer than `limitMs` on a machine that lets it run: what is counted are steps
 * of the event loop, of which a standstill is one, however long it takes.
 */
export async function settlesWithin<T>(work: Promise<T>, limitMs: number): Promise<T> {
  let isOver = false;
  const watch = async (): Promise<never> => {
    for (let left = limitMs / stepMs; left > 0; left -= 1) {
      await new Promise((resolve) => setTimeout(resolve, stepMs));
      if (isOver) break;
    }
    throw new Error(`It was not over within ${limitMs} ms in which it could run.`);
  };
  try {
    return await Promise.race([work, watch()]);
  } finally {
    isOver = true;
  }
}
