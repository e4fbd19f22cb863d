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

/** Messages of the same chat that arrive while a turn runs. */
export interface Mailbox extends Disposable {
  /** Takes into the turn, before it begins, what has become of this message since it was accepted. */
  takeChanges(message: InboundMessage): Promise<readonly InboundMessage[]>;
  /** Takes into the turn what its own sender has added since, in order; other people's messages wait. */
  takeAdditions(): Promise<readonly InboundMessage[]>;
  /**
   * Takes into the turn what its sender wrote in quick succession after its first message, and waits for more of it
   * while there is reason to. Ends early when `signal` aborts.
   */
  takeBurst(quiet: QuietTime, signal: AbortSignal): Promise<readonly InboundMessage[]>;
  /** Looks once more at what was accepted since the given moment (Unix ms): it may answer a question by now. */
  reconsider(sinceMs: number): void;
  /** Resolves once {@link messageIds} names everything that has been taken. */
  settled(): Promise<void>;
  /** Ids of all messages that the turn answers, its own first. */
  readonly messageIds: readonly string[];
}

export interface MailboxOptions {
  readonly ports: Pick<AgentPorts, "engine" | "isOwner">;
  readonly delivery: Delivery<"inbound">;
  /** Messages that an earlier attempt had taken into the turn. */
  readonly rejoined: readonly string[];
  readonly onStop: (mode: "stop" | "cancel") => void;
  /** The open question, reserved for this message, if the message answers it. */
  readonly reserveAnswer: (message: InboundMessage) => Reservation | undefined;
  /** The text is a command that pauses or leaves the plan that is worked on: it runs once the turn has ended. */
  readonly endsPlan: (content: string) => boolean;
}

export async function openMailbox(options: MailboxOptions): Promise<Mailbox> {
  const { ports, delivery, rejoined, onStop, reserveAnswer, endsPlan } = options;
  const own = delivery.work.body;
  const messageIds = [own.id];
  const changes: InboundMessage[] = [];
  const listeners = new Set<() => void>();
  let taking: Promise<void> = Promise.resolve();
  const claim = async (works: readonly InboundWork[]): Promise<readonly InboundMessage[]> => {
    if (works.length === 0) return [];
    const claimed = await delivery.claim(works.map((work) => work.id));
    messageIds.push(...claimed.map((work) => work.id));
    changes.push(...claimed.flatMap(({ body }) => (body.change === undefined ? [] : [body])));
    return claimed.map((work) => work.body);
  };
  const others = (): readonly InboundWork[] =>
    ports.engine.waiting("inbound", own.sessionKey).filter((work) => !messageIds.includes(work.id));
  const isOfSender = ({ channel, senderId }: InboundMessage): boolean =>
    channel === own.channel && senderId === own.senderId;
  const mayStop = (message: InboundMessage): boolean =>
    isOfSender(message) || ports.isOwner(message.channel, message.senderId);

  /** Claims a message that steers the turn, in the background. */
  const take = (work: InboundWork, then: (isClaimed: boolean) => void | Promise<void>): void => {
    const run = async (): Promise<void> => {
      try {
        await then((await claim([work])).length > 0);
      } catch (error) {
        // The turn has just ended: the message finds nothing to steer when its own turn comes.
        if (!(error instanceof EngineError)) throw error;
      }
    };
    taking = Promise.all([taking, run()]).then(() => undefined);
  };
  const stopBy = (work: InboundWork): void =>
    take(work, (isClaimed) => {
      if (isClaimed) onStop("stop");
    });
  const answerBy = (work: InboundWork, answer: Reservation): void =>
    take(work, async (isClaimed) => {
      if (isClaimed) await answer.commit(work.id);
      else answer.cancel();
    });
  const onAccepted = (work: InboundWork): void => {
    for (const listener of listeners) listener();
    const { body } = work;
    // What a sub-agent brings back neither stops nor answers anything.
    if (!mayStop(body) || body.resultOf !== undefined) return;
    // An option may be called like a stop phrase: then it is the answer. A client that names another mode means it.
    const isOver = endsPlan(body.content);
    const isOther =
      isOver || parseCommand(body.content)?.name === "stop" || body.mode === "cancel" || body.mode === "next";
    const answer = isOther ? undefined : reserveAnswer(body);
    if (answer !== undefined) answerBy(work, answer);
    else if (asksToStop(body.content)) stopBy(work);
    else if (isOver || body.mode === "cancel") onStop("cancel");
  };
  const undo = ports.engine.onAccepted(own.sessionKey, onAccepted);
  await claim(others().filter((work) => rejoined.includes(work.id)));
  // What was accepted before this turn listened counts as well.
  for (const work of others()) onAccepted(work);
  await taking;

  /** What the sender wrote next, up to the first message that is not to join. */
  const plainFollowUps = (): readonly InboundWork[] => {
    const all = others();
    const end = all.findIndex(
      ({ body }) =>
        !isOfSender(body) ||
        body.mode === "next" ||
        body.mode === "cancel" ||
        body.change === "deleted" ||
        commandOf(body) !== undefined ||
        asksToStop(body.content),
    );
    return end === -1 ? all : all.slice(0, end);
  };
  const nextAccepted = async (ms: number, signal: AbortSignal): Promise<void> => {
    using scope = linked(signal, ms);
    let listener = (): void => {};
    await new Promise<void>((resolve) => {
      listener = resolve;
      listeners.add(listener);
      scope.signal.addEventListener("abort", listener, { once: true });
      if (scope.signal.aborted) resolve();
    });
    listeners.delete(listener);
  };

  return {
    messageIds,
    settled: () => taking,
    async takeChanges({ platformMessageId }) {
      if (platformMessageId === undefined) return [];
      const isOfMessage = (body: InboundMessage): boolean =>
        body.change !== undefined && body.platformMessageId === platformMessageId && isOfSender(body);
      await claim(others().filter(({ body }) => isOfMessage(body)));
      return changes.filter(isOfMessage);
    },
    takeAdditions: () => claim(plainFollowUps()),
    reconsider(sinceMs) {
      for (const work of others()) if (work.body.receivedAt >= sinceMs) onAccepted(work);
    },
    async takeBurst(quiet, signal) {
      const burst: InboundMessage[] = [own];
      while (!signal.aborted) {
        const [next] = plainFollowUps();
        const last = burst.at(-1) ?? own;
        if (next !== undefined && continuesBurst(last, next.body, quiet)) {
          burst.push(...(await claim([next])));
          continue;
        }
        const leftMs = next === undefined ? quietLeftMs(burst, quiet, Date.now()) : 0;
        if (leftMs === 0) break;
        await nextAccepted(leftMs, signal);
      }
      return burst.slice(1);
    },
    [Symbol.dispose]: undo,
  };
}
