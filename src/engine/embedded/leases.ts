import { setMaxListeners } from "node:events";
import { z } from "zod";
import { createGate } from "../../util/async/gate.js";
import { InOrder } from "../../util/async/in-order.js";
import { linked } from "../../util/async/linked.js";
import { within } from "../../util/async/within.js";
import type { Lease } from "../engine.js";
import type { LiveRecords, Store } from "./state.js";

/** The kind of the records that hold the epochs. */
export const leaseKind = "lease";
export const leaseRecord = z.object({ epoch: z.number() });

/** What is held by name. The lock on the home keeps other processes out, so holders within this one take turns. */
export class Leases {
  readonly #records: LiveRecords;
  readonly #store: Store;
  /** Those who hold or wait for each name. */
  readonly #holders = new InOrder<string>();
  readonly #closing = new AbortController();

  constructor(records: LiveRecords, store: Store) {
    this.#records = records;
    this.#store = store;
    // One for each who waits, of whom a gateway with many channels has many at its start.
    setMaxListeners(0, this.#closing.signal);
  }

  async take(name: string, signal: AbortSignal): Promise<Lease> {
    this.#closing.signal.throwIfAborted();
    signal.throwIfAborted();
    const before = this.#holders.endOf(name);
    const given = createGate();
    // Who gives up waiting leaves the ones behind it where they are.
    void this.#holders.run(() => given.opened, name);
    try {
      await this.#wait(before, signal);
      const lost = linked(this.#closing.signal);
      return { epoch: await this.#nextEpoch(name), lost: lost.signal, [Symbol.asyncDispose]: () => giveUp(lost) };
    } catch (error) {
      given.open();
      throw error;
    }

    async function giveUp(lost: Disposable): Promise<void> {
      lost[Symbol.dispose]();
      given.open();
    }
  }

  /** Nothing is held any more, and nobody waits. */
  close(why: Error): void {
    this.#closing.abort(why);
  }

  async #wait(before: Promise<void>, signal: AbortSignal): Promise<void> {
    using either = linked(signal);
    const onClose = (): void => either.abort(this.#closing.signal.reason);
    this.#closing.signal.addEventListener("abort", onClose, { once: true });
    try {
      await within(before, { signal: either.signal });
    } finally {
      this.#closing.signal.removeEventListener("abort", onClose);
    }
  }

  async #nextEpoch(name: string): Promise<number> {
    const last = leaseRecord.safeParse(this.#records.facts.get(leaseKind)?.get(name)).data?.epoch ?? 0;
    const epoch = last + 1;
    await this.#store([{ o: "put", kind: leaseKind, id: name, value: { epoch } }]);
    return epoch;
  }
}
