import { deepFreeze } from "./files.js";
import type { Operation } from "./operations.js";
import { SessionTable } from "./session-table.js";
import { WorkTable } from "./work-table.js";

/** How long the ids of accepted work, and what platforms repeat on redelivery, are remembered. */
export const rememberedMs = 7 * 24 * 60 * 60 * 1000;

/** Everything that a checkpoint holds. Changed only by applying what stands in the journal. */
export class LiveRecords {
  readonly work = new WorkTable();
  readonly sessions = new SessionTable();
  readonly cursors = new Map<string, string>();
  readonly facts = new Map<string, Map<string, unknown>>();
  /** Unix ms by `w:<work id>` or `d:<dedup id>`, oldest first. */
  readonly #seen = new Map<string, number>();

  /** `isDurable`: work in this operation may be handed out at once. `bytes` is the size of an event, roughly. */
  apply(
    operation: Operation,
    options: { readonly isDurable: boolean; readonly bytes: number; readonly position: number },
  ): void {
    switch (operation.o) {
      case "event":
        this.sessions.applyEvent(operation.event, options.bytes, options.position);
        break;
      case "tombstone":
        this.sessions.applyTombstone(operation.key, operation.seq, operation.timestamp);
        this.work.removeSession(operation.key);
        break;
      case "gone": {
        const tombstone = this.sessions.tombstones.get(operation.key);
        if (tombstone !== undefined) tombstone.isGone = true;
        break;
      }
      case "cursor":
        this.cursors.set(operation.name, operation.value);
        break;
      case "put":
        this.#factsOf(operation.kind).set(operation.id, deepFreeze(operation.value));
        break;
      case "remove":
        this.facts.get(operation.kind)?.delete(operation.id);
        break;
      case "seen":
        for (const [id, at] of operation.ids) this.#seen.set(id, at);
        break;
      case "work":
        this.#remember(`w:${operation.work.id}`, operation.at);
        if (operation.work.dedupId !== undefined) this.#remember(`d:${operation.work.dedupId}`, operation.at);
        this.work.apply(operation, options.isDurable);
        break;
      default:
        this.work.apply(operation, options.isDurable);
    }
  }

  /** True when work of this id, or with this dedup id, was accepted before. */
  hasSeen(work: { readonly id: string; readonly dedupId?: string | undefined }, now: number): boolean {
    this.#forgetOld(now);
    return (
      this.#seen.has(`w:${work.id}`) ||
      (work.dedupId !== undefined && this.#seen.has(`d:${work.dedupId}`)) ||
      this.work.holds(work.id)
    );
  }

  *checkpoint(): Iterable<Operation> {
    for (const [name, value] of this.cursors) yield { o: "cursor", name, value };
    for (const [kind, facts] of this.facts) {
      for (const [id, value] of facts) yield { o: "put", kind, id, value };
    }
    let ids: [string, number][] = [];
    for (const entry of this.#seen) {
      ids.push(entry);
      if (ids.length < 500) continue;
      yield { o: "seen", ids };
      ids = [];
    }
    if (ids.length > 0) yield { o: "seen", ids };
    yield* this.work.checkpoint();
    yield* this.sessions.checkpoint();
  }

  #factsOf(kind: string): Map<string, unknown> {
    let facts = this.facts.get(kind);
    if (facts === undefined) {
      facts = new Map();
      this.facts.set(kind, facts);
    }
    return facts;
  }

  #remember(id: string, at: number): void {
    if (!this.#seen.has(id)) this.#seen.set(id, at);
  }

  #forgetOld(now: number): void {
    for (const [id, at] of this.#seen) {
      if (at > now - rememberedMs) break;
      this.#seen.delete(id);
    }
  }
}
