import type MiniSearch from "minisearch";
import { toTerms } from "./terms.js";

/** One thing that was written or said. */
export interface Passage {
  /** Unix ms; absent for files that are written over time. */
  readonly at?: number;
  /** `user`, `assistant`, or for a file its path in the workspace. */
  readonly from: string;
  readonly text: string;
  /** Where it came from when others had a hand in it. */
  readonly outside?: string | undefined;
}

/** Where passages come from: a conversation, or a file of the memory. */
export interface Source {
  /** Session key, or the file's path in the workspace. */
  readonly id: string;
  /** Another one means that the source has to be read again. */
  readonly stamp: string;
  /** Undefined when it is gone or cannot be read. */
  readonly read: () => Promise<readonly Passage[] | undefined>;
}

export interface Found extends Passage {
  readonly sourceId: string;
  readonly score: number;
}

export interface MemorySearch {
  /**
   * The passages that fit the words best, at most `limit`, best first. Only sources that `allows` are looked at and
   * none are read that have not changed.
   */
  search(query: string, options: SearchOptions): Promise<readonly Found[]>;
}

export interface SearchOptions {
  readonly limit: number;
  readonly allows: (sourceId: string) => boolean;
  readonly signal: AbortSignal;
}

interface Entry extends Passage {
  readonly id: string;
  readonly sourceId: string;
}

interface Index {
  readonly engine: MiniSearch<Entry>;
  readonly known: Map<string, { readonly stamp: string; readonly ids: readonly string[] }>;
}

/** The index is freed after this long without a question. */
const idleMs = 10 * 60_000;
/** Long passages are found by their beginning. */
const maxTerms = 4000;

/**
 * A full-text index over memory and conversations, in this process only. It is built at the first question, and each
 * later one reads what has changed since.
 *
 * @param sources newest first; how many there are bounds the memory that the index takes
 */
export function createMemorySearch(sources: () => Promise<readonly Source[]>): MemorySearch {
  const state: { index: Promise<Index> | undefined; idle: NodeJS.Timeout | undefined; last: Promise<unknown> } = {
    index: undefined,
    idle: undefined,
    last: Promise.resolve(),
  };

  const rest = (): void => {
    clearTimeout(state.idle);
    state.idle = setTimeout(() => {
      state.index = undefined;
    }, idleMs);
    state.idle.unref();
  };

  const answer = async (query: string, { limit, allows, signal }: SearchOptions): Promise<readonly Found[]> => {
    state.index ??= openIndex();
    const index = await state.index;
    await catchUp(index, await sources(), signal);
    rest();
    const hits = index.engine.search(query, { filter: (hit) => allows(String(hit.sourceId)) });
    return hits.slice(0, limit).map((hit) => ({
      sourceId: String(hit.sourceId),
      from: String(hit.from),
      text: String(hit.text),
      score: hit.score,
      ...(typeof hit.at === "number" ? { at: hit.at } : {}),
      ...(typeof hit.outside === "string" ? { outside: hit.outside } : {}),
    }));
  };

  return {
    search(query, options) {
      // One after the other, so that no source is read twice at once.
      const result = state.last.then(() => answer(query, options));
      state.last = result.catch(() => undefined);
      return result;
    },
  };
}

async function openIndex(): Promise<Index> {
  const { default: Engine } = await import("minisearch");
  const engine = new Engine<Entry>({
    fields: ["text"],
    storeFields: ["sourceId", "from", "text", "at", "outside"],
    tokenize: (text) => toTerms(text).slice(0, maxTerms),
    processTerm: (term) => term,
    searchOptions: {
      prefix: (term) => term.length > 3,
      fuzzy: (term) => (term.length > 5 ? 0.2 : false),
      weights: { prefix: 0.4, fuzzy: 0.2 },
    },
  });
  return { engine, known: new Map() };
}

async function catchUp({ engine, known }: Index, sources: readonly Source[], signal: AbortSignal): Promise<void> {
  const present = new Set(sources.map(({ id }) => id));
  for (const [id, { ids }] of known) {
    if (present.has(id)) continue;
    engine.discardAll(ids);
    known.delete(id);
  }
  for (const source of sources) {
    const before = known.get(source.id);
    if (before?.stamp === source.stamp) continue;
    signal.throwIfAborted();
    const passages = (await source.read()) ?? [];
    if (before !== undefined) engine.discardAll(before.ids);
    const entries = passages
      .filter(({ text }) => text.trim() !== "")
      .map((passage, number) => ({ ...passage, sourceId: source.id, id: `${source.id}\n${source.stamp}\n${number}` }));
    engine.addAll(entries);
    known.set(source.id, { stamp: source.stamp, ids: entries.map(({ id }) => id) });
  }
}
