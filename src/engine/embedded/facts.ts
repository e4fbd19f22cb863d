import type { DeadLetter, Engine, Records } from "../engine.js";
import { frozenCopy } from "../frozen-copy.js";
import type { Operation } from "./journal/operations.js";
import type { Parts } from "./parts.js";
import type { Store } from "./state.js";

/** Small durable facts of one kind. The memory of the one process is the view, and nothing comes between two of its steps. */
export class FactRecords implements Records {
  readonly #parts: Pick<Parts, "records" | "journal">;
  readonly #kind: string;
  readonly #store: Store;

  constructor(parts: Pick<Parts, "records" | "journal">, kind: string, store: Store) {
    this.#parts = parts;
    this.#kind = kind;
    this.#store = store;
  }

  get(id: string): unknown {
    return this.#facts?.get(id);
  }

  list(): readonly { readonly id: string; readonly value: unknown }[] {
    return [...(this.#facts ?? [])].map(([id, value]) => ({ id, value }));
  }

  async put(id: string, value: unknown, { isReceipt = false } = {}): Promise<void> {
    await this.#store([this.#toPut(id, value)], isReceipt);
  }

  async delete(id: string): Promise<void> {
    if (this.#facts?.has(id) === true) await this.#store([{ o: "remove", kind: this.#kind, id }]);
  }

  async update(id: string, change: (value: unknown) => unknown): Promise<unknown> {
    const before = this.get(id);
    const after = change(before);
    if (after !== before)
      await this.#store([after === undefined ? { o: "remove", kind: this.#kind, id } : this.#toPut(id, after)]);
    // Somebody else may be writing it down just now.
    else await this.#parts.journal.sync(false);
    return after === undefined ? undefined : frozenCopy(after);
  }

  get #facts(): ReadonlyMap<string, unknown> | undefined {
    return this.#parts.records.facts.get(this.#kind);
  }

  #toPut(id: string, value: unknown): Operation {
    const copy = frozenCopy(value);
    if (copy === undefined) throw new TypeError(`The record ${this.#kind}/${id} must be JSON`);
    return { o: "put", kind: this.#kind, id, value: copy };
  }
}

/** What to do with buried work. */
export class DeadLetters implements Readonly<Engine["dead"]> {
  readonly #parts: Pick<Parts, "records" | "lanes" | "now">;
  readonly #store: Store;

  constructor(parts: Pick<Parts, "records" | "lanes" | "now">, store: Store) {
    this.#parts = parts;
    this.#store = store;
  }

  async list(): Promise<readonly DeadLetter[]> {
    return [...this.#parts.records.work.dead.values()];
  }

  async redrive(id: string): Promise<boolean> {
    const { records, lanes, now } = this.#parts;
    const letter = records.work.dead.get(id);
    if (letter === undefined) return false;
    await this.#store([{ o: "redrive", id, at: now() }]);
    const item = records.work.item(letter.work.queue, id);
    if (item !== undefined) lanes.makeAvailable(item);
    return true;
  }

  async drop(id: string): Promise<boolean> {
    if (!this.#parts.records.work.dead.has(id)) return false;
    await this.#store([{ o: "drop", id }]);
    return true;
  }
}
