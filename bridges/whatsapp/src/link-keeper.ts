import type { Logger } from "../../../src/log.js";
import { backoffMs, jittered } from "../../../src/util/async/backoff.js";
import { linked } from "../../../src/util/async/linked.js";
import { sleep } from "../../../src/util/async/sleep.js";
import type { BridgeInbox } from "./keep/inbox.js";
import type { BridgeOutbox } from "./keep/outbox.js";
import type { SaidLately } from "./keep/said.js";
import type { Listeners } from "./server/listeners.js";
import type { Arrived, Hear, LinkEnd, LinkState, WhatsApp } from "./whatsapp.js";
import { sentenceOf } from "./words.js";

export interface KeeperParts {
  readonly inbox: BridgeInbox;
  readonly outbox: BridgeOutbox;
  readonly listeners: Listeners;
  readonly said: SaidLately;
}

export interface KeeperOptions {
  readonly log: Logger;
  readonly reconnectMs?: number | undefined;
  readonly showCode?: ((code: string) => void) | undefined;
}

const longestDelayMs = 60_000;
const mostReadMarks = 500;

/** The connection to WhatsApp, again and again, and what comes over it. */
export class LinkKeeper {
  readonly #whatsapp: WhatsApp;
  readonly #parts: KeeperParts;
  readonly #options: KeeperOptions;
  #state: LinkState = { state: "connecting" };
  #failures = 0;
  /** Read by the gateway while there was no connection to say so. */
  #readMarks: Arrived["message"][] = [];

  constructor(whatsapp: WhatsApp, parts: KeeperParts, options: KeeperOptions) {
    this.#whatsapp = whatsapp;
    this.#parts = parts;
    this.#options = options;
  }

  get state(): LinkState {
    return this.#state;
  }

  /** Shows that a message was read, now or with the next connection. Best effort. */
  markRead(message: Arrived["message"]): void {
    this.#readMarks.push(message);
    if (this.#state.state === "connected") this.#showReadMarks();
  }

  #showReadMarks(): void {
    const { log } = this.#options;
    const marks = this.#readMarks.splice(0).slice(-mostReadMarks);
    if (marks.length === 0) return;
    this.#whatsapp.markRead(marks).catch((error: unknown) => log.debug("read marks were not sent", { error }));
  }

  /** Until `signal` aborts. @throws when something that was to be kept is not */
  async keep(onState: (state: LinkState) => void, signal: AbortSignal): Promise<void> {
    using scope = linked(signal);
    let fault: { readonly error: unknown } | undefined;
    const fail = (error: unknown): void => {
      if (!scope.signal.aborted) fault ??= { error };
      scope.abort();
    };
    const note = (state: LinkState): void => this.#note(state, onState);
    const hear = this.#hear(note, fail, scope.signal);
    while (!scope.signal.aborted) {
      note({ state: "connecting" });
      const end = await this.#whatsapp.run(hear, scope.signal);
      if (scope.signal.aborted) break;
      note(end);
      await this.#pauseAfter(end, scope.signal).catch(fail);
    }
    if (fault !== undefined) throw fault.error;
  }

  #hear(note: (state: LinkState) => void, fail: (error: unknown) => void, signal: AbortSignal): Hear {
    const { outbox } = this.#parts;
    return {
      onState: note,
      onMessage: (arrived) =>
        this.#keepMessage(arrived, signal).catch((error: unknown) => {
          fail(error);
          // Whatever waits for this must not go on to tell WhatsApp that it has arrived.
          return new Promise<never>(() => undefined);
        }),
      onTaken: (messageId) => void outbox.noteTaken(messageId).catch(fail),
      sentBefore: async (messageId) => {
        const found = await outbox.find(messageId);
        return found === undefined ? undefined : Buffer.from(found.content, "base64");
      },
    };
  }

  async #keepMessage(arrived: Arrived, signal: AbortSignal): Promise<void> {
    const { inbox, listeners, said } = this.#parts;
    if ((await inbox.add(arrived, signal)) === undefined) return;
    said.note(arrived.message);
    listeners.give();
  }

  #note(state: LinkState, onState: (state: LinkState) => void): void {
    const { log, showCode } = this.#options;
    // The words stay until there is a code or a connection.
    if (state.state === "connecting" && sentenceOf(this.#state) !== undefined) return;
    if (state.state === "renewed") return;
    this.#state = state;
    if (state.state === "connected") {
      this.#failures = 0;
      this.#showReadMarks();
    }
    onState(state);
    const sentence = sentenceOf(state);
    if (state.state === "connected") log.info("connected to WhatsApp");
    if (sentence !== undefined && state.state === "code") log.info(sentence);
    else if (sentence !== undefined) log.warn(sentence);
    if (state.state === "code") showCode?.(state.code);
  }

  async #pauseAfter(end: LinkEnd, signal: AbortSignal): Promise<void> {
    const { reconnectMs: firstMs = 1000 } = this.#options;
    if (end.state === "logged-out") await this.#whatsapp.forgetLogin();
    // Two programs with one login would throw each other out without end, and who is refused is not let in by asking.
    const isOver = end.state === "replaced" || end.state === "refused";
    this.#failures = end.state === "lost" || end.state === "logged-out" ? this.#failures + 1 : this.#failures;
    const growing = jittered(backoffMs(this.#failures, { firstMs, longestMs: longestDelayMs }));
    const ms = end.state === "renewed" ? 0 : growing;
    if (isOver) await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    else await sleep(ms, signal).catch(() => undefined);
  }
}
