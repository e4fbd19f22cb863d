import { EngineError } from "../../errors.js";
import type { Logger } from "../../log.js";
import { createGate } from "../../util/async/gate.js";
import { InOrder } from "../../util/async/in-order.js";
import { linked } from "../../util/async/linked.js";
import { settledWithin, within } from "../../util/async/within.js";
import type { Lease } from "../engine.js";
import type { Database } from "./sql/database.js";

export interface LeasesOptions {
  readonly database: Database;
  readonly holder: string;
  /** Tells the other nodes that it may be taken. */
  readonly tellFree: (name: string) => void;
  readonly leaseMs: number;
  readonly pollMs: () => number;
  readonly log: Logger;
}

/** What only one node may do at a time. The clock that counts is that of the database. */
export class Leases {
  readonly #options: LeasesOptions;
  /** Those who hold or wait for each name here: they take turns. */
  readonly #holders = new InOrder<string>();
  readonly #wakes = new Map<string, () => void>();
  readonly #held = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  constructor(options: LeasesOptions) {
    this.#options = options;
  }

  async take(name: string, signal: AbortSignal): Promise<Lease> {
    this.#closing.signal.throwIfAborted();
    signal.throwIfAborted();
    const before = this.#holders.endOf(name);
    const given = createGate();
    // Who gives up waiting leaves the ones behind it where they are.
    void this.#holders.run(() => given.opened, name);
    using waiting = linked(signal);
    const onClose = (): void => waiting.abort(this.#closing.signal.reason);
    this.#closing.signal.addEventListener("abort", onClose, { once: true });
    try {
      await within(before, { signal: waiting.signal });
      return this.#hold(name, await this.#win(name, waiting.signal), given.open);
    } catch (error) {
      given.open();
      throw error;
    } finally {
      this.#closing.signal.removeEventListener("abort", onClose);
    }
  }

  /** Another node has given it up. */
  wake(name: string): void {
    this.#wakes.get(name)?.();
  }

  /** Nothing is held any more, and nobody waits. */
  async close(why: Error): Promise<void> {
    this.#closing.abort(why);
    await Promise.all(this.#held);
  }

  /** Resolves with the epoch once it is this node's. */
  async #win(name: string, signal: AbortSignal): Promise<number> {
    const { database, holder, leaseMs, pollMs } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      const isWoken = new Promise<void>((resolve) => this.#wakes.set(name, resolve));
      const [row] = await database.write<{ epoch: number }>(
        `INSERT INTO @leases AS l (name, holder, epoch, until)
         VALUES ($1, $2, 1, clock_timestamp() + $3::float8 * interval '1 ms')
         ON CONFLICT (name) DO UPDATE SET holder = $2, epoch = l.epoch + 1, until = excluded.until
           WHERE l.until < clock_timestamp() OR l.holder IS NULL
         RETURNING epoch::float8`,
        [name, holder, leaseMs],
      );
      if (row !== undefined) return row.epoch;
      await settledWithin(isWoken, { ms: pollMs(), signal });
    }
  }

  #hold(name: string, epoch: number, onEnd: () => void): Lease {
    const lost = linked(this.#closing.signal);
    const over = createGate();
    const ended = this.#keep(name, epoch, lost, over.opened).finally(() => {
      this.#held.delete(ended);
      lost[Symbol.dispose]();
      onEnd();
    });
    this.#held.add(ended);
    return {
      epoch,
      lost: lost.signal,
      async [Symbol.asyncDispose]() {
        over.open();
        await ended;
      },
    };
  }

  /** Renews it until it is given up or lost. */
  async #keep(
    name: string,
    epoch: number,
    lost: { readonly signal: AbortSignal; abort(reason: unknown): void },
    over: Promise<void>,
  ): Promise<void> {
    const { leaseMs } = this.#options;
    let renewedAt = performance.now();
    // By this node's own clock, and early enough that nobody else can have it by then.
    const isLate = (): boolean => performance.now() - renewedAt > leaseMs / 2;
    for (;;) {
      const isOver = await settledWithin(over, { ms: leaseMs / 5, signal: lost.signal });
      if (isOver || lost.signal.aborted) return await this.#giveUp(name, epoch);
      const askedAt = performance.now();
      const isHeld = await this.#renew(name, epoch, Math.max(1, leaseMs / 2 - (askedAt - renewedAt)));
      if (isHeld === true) renewedAt = askedAt;
      if (isHeld === false || isLate()) {
        lost.abort(new EngineError(`The lease of ${name} was lost: another node may hold it`, { kind: "fenced" }));
        return await this.#giveUp(name, epoch);
      }
    }
  }

  /** Undefined: the database did not say. */
  async #renew(name: string, epoch: number, ms: number): Promise<boolean | undefined> {
    const { database, holder, leaseMs } = this.#options;
    try {
      const rows = await within(
        database.write(
          `UPDATE @leases SET until = clock_timestamp() + $4::float8 * interval '1 ms'
           WHERE name = $1 AND holder = $2 AND epoch = $3 RETURNING 1`,
          [name, holder, epoch, leaseMs],
        ),
        { ms },
      );
      return rows.length === 1;
    } catch {
      return undefined;
    }
  }

  async #giveUp(name: string, epoch: number): Promise<void> {
    const { database, holder, tellFree, log } = this.#options;
    try {
      await within(
        database.write("UPDATE @leases SET holder = NULL WHERE name = $1 AND holder = $2 AND epoch = $3", [
          name,
          holder,
          epoch,
        ]),
        { ms: 1000 },
      );
      tellFree(name);
    } catch (error) {
      log.debug("a lease was not given up: it ends by itself", { name, error });
    }
  }
}
