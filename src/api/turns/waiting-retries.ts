import type { Records } from "../../engine/engine.js";
import { messageOf, RequestError } from "../../errors.js";
import type { EventConsumer } from "../../events/bus/system-bus.js";
import { type RetryTimes, readWaitingRetry, type WaitingTurn } from "../../events/retries/waiting.js";
import type { Logger } from "../../log.js";
import { backoffMs, jittered } from "../../util/async/backoff.js";
import { linked } from "../../util/async/linked.js";
import { sleep } from "../../util/async/sleep.js";

export interface WaitingRetriesPorts {
  readonly records: Records;
  readonly events: EventConsumer;
  /** Has the turn tried again. @throws {RequestError} where that cannot be */
  readonly retry: (turn: WaitingTurn) => Promise<unknown>;
  /** Whether the provider answers, by a question that costs nothing; undefined where it has no address to ask. */
  readonly answers: (provider: string, signal: AbortSignal) => Promise<boolean | undefined>;
  /** Before the first question; each further one is twice as long. */
  readonly firstMs: number;
  readonly log: Logger;
}

type Waiting = WaitingTurn & RetryTimes & { readonly id: string };

const longestMs = 120_000;
/** One that cannot be asked is tried after so many pauses: the turn itself finds out. */
const blindAfter = 3;

/** Of one provider that turns wait for. */
interface Asked {
  times: number;
  /** Unix ms. */
  nextAt: number;
  /** It did not even answer what costs nothing: that it does so again says that it is back. */
  wasAway: boolean;
}

/**
 * Tries failed turns again once their provider answers: when another answer of it comes, or when it answers a question
 * that costs nothing, which is asked again and again with growing pauses. One that answers that all the time, and is
 * overloaded, has to answer truly. Of several turns one goes first, and the others
 * follow its answer. What waits is in records, so that it outlives the process.
 */
export class WaitingRetries {
  readonly #ports: WaitingRetriesPorts;
  /** By name. */
  readonly #asked = new Map<string, Asked>();
  /** Their calls get through. */
  readonly #back = new Set<string>();
  #wake = new AbortController();

  constructor(ports: WaitingRetriesPorts) {
    this.#ports = ports;
  }

  /** Until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { events } = this.#ports;
    const undo = [
      events.on("turn_execution_failed", ({ payload }) => {
        if (payload.retry === "waits") this.#look();
      }),
      events.on("assistant_message", ({ source, payload }) => {
        if (!payload.partial && source.startsWith("provider:")) this.#isBack(source.slice("provider:".length));
      }),
    ];
    try {
      // What an earlier process has left is asked about at once. Nobody knows what it has seen.
      for (const { provider } of this.#all()) this.#asked.set(provider, { times: 0, nextAt: 0, wasAway: true });
      while (!signal.aborted) await this.#round(signal);
    } finally {
      for (const unsubscribe of undo) unsubscribe();
    }
  }

  /** The session is gone. */
  async forget(sessionKey: string): Promise<void> {
    for (const turn of this.#all()) if (turn.sessionKey === sessionKey) await this.#drop(turn);
  }

  async #round(signal: AbortSignal): Promise<void> {
    const wake = new AbortController();
    this.#wake = wake;
    const waiting = await this.#current();
    for (const [provider, turns] of byProvider(waiting)) await this.#tryFor(provider, turns, signal);
    for (const name of this.#asked.keys())
      if (!waiting.some(({ provider }) => provider === name)) this.#asked.delete(name);
    const nextAt = Math.min(...[...this.#asked.values()].map((asked) => asked.nextAt));
    using scope = linked(signal);
    const stop = (): void => scope.abort(wake.signal.reason);
    wake.signal.addEventListener("abort", stop, { once: true });
    if (wake.signal.aborted) stop();
    const pauseMs = Number.isFinite(nextAt) ? Math.max(0, nextAt - Date.now()) : longestMs;
    await sleep(pauseMs, scope.signal).catch(() => undefined);
  }

  async #tryFor(provider: string, turns: readonly Waiting[], signal: AbortSignal): Promise<void> {
    const { firstMs, answers } = this.#ports;
    const now = Date.now();
    const asked = this.#asked.get(provider) ?? { times: 0, nextAt: now + jittered(firstMs), wasAway: false };
    this.#asked.set(provider, asked);
    const due = turns.filter(({ after }) => after <= now);
    if (this.#back.delete(provider)) {
      for (const turn of due) await this.#try(turn, true);
      return;
    }
    if (asked.nextAt > now) return;
    if (due.length > 0) {
      const isThere = await answers(provider, signal);
      const ready = due.filter(({ blindAt = 0 }) => asked.wasAway || blindAt <= now);
      if (isThere === false) asked.wasAway = true;
      // One that is out of date by now tells nothing of the provider: the next one goes first.
      else if ((isThere ?? asked.times >= blindAfter) && (await this.#tryOne(ready, isThere === true && asked.wasAway)))
        asked.wasAway = false;
    }
    asked.times += 1;
    asked.nextAt = Date.now() + jittered(backoffMs(asked.times + 1, { firstMs, longestMs }));
  }

  /** True once one of them is tried. */
  async #tryOne(turns: readonly Waiting[], isBack: boolean): Promise<boolean> {
    for (const turn of turns) if (await this.#try(turn, isBack)) return true;
    return false;
  }

  /** Whether it is tried again. `isBack`: it is known that the provider answers. */
  async #try(turn: Waiting, isBack: boolean): Promise<boolean> {
    const { retry, log } = this.#ports;
    const where = { session: turn.sessionKey, turn: turn.turnId };
    let isTried = false;
    try {
      await retry(turn);
      isTried = true;
      const why = isBack ? `${turn.provider} answers again` : `Whether ${turn.provider} answers is not known`;
      log.info(`${why}: a turn that had failed is tried again`, where);
    } catch (error) {
      // It is asked for again: its own message may not have ended yet, or the disk is full.
      if (!(error instanceof RequestError) || error.code === "turn_running") {
        log.debug(`A failed turn goes on waiting: ${messageOf(error)}`, where);
        return false;
      }
      log.debug(`A failed turn is not tried again: ${error.message}`, where);
    }
    await this.#drop(turn);
    return isTried;
  }

  #isBack(provider: string): void {
    if (!this.#all().some((turn) => turn.provider === provider)) return;
    this.#back.add(provider);
    this.#look();
  }

  #look(): void {
    this.#wake.abort(new DOMException("There is something to look at", "AbortError"));
  }

  /** Oldest first. */
  #all(): readonly Waiting[] {
    const all = this.#ports.records.list().flatMap(({ id, value }) => {
      const turn = readWaitingRetry(id, value);
      return turn === undefined ? [] : [{ ...turn, id }];
    });
    return all.toSorted((one, other) => one.until - other.until);
  }

  /** Without those that have waited for too long. */
  async #current(): Promise<readonly Waiting[]> {
    const now = Date.now();
    const all = this.#all();
    for (const turn of all) if (turn.until <= now) await this.#drop(turn);
    return all.filter(({ until }) => until > now);
  }

  async #drop({ id }: Waiting): Promise<void> {
    await this.#ports.records.delete(id).catch((error: unknown) => {
      this.#ports.log.warn(`The note about a failed turn could not be taken away: ${messageOf(error)}`);
    });
  }
}

function byProvider(turns: readonly Waiting[]): ReadonlyMap<string, readonly Waiting[]> {
  const grouped = new Map<string, Waiting[]>();
  for (const turn of turns) grouped.set(turn.provider, [...(grouped.get(turn.provider) ?? []), turn]);
  return grouped;
}
