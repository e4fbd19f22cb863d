import { chmod, lstat, readdir, readlink, utimes } from "node:fs/promises";
import path from "node:path";
import { keptNames } from "../policy/locations/zones.js";
import { isGone } from "../util/error-code.js";
import { shownName } from "../util/files/file-name.js";
import { newId } from "../util/ids.js";
import { namesOf } from "../util/text/untrusted.js";
import { LabelLog, type LabelRecord } from "./label-log.js";

/** Kernels take the time of files from a clock that moves in steps. */
const slackMs = 20;
/** More are joined, the nearest first. */
const maxSpans = 200;
const maxEntries = 20_000;
const maxSources = 5;

/** A time in which something was written that others had a say in. */
interface Span {
  readonly id: string;
  readonly from: number;
  /** Infinite as long as it goes on. */
  to: number;
  /** Only what lies there; undefined for the whole folder. */
  readonly path?: string | undefined;
}

/** Something that is being written. */
export interface Writing {
  /** Makes sure that what is at this path now is covered, whatever the clock of its disk says. */
  include(target: string): Promise<void>;
  /** Safe to repeat. */
  end(): Promise<void>;
}

/** A command that runs. */
export interface RunMark {
  /** What others had a say in it by, up to now; undefined when nobody had. */
  outside(): string | undefined;
  /** Others have a say in it from now on, durably so once it resolves. */
  add(sources: readonly string[]): Promise<void>;
  /** To be called when nothing of it runs any more. */
  end(): Promise<void>;
}

export interface FolderLabelsOptions {
  /** Where the labels are kept; made when there is something to keep. */
  readonly file: string;
  /** What commands see and write: all that is written there meanwhile is labelled, elsewhere single paths are. */
  readonly root?: string | undefined;
  /** Unix ms. */
  readonly now: () => number;
}

/**
 * Which files of a folder others had a say in. Kept is not which files these are but when they were written: the kernel
 * notes for each file when it was last changed, moved or linked, and nobody can set that time. So a file is foreign when
 * it was changed while something foreign was at work, under whatever name; a clean file that takes its place is not.
 */
export class FolderLabels {
  readonly #options: FolderLabelsOptions;
  readonly #log: LabelLog;
  readonly #runs = new Set<LiveRun>();
  #spans: Span[] = [];
  #ready: Promise<void> | undefined;

  constructor(options: FolderLabelsOptions) {
    this.#options = options;
    this.#log = new LabelLog(options.file);
  }

  /** Nothing runs and nothing is being written: it can be read again at any time. */
  get isIdle(): boolean {
    return this.#runs.size === 0 && this.#spans.every(({ to }) => to !== Number.POSITIVE_INFINITY);
  }

  /** What is foreign about the file or folder at this path. */
  async outsideOf(target: string): Promise<string | undefined> {
    await this.#load();
    if (!this.#spans.some((span) => span.path === undefined || span.path === target)) return undefined;
    const changedAt = await changeOf(target);
    return changedAt !== undefined && this.#isForeign(target, changedAt) ? nameOf(target) : undefined;
  }

  /** Says for single paths whether they are foreign: those that were when this was called, and those that become it later. */
  async foreignPaths(): Promise<(target: string) => boolean> {
    await this.#load();
    const since = this.#options.now();
    const paths = new Set(this.#spans.flatMap((span) => span.path ?? []));
    const origins = await Promise.all([...paths].map(async (one) => [one, await this.outsideOf(one)] as const));
    const then = new Set(origins.flatMap(([one, origin]) => (origin === undefined ? [] : [one])));
    return (target) =>
      then.has(target) || this.#spans.some(({ path: only, to }) => only === target && to + slackMs >= since);
  }

  /** What is written at `target` is foreign from now until the end of this. */
  async write(target: string): Promise<Writing> {
    await this.#load();
    const { root } = this.#options;
    const isSeen = root !== undefined && isBelow(root, target);
    const span = await this.#open(isSeen ? undefined : target);
    if (isSeen) for (const run of this.#runs) await run.add(["a file that is written while it runs"]);
    return {
      include: async (written) => {
        const changedAt = await changeOf(written);
        if (changedAt !== undefined && !this.#isForeign(written, changedAt))
          await this.#add({ ...span, id: newId("span"), from: changedAt, to: changedAt });
      },
      end: () => this.#close(span),
    };
  }

  /** To be called before a command starts. `sources`: what others have a say in it by, as far as the caller knows. */
  async startRun(sources: readonly string[]): Promise<RunMark> {
    await this.#load();
    const startedAt = this.#options.now();
    const run = new LiveRun(
      // What it wrote while nobody else had a say may be mapped, and change without a sign.
      () => this.#open(undefined, startedAt),
      (span) => this.#close(span),
      () => this.#runs.delete(run),
    );
    this.#runs.add(run);
    const others = [...this.#runs].some((one) => one !== run && one.outside() !== undefined);
    const foreign = await this.#foreignFiles();
    const all = [...sources, ...(others ? ["another command that runs here"] : []), ...foreign];
    // What can be written about the folder itself is its time and its rights.
    if (foreign.length === 0 && this.#runs.size === 1) await this.#resetRoot();
    if (all.length > 0) {
      await run.add(all);
      for (const one of this.#runs) if (one !== run) await one.add(["another command that runs here"]);
    }
    return run;
  }

  #isForeign(target: string, changedAt: number): boolean {
    if (Number.isNaN(changedAt)) return true;
    return this.#spans.some(
      ({ from, to, path: only }) =>
        changedAt >= from - slackMs && changedAt <= to + slackMs && (only === undefined || only === target),
    );
  }

  /** The first foreign thing that commands would see. Where there is none any more, nothing has to be remembered. */
  async #foreignFiles(): Promise<readonly string[]> {
    const { root } = this.#options;
    if (root === undefined || this.#spans.every((span) => span.path !== undefined)) return [];
    let left = maxEntries;
    for (const waiting = [root]; waiting.length > 0; ) {
      const folder = waiting.pop() ?? "";
      const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
        if (isGone(error)) return [];
        return undefined;
      });
      // Somebody has made it too deep, or locked it.
      if (entries === undefined) return [`${nameOf(folder)}, which cannot be looked into`];
      for (const entry of entries) {
        left -= 1;
        if (left < 0) return ["more files in this chat's folder than can be looked at"];
        const full = path.join(folder, entry.name);
        const changedAt = await changeOf(full);
        if (changedAt !== undefined && this.#isForeign(full, changedAt)) return [nameOf(full)];
        if (entry.isDirectory()) waiting.push(full);
      }
    }
    // Nothing of it is left.
    const isPast = (span: Span): boolean => span.path === undefined && span.to + slackMs < this.#options.now();
    if (this.#spans.some(isPast)) {
      this.#spans = this.#spans.filter((span) => !isPast(span));
      await this.#log.replace(this.#spans.flatMap(toRecords));
    }
    return [];
  }

  async #resetRoot(): Promise<void> {
    const { root } = this.#options;
    if (root === undefined) return;
    const now = new Date(this.#options.now());
    await Promise.all([chmod(root, 0o700), utimes(root, now, now)]).catch(() => undefined);
  }

  async #open(target?: string, from = this.#options.now()): Promise<Span> {
    const span: Span = {
      id: newId("span"),
      from,
      to: Number.POSITIVE_INFINITY,
      ...(target === undefined ? {} : { path: target }),
    };
    await this.#add(span);
    return span;
  }

  async #add(span: Span): Promise<void> {
    this.#spans.push(span);
    try {
      await this.#log.append(toRecords(span));
    } catch (error) {
      this.#spans = this.#spans.filter((one) => one !== span);
      throw error;
    }
    if (this.#spans.length > maxSpans) await this.#join();
  }

  async #close(span: Span): Promise<void> {
    if (span.to !== Number.POSITIVE_INFINITY) return;
    span.to = this.#options.now();
    await this.#log.append([{ kind: "close", id: span.id, at: span.to }]);
  }

  /** Joins spans that lie next to each other, so that some more is foreign and nothing less. */
  async #join(): Promise<void> {
    const open = this.#spans.filter(({ to }) => to === Number.POSITIVE_INFINITY);
    const ended = this.#spans.filter((span) => !open.includes(span)).sort((a, b) => a.from - b.from);
    const whole = inPairs(ended.filter((span) => span.path === undefined));
    const single = onePerPath(ended.filter((span) => span.path !== undefined));
    // More paths than can be kept: as if everything that is there now were foreign.
    const joined = whole.length + single.length > maxSpans ? [everything(this.#options.now())] : [...whole, ...single];
    this.#spans = [...joined, ...open];
    await this.#log.replace(this.#spans.flatMap(toRecords));
  }

  async #load(): Promise<void> {
    this.#ready ??= this.#read();
    await this.#ready;
  }

  async #read(): Promise<void> {
    const { records, isCopy } = await this.#log.read().catch(() => ({ records: [], isCopy: true }));
    const spans = new Map<string, Span>();
    for (const record of records) {
      if (record.kind === "open") {
        const { id, at: from, path: only } = record;
        spans.set(id, { id, from, to: Number.POSITIVE_INFINITY, path: only });
      }
      const closed = record.kind === "close" ? spans.get(record.id) : undefined;
      if (closed !== undefined && record.kind === "close") closed.to = record.at;
    }
    const now = this.#options.now();
    this.#spans = [...spans.values()];
    // Its process was killed: nothing of it runs any more.
    for (const span of this.#spans) if (span.to === Number.POSITIVE_INFINITY) await this.#close(span);
    if (isCopy) this.#spans.push(everything(now));
  }
}

class LiveRun implements RunMark {
  readonly #open: () => Promise<Span>;
  readonly #close: (span: Span) => Promise<void>;
  readonly #forget: () => void;
  readonly #sources = new Set<string>();
  #span: Promise<Span> | undefined;

  constructor(open: () => Promise<Span>, close: (span: Span) => Promise<void>, forget: () => void) {
    this.#open = open;
    this.#close = close;
    this.#forget = forget;
  }

  outside(): string | undefined {
    return this.#sources.size === 0 ? undefined : namesOf([...this.#sources]);
  }

  async add(sources: readonly string[]): Promise<void> {
    if (sources.length === 0) return;
    for (const source of sources) if (this.#sources.size < maxSources) this.#sources.add(source);
    this.#span ??= this.#open();
    await this.#span;
  }

  async end(): Promise<void> {
    this.#forget();
    const span = await this.#span?.catch(() => undefined);
    if (span !== undefined) await this.#close(span);
  }
}

function inPairs(spans: readonly Span[]): Span[] {
  return spans.flatMap((span, index) => {
    const next = spans[index + 1];
    if (index % 2 === 1) return [];
    return [next === undefined ? span : { ...span, to: Math.max(span.to, next.to) }];
  });
}

function onePerPath(spans: readonly Span[]): Span[] {
  const joined = new Map<string, Span>();
  for (const span of spans) {
    const known = joined.get(span.path ?? "");
    joined.set(span.path ?? "", known === undefined ? span : { ...known, to: Math.max(known.to, span.to) });
  }
  return [...joined.values()];
}

function everything(until: number): Span {
  return { id: newId("span"), from: 0, to: until };
}

function toRecords({ id, from, to, path: only }: Span): LabelRecord[] {
  const opened: LabelRecord = { kind: "open", id, at: from, ...(only === undefined ? {} : { path: only }) };
  return to === Number.POSITIVE_INFINITY ? [opened] : [opened, { kind: "close", id, at: to }];
}

/** Of what cannot be looked at: nobody knows who changed it. */
const unknown = Number.NaN;

/**
 * When the file itself, its name or its rights were changed last; undefined where there is none of anybody's, `unknown`
 * where it cannot be told.
 */
async function changeOf(target: string): Promise<number | undefined> {
  try {
    const stats = await lstat(target);
    return stats.isSymbolicLink() && (await isShortName(target)) ? undefined : stats.ctimeMs;
  } catch (error) {
    return isGone(error) ? undefined : unknown;
  }
}

/**
 * The gateway's own links to what it keeps of the session, letter by letter: `received` is `../.kept/<session>/received`.
 * Any other target could be a text.
 */
async function isShortName(link: string): Promise<boolean> {
  const folder = path.dirname(link);
  const name = path.basename(link);
  if (path.basename(path.dirname(folder)) !== ".sessions" || !keptNames.has(name)) return false;
  return (await readlink(link)) === path.join("..", ".kept", path.basename(folder), name);
}

export function isBelow(root: string, target: string): boolean {
  return target === root || target.startsWith(root + path.sep);
}

function nameOf(target: string): string {
  return `the file ${shownName(target)}`;
}
