import { EngineError } from "../../errors.js";
import type { Engine, Records } from "../engine.js";
import { frozenCopy } from "./files.js";
import type { Operation } from "./journal/operations.js";
import type { Parts } from "./parts.js";

/** Makes one change durable. */
export type Store = (operations: readonly Operation[], isReceipt?: boolean) => Promise<void>;

/** Small durable facts of one kind. */
export function createRecords({ records }: Parts, kind: string, store: Store): Records {
  return {
    get: (id) => records.facts.get(kind)?.get(id),
    async put(id, value, { isReceipt = false } = {}) {
      const copy = frozenCopy(value);
      if (copy === undefined) throw new TypeError(`The record ${kind}/${id} must be JSON`);
      await store([{ o: "put", kind, id, value: copy }], isReceipt);
    },
    async delete(id) {
      if (records.facts.get(kind)?.has(id) === true) await store([{ o: "remove", kind, id }]);
    },
    list: () => [...(records.facts.get(kind) ?? [])].map(([id, value]) => ({ id, value })),
  };
}

/** Remembers the ids of work that is never taken. */
export function createRefusal({ records, now }: Parts, store: Store): Engine["refuse"] {
  return async (work, cursor) => {
    if (records.hasSeen(work, now())) return false;
    const { queue, id } = work;
    const operations: Operation[] = [
      { o: "work", work: frozenCopy(work), at: now() },
      { o: "ack", queue, id },
    ];
    if (cursor !== undefined) operations.push({ o: "cursor", ...cursor });
    await store(operations);
    return true;
  };
}

/** What to do with buried work. */
export function createDeadLetters({ records, lanes, now }: Parts, store: Store): Engine["dead"] {
  return {
    list: () => [...records.work.dead.values()],
    async redrive(id) {
      const letter = records.work.dead.get(id);
      if (letter === undefined) return false;
      await store([{ o: "redrive", id, at: now() }]);
      const item = records.work.item(letter.work.queue, id);
      if (item !== undefined) lanes.makeAvailable(item);
      return true;
    },
    async drop(id) {
      if (!records.work.dead.has(id)) return false;
      await store([{ o: "drop", id }]);
      return true;
    },
  };
}

export function closedError(): EngineError {
  return new EngineError("The engine is closed", { kind: "closed" });
}
