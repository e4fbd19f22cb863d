import { deepFreeze } from "../../util/deep-freeze.js";
import type { Operation } from "./journal/operations.js";
import { WorkTable } from "./lanes/work-table.js";
import { SessionTable } from "./logs/session-table.js";
import { SeenIds } from "./seen/seen-ids.js";

/** Makes one change durable. */
export type Store = (operations: readonly Operation[], isReceipt?: boolean) => Promise<void>;

/** Everything that a checkpoint holds. Changed only by applying what is in the journal. */
export class LiveRecords {
  readonly work = new WorkTable();
  readonly sessions = new SessionTable();
  readonly cursors = new Map<string, string>();
  readonly facts = new Map<string, Map<string, unknown>>();
  /** `w:<work id>` and `d:<dedup id>` of what was accepted. */
  readonly seen = new SeenIds();

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
        this.seen.restore(operation.ids);
        break;
      case "sealed":
        this.seen.replaceFiles(operation.files);
        break;
      case "work":
        this.seen.remember(`w:${operation.work.id}`, operation.at);
        if (operation.work.dedupId !== undefined) this.seen.remember(`d:${operation.work.dedupId}`, operation.at);
        this.work.apply(operation, options.isDurable);
        break;
      default:
        this.work.apply(operation, options.isDurable);
    }
  }

  /** True when work of this id, or with this dedup id, was accepted before. */
  hasSeen(work: { readonly id: string; readonly dedupId?: string | undefined }, now: number): boolean {
    return (
      this.seen.has(`w:${work.id}`, now) ||
      (work.dedupId !== undefined && this.seen.has(`d:${work.dedupId}`, now)) ||
      this.work.holds(work.id)
    );
  }

  *checkpoint(): Iterable<Operation> {
    for (const [name, value] of this.cursors) yield { o: "cursor", name, value };
    for (const [kind, facts] of this.facts) {
      for (const [id, value] of facts) yield { o: "put", kind, id, value };
    }
    yield* this.seen.checkpoint();
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
}
