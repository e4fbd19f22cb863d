import type { InboundMessage } from "../../bus/messages.js";
import type { Delivery, StoredWork } from "../../engine/engine.js";
import { EngineError } from "../../errors.js";
import { linked } from "../../util/async/linked.js";
import { commandOf, parseCommand } from "../commands/chat-command.js";
import type { AgentPorts } from "../ports.js";
import { asksToStop } from "../questions/interrupt-phrases.js";
import type { Reservation } from "../questions/open-questions.js";
import { continuesBurst, type QuietTime, quietLeftMs } from "../questions/quiet-time.js";

type InboundWork = StoredWork<"inbound">;

export interface MailboxOptions {
  readonly ports: Pick<AgentPorts, "chat">;
  readonly delivery: Delivery<"inbound">;
  /** Messages that an earlier attempt had taken into the turn. */
  readonly rejoined: readonly string[];
  readonly onStop: (mode: "stop" | "cancel") => void;
  /** The open question, reserved for this message, if the message answers it. */
  readonly reserveAnswer: (message: InboundMessage) => Reservation | undefined;
  /** What to do at once with a command that is not an answer. */
  readonly beside: (message: InboundMessage) => AtOnce | undefined;
  /** The text is a command that pauses or leaves the plan that is worked on: it runs once the turn has ended. */
  readonly endsPlan: (content: string) => boolean;
}

/** `ends`: it runs once the turn has ended, which it ends; else what answers it while the turn goes on. */
export type AtOnce = "ends" | (() => Promise<void>);

/** Messages of the same chat that arrive while a turn runs: they stop it, answer it, join it, or wait. */
export class Mailbox implements Disposable {
  readonly #options: MailboxOptions;
  readonly #own: InboundMessage;
  readonly #messageIds: string[];
  /** What the sender has made of messages of the turn since they were accepted. */
  readonly #changes: InboundMessage[] = [];
  /** Called at each message that is accepted. */
  readonly #listeners = new Set<() => void>();
  /** Ids of what was accepted since this began. */
  readonly #heard = new Set<string>();
  readonly #stopListening: () => void;
  #claiming: Promise<void> = Promise.resolve();

  private constructor(options: MailboxOptions) {
    this.#options = options;
    this.#own = options.delivery.work.body;
    this.#messageIds = [this.#own.id];
    this.#stopListening = options.delivery.onAccepted((work) => this.#onAccepted(work));
  }

  /** Resolves once what was accepted before this turn listened counts as well. */
  static async open(options: MailboxOptions): Promise<Mailbox> {
    const mailbox = new Mailbox(options);
    const { delivery, rejoined } = options;
    await mailbox.#claim((await delivery.waiting()).filter((work) => rejoined.includes(work.id)));
    for (const work of await delivery.waiting()) if (!mailbox.#heard.has(work.id)) mailbox.#consider(work);
    await mailbox.settled();
    return mailbox;
  }

  /** Ids of all messages that the turn answers, its own first. */
  get messageIds(): readonly string[] {
    return this.#messageIds;
  }

  /** Resolves once {@link messageIds} names everything that has been taken. */
  settled(): Promise<void> {
    return this.#claiming;
  }

  /** Takes into the turn, before it begins, what has happened to this message since it was accepted. */
  async takeChanges({ platformMessageId }: InboundMessage): Promise<readonly InboundMessage[]> {
    if (platformMessageId === undefined) return [];
    const isOfMessage = (body: InboundMessage): boolean =>
      body.change !== undefined && body.platformMessageId === platformMessageId && this.#isOfSender(body);
    await this.#claim((await this.#options.delivery.waiting()).filter(({ body }) => isOfMessage(body)));
    return this.#changes.filter(isOfMessage);
  }

  /** Takes into the turn what its own sender has added since, in order; other people's messages wait. */
  async takeAdditions(): Promise<readonly InboundMessage[]> {
    return await this.#claim(await this.#plainFollowUps());
  }

  /**
   * Takes into the turn what its sender wrote in quick succession after its first message, and waits for more of it
   * while there is reason to. Ends early when `signal` aborts.
   */
  async takeBurst(quiet: QuietTime, signal: AbortSignal): Promise<readonly InboundMessage[]> {
    const burst: InboundMessage[] = [this.#own];
    while (!signal.aborted) {
      const known = this.#heard.size;
      const [next] = await this.#plainFollowUps();
      const last = burst.at(-1) ?? this.#own;
      if (next !== undefined && continuesBurst(last, next.body, quiet)) {
        burst.push(...(await this.#claim([next])));
        continue;
      }
      const leftMs = next === undefined ? quietLeftMs(burst, quiet, Date.now()) : 0;
      if (leftMs === 0) break;
      await this.#nextAccepted(known, leftMs, signal);
    }
    return burst.slice(1);
  }

  /** Looks once more at what was accepted since the given moment (Unix ms): it may answer a question by now. */
  async reconsider(sinceMs: number): Promise<void> {
    for (const work of await this.#options.delivery.waiting())
      if (work.body.receivedAt >= sinceMs) this.#consider(work);
  }

  /** A question has opened: no command is to wait behind it. */
  async onAsked(): Promise<void> {
    for (const work of await this.#options.delivery.waiting())
      if (commandOf(work.body) !== undefined) this.#consider(work);
  }

  [Symbol.dispose](): void {
    this.#stopListening();
  }

  #isOfSender({ channel, senderId }: InboundMessage): boolean {
    return channel === this.#own.channel && senderId === this.#own.senderId;
  }

  async #claim(works: readonly InboundWork[]): Promise<readonly InboundMessage[]> {
    if (works.length === 0) return [];
    const claimed = await this.#options.delivery.claim(works.map((work) => work.id));
    this.#messageIds.push(...claimed.map((work) => work.id));
    this.#changes.push(...claimed.flatMap(({ body }) => (body.change === undefined ? [] : [body])));
    return claimed.map((work) => work.body);
  }

  #onAccepted(work: InboundWork): void {
    this.#heard.add(work.id);
    for (const listener of this.#listeners) listener();
    this.#consider(work);
  }

  #consider(work: InboundWork): void {
    const { body } = work;
    const { ports, onStop, reserveAnswer, endsPlan } = this.#options;
    // What a sub-agent brings back neither stops nor answers anything.
    if (body.resultOf !== undefined) return;
    const beside = body.mode === "next" ? undefined : this.#options.beside(body);
    const maySteer = this.#isOfSender(body) || ports.chat.isOwner(body.channel, body.senderId);
    // An option may be called like a stop phrase: then it is the answer. A client that names another mode means it.
    const isOver = endsPlan(body.content) || beside === "ends";
    const isOther =
      isOver || parseCommand(body.content)?.name === "stop" || body.mode === "cancel" || body.mode === "next";
    const answer = isOther || !maySteer ? undefined : reserveAnswer(body);
    if (answer !== undefined) this.#answerBy(work, answer);
    else if (typeof beside === "function") this.#steerBy(work, (isClaimed) => (isClaimed ? beside() : undefined));
    else if (!maySteer) return;
    else if (asksToStop(body.content)) this.#stopBy(work);
    else if (isOver || body.mode === "cancel") onStop("cancel");
  }

  #stopBy(work: InboundWork): void {
    this.#steerBy(work, (isClaimed) => {
      if (isClaimed) this.#options.onStop("stop");
    });
  }

  #answerBy(work: InboundWork, answer: Reservation): void {
    this.#steerBy(work, async (isClaimed) => {
      if (isClaimed) await answer.commit(work.id);
      else answer.cancel();
    });
  }

  /** Claims a message that steers the turn, in the background. */
  #steerBy(work: InboundWork, steer: (isClaimed: boolean) => void | Promise<void>): void {
    const run = async (): Promise<void> => {
      try {
        await steer((await this.#claim([work])).length > 0);
      } catch (error) {
        // The turn has just ended: the message finds nothing to steer when its own turn comes.
        if (!(error instanceof EngineError)) throw error;
      }
    };
    this.#claiming = Promise.all([this.#claiming, run()]).then(() => undefined);
  }

  /** What the sender wrote next, up to the first message that is not to join. */
  async #plainFollowUps(): Promise<readonly InboundWork[]> {
    const all = await this.#options.delivery.waiting();
    const end = all.findIndex(
      ({ body }) =>
        !this.#isOfSender(body) ||
        body.mode === "next" ||
        body.mode === "cancel" ||
        body.replaces !== undefined ||
        body.change === "deleted" ||
        commandOf(body) !== undefined ||
        asksToStop(body.content),
    );
    return end === -1 ? all : all.slice(0, end);
  }

  /** Resolves once more than `known` messages were accepted, after `ms`, or when `signal` aborts. */
  async #nextAccepted(known: number, ms: number, signal: AbortSignal): Promise<void> {
    if (this.#heard.size > known) return;
    using scope = linked(signal, ms);
    let listener = (): void => {};
    await new Promise<void>((resolve) => {
      listener = resolve;
      this.#listeners.add(listener);
      scope.signal.addEventListener("abort", listener, { once: true });
      if (scope.signal.aborted) resolve();
    });
    this.#listeners.delete(listener);
  }
}
