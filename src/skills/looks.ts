import { type Stats, statSync } from "node:fs";

/** Some file systems tell times in steps of two seconds: what changed within one of them has the time that it had before. */
const stepMs = 2000;

interface Looked {
  readonly path: string;
  /** Undefined: nothing was there. */
  readonly stats: Stats | undefined;
}

/**
 * Remembers how files and folders looked, and sees whether they still do: a folder that looks as before has the same names in it.
 * Asked with calls that block, which take a tenth of what waiting for another thread does.
 */
export class Looks {
  readonly #looked: Looked[] = [];
  #isSure = true;
  /** Unix ms. */
  readonly #begunAt = Date.now();

  /** Looks now. */
  at(path: string): void {
    this.saw(path, now(path));
  }

  saw(path: string, stats: Stats | undefined): void {
    this.#looked.push({ path, stats });
    const changedAt = stats === undefined ? 0 : Math.max(stats.mtimeMs, stats.ctimeMs);
    if (changedAt > this.#begunAt - stepMs) this.doubt();
  }

  /** Something may change without a sign of it. */
  doubt(): void {
    this.#isSure = false;
  }

  /** True where everything is certain to be as it was. */
  isUnchanged(): boolean {
    return this.#isSure && this.#looked.every(({ path, stats }) => isSame(stats, now(path)));
  }
}

function now(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function isSame(before: Stats | undefined, after: Stats | undefined): boolean {
  if (before === undefined || after === undefined) return before === after;
  return (
    before.mtimeMs === after.mtimeMs &&
    before.ctimeMs === after.ctimeMs &&
    before.size === after.size &&
    before.ino === after.ino &&
    before.dev === after.dev &&
    before.mode === after.mode
  );
}
