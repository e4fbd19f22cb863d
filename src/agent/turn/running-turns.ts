import type { Interrupt, StopMode } from "./ending/interruption.js";

interface RunningTurn {
  readonly turnId: string;
  readonly senderId: string;
  readonly interrupt: (why: Interrupt) => void;
  /** Unix ms. */
  readonly startedAt: number;
}

/** The live turns of this process, so that they can be stopped from outside. */
export class RunningTurns {
  readonly #turns = new Map<string, RunningTurn>();
  readonly #waiting = new Map<string, readonly (() => void)[]>();
  #isShutDown = false;
  #others: (sessionKey: string, mode: StopMode) => Promise<boolean> = async () => false;

  begin(sessionKey: string, turn: RunningTurn): Disposable {
    this.#turns.set(sessionKey, turn);
    // Its session was still being read when the others were told.
    if (this.#isShutDown) turn.interrupt({ kind: "shutdown" });
    return {
      [Symbol.dispose]: () => {
        if (this.#turns.get(sessionKey) !== turn) return;
        this.#turns.delete(sessionKey);
        for (const resolve of this.#waiting.get(sessionKey) ?? []) resolve();
        this.#waiting.delete(sessionKey);
      },
    };
  }

  has(sessionKey: string): boolean {
    return this.#turns.has(sessionKey);
  }

  /** When the session's live turn began in this process, in Unix ms. */
  startedAt(sessionKey: string): number | undefined {
    return this.#turns.get(sessionKey)?.startedAt;
  }

  get size(): number {
    return this.#turns.size;
  }

  /** Resolves once this session has no live turn. */
  async ended(sessionKey: string): Promise<void> {
    if (!this.#turns.has(sessionKey)) return;
    await new Promise<void>((resolve) => {
      const waiting = this.#waiting.get(sessionKey) ?? [];
      this.#waiting.set(sessionKey, [...waiting, resolve]);
    });
  }

  /** True when there was a turn to stop. */
  stop(sessionKey: string, mode: StopMode): boolean {
    const turn = this.#turns.get(sessionKey);
    turn?.interrupt({ kind: "user", mode });
    return turn !== undefined;
  }

  /** Has the nodes asked that may have a turn which is not here. */
  useOthers(stop: (sessionKey: string, mode: StopMode) => Promise<boolean>): void {
    this.#others = stop;
  }

  /** The same where the turn may run at another node: there it has ended then, or soon will. */
  async stopAnywhere(sessionKey: string, mode: StopMode): Promise<boolean> {
    return this.stop(sessionKey, mode) || (await this.#others(sessionKey, mode));
  }

  /** Ends all turns without an end in the log, those that begin later included. */
  shutDown(): void {
    this.#isShutDown = true;
    for (const turn of this.#turns.values()) turn.interrupt({ kind: "shutdown" });
  }
}
