import { summaryOf } from "../resident-session.js";
import type { ResidentSessions } from "../resident-sessions.js";
import type { SessionSummary } from "../session.js";
import type { SessionRepository } from "../session-repository.js";
import type { SessionLine } from "./session-line.js";

/** Which sessions of the list. */
export interface SessionsWanted {
  /** So many of those that are wanted are left out. Default 0. */
  readonly offset?: number;
  /** Default: all. */
  readonly limit?: number;
  /** Unix ms: only sessions with a message since then. */
  readonly since?: number;
  /** Default: every session. */
  readonly isWanted?: ((key: string) => boolean) | undefined;
  /** Keys that begin so are left out. */
  readonly except?: string;
}

export interface SessionPage {
  readonly sessions: readonly SessionSummary[];
  /** How many are wanted, on all pages. */
  readonly total: number;
}

function summaryOfLine({ file: _file, lastSequence: _shown, ...summary }: SessionLine): SessionSummary {
  return summary;
}

/** The sessions that there are, newest first: those in memory as they are now, others as their documents say. */
export class SessionList {
  readonly #repository: SessionRepository;
  readonly #residents: ResidentSessions;
  readonly #deletions: ReadonlyMap<string, unknown>;

  /** What is in `deletions` is not shown. */
  constructor(repository: SessionRepository, residents: ResidentSessions, deletions: ReadonlyMap<string, unknown>) {
    this.#repository = repository;
    this.#residents = residents;
    this.#deletions = deletions;
  }

  async page({
    offset = 0,
    limit = Number.POSITIVE_INFINITY,
    since,
    isWanted,
    except,
  }: SessionsWanted): Promise<SessionPage> {
    const { rows } = this.#repository;
    const exceptBytes = except === undefined ? undefined : Buffer.from(except);
    const keys: string[] = [];
    const inOrder = this.#inOrder();
    // Nobody needs to look at all of them where each one counts.
    const isPlain = since === undefined && isWanted === undefined && this.#deletions.size === 0;
    const known = isPlain ? rows.size - (except === undefined ? 0 : rows.countOf(except)) : undefined;
    let total = 0;
    for (const row of inOrder) {
      if (known !== undefined && keys.length >= limit) break;
      if (since !== undefined && (rows.atOf(row) ?? 0) < since) break;
      if (exceptBytes !== undefined && rows.hasPrefix(row, exceptBytes)) continue;
      // Most keys need not become strings.
      if (this.#deletions.size > 0 && this.#deletions.has(rows.keyOf(row))) continue;
      if (isWanted !== undefined && !isWanted(rows.keyOf(row))) continue;
      if (total >= offset && keys.length < limit) keys.push(rows.keyOf(row));
      total += 1;
    }
    return { sessions: [...(await this.summaries(keys)).values()], total: known ?? total };
  }

  /** What the list shows of these; of those that are gone there is nothing. */
  async summaries(keys: readonly string[]): Promise<ReadonlyMap<string, SessionSummary>> {
    const lines = await this.#repository.lines(keys.filter((key) => this.#residents.present(key) === undefined));
    const summaries = new Map<string, SessionSummary>();
    for (const key of keys) {
      const present = this.#residents.present(key);
      const line = lines.get(key);
      if (present !== undefined) summaries.set(key, summaryOf(present));
      else if (line !== undefined) summaries.set(key, summaryOfLine(line));
    }
    return summaries;
  }

  /** Every session, and up to where its log reached when it was in memory or its document was written. */
  *reached(): Iterable<readonly [key: string, seq: number]> {
    const { rows } = this.#repository;
    for (const key of rows.keys()) if (!this.#deletions.has(key)) yield [key, this.lastSequenceOf(key)];
    for (const { key, document } of this.#residents.all())
      if (!rows.has(key) && this.#residents.present(key) !== undefined) yield [key, document.lastSequence];
  }

  lastSequenceOf(key: string): number {
    return this.#residents.present(key)?.document.lastSequence ?? this.#repository.rows.get(key)?.lastSequence ?? 0;
  }

  keys(isWanted: (key: string) => boolean): readonly string[] {
    const { rows } = this.#repository;
    const keys: string[] = [];
    for (const row of this.#inOrder()) {
      const key = rows.keyOf(row);
      if (!this.#deletions.has(key) && isWanted(key)) keys.push(key);
    }
    return keys;
  }

  #inOrder(): Iterable<number> {
    const { rows } = this.#repository;
    for (const { key, document } of this.#residents.all()) {
      if (this.#residents.present(key) === undefined) continue;
      const at = Date.parse(document.lastMessageAt ?? "");
      rows.touch(key, Number.isNaN(at) ? undefined : at);
    }
    return rows.inOrder();
  }
}
