import type { InboundMessage } from "../../bus/messages.js";
import type { Delivery } from "../../engine/engine.js";
import type { Payload } from "../../events/catalogue.js";
import type { EventDraft } from "../../events/event.js";
import type { Machines } from "../../events/machines/run-machines.js";
import { sessionKeyOf } from "../../events/session-key.js";
import { InOrder } from "../../util/async/in-order.js";
import { linked } from "../../util/async/linked.js";
import { newId } from "../../util/ids.js";
import type { ChatPorts } from "../ports.js";
import { queuedReplies } from "../turn/own-words.js";
import type { EarlierQuestion } from "../turn/resume.js";
import type { TurnLog } from "../turn/turn-log.js";
import { takenAtTimeout } from "./answers.js";
import { type Answer, isOtherCommand, isRefusal, type QuestionHandle, type Reservation } from "./open-questions.js";
import { questionText, timeoutText } from "./text.js";

type Asked = Payload<"human_input_asked">;
type Answered = Payload<"human_input_answered">;

/** A question before it is asked. */
export type Question = Omit<Asked, "request_id" | "timeout_seconds" | "expires_at">;

/** How a question ended. `optionId` is set when an option was chosen, also by a time-out. */
export interface HumanAnswer {
  /** `nobody`: the message has no person behind it, so nothing was asked. */
  readonly outcome: "answered" | "timeout" | "nobody";
  readonly text: string;
  readonly optionId?: string | undefined;
  readonly responderId: string;
}

export interface HumanInputScope {
  readonly chat: ChatPorts;
  readonly delivery: Pick<Delivery<"inbound">, "pause" | "work">;
  readonly log: TurnLog;
  readonly machines: Machines;
  /** Questions that an earlier attempt had asked for calls that have no result yet. */
  readonly earlier: readonly EarlierQuestion[];
  /** Ends the turn. */
  readonly signal: AbortSignal;
  /** The process is to stop: nobody waits for a person then, the question stays open. */
  readonly stopping: AbortSignal;
  readonly giveBack: () => void;
}

/** The questions of one turn to its people: one after the other, each asked once, whatever happens to the process. */
export class HumanInput {
  readonly #scope: HumanInputScope;
  readonly #earlier: Set<EarlierQuestion>;
  readonly #inOrder = new InOrder();
  #open: { readonly asked: Asked; readonly handle: QuestionHandle } | undefined;
  /** Called when a question has been asked. */
  onAsked: () => Promise<void> = async () => {};
  /** Looks again at messages that were accepted after the given moment (Unix ms). */
  reconsider: (sinceMs: number) => Promise<void> = async () => {};

  constructor(scope: HumanInputScope) {
    this.#scope = scope;
    this.#earlier = new Set(scope.earlier);
  }

  /**
   * Asks, and waits for the answer or the time-out without holding a place among the turns. What an earlier attempt
   * had asked for the same call is not asked again; its answer counts. `reasons` are events that are written together
   * with the question, or not at all. `withdrawn`: nobody wants the answer any more.
   *
   * @throws the signal's reason when the turn ends meanwhile, and that of `withdrawn`
   */
  ask(question: Question, reasons: readonly EventDraft[] = [], withdrawn?: AbortSignal): Promise<HumanAnswer> {
    return this.#inOrder.run(() => this.#ask(question, reasons, withdrawn));
  }

  /** Resolves once no question is being asked any more, also not one that is being withdrawn. */
  async settled(): Promise<void> {
    await this.#inOrder.settled();
  }

  /** The message came by itself, of a job or the heartbeat: perhaps nobody is there to answer. */
  get isUnattended(): boolean {
    const { internal, jobId } = this.#scope.delivery.work.body;
    return internal === true || jobId !== undefined;
  }

  /** A person is being waited for. */
  get isAsking(): boolean {
    return this.#open !== undefined;
  }

  /** True when the call was waiting for a person when the process ended: then it had not done anything yet. */
  wasAsking(toolCallId: string): boolean {
    return [...this.#earlier].some(
      ({ answered, asked }) => answered === undefined && asked.tool_call_id === toolCallId && asked.mid_call !== true,
    );
  }

  /** Takes the open question for this message, if the message answers it. */
  reserve(message: InboundMessage): Reservation | undefined {
    const { questions, isOwner } = this.#scope.chat;
    const { channel, senderId, content, outside } = message;
    if (this.#open === undefined || outside !== undefined || isOtherCommand(this.#open.asked, content))
      return undefined;
    const responder = { channel, senderId, isOwner: isOwner(channel, senderId), isPrivate: false };
    const outcome = questions.reserve(this.#open.asked.request_id, { text: content }, responder);
    return isRefusal(outcome) ? undefined : outcome;
  }

  /** Events that close what an earlier attempt had asked and nobody goes on with. */
  closeEarlier(): EventDraft[] {
    const open = [...this.#earlier].filter(({ answered }) => answered === undefined);
    this.#earlier.clear();
    return closeQuestions(open, this.#scope.log);
  }

  async #ask(question: Question, reasons: readonly EventDraft[], withdrawn?: AbortSignal): Promise<HumanAnswer> {
    const { delivery, signal } = this.#scope;
    signal.throwIfAborted();
    withdrawn?.throwIfAborted();
    if (delivery.work.body.internal === true) {
      await this.#scope.log.append(reasons);
      const taken = takenAtTimeout({ ...question, request_id: "", timeout_seconds: 0, expires_at: "" });
      return { ...taken, outcome: "nobody", responderId: "" };
    }
    const earlier = this.#takeEarlier(question);
    if (earlier?.answered !== undefined) return fromEvent(earlier.asked, earlier.answered);
    const asked = earlier?.asked ?? this.#compose(question);
    let answer: (given: Answer) => void = () => {};
    const answered = new Promise<Answer>((resolve) => {
      answer = resolve;
    });
    const handle = this.#register(asked, async (given) => {
      await this.#storeAnswer(asked, "answered", given);
      answer(given);
    });
    try {
      await this.#sendQuestion(asked, reasons, earlier);
      await this.onAsked();
      const given = await delivery.pause(() => this.#wait(asked, answered, handle, withdrawn));
      if (given !== undefined) {
        handle.close(`answered with “${given.text}”`);
        return { ...given, outcome: "answered" };
      }
      return await this.#end(asked, handle, withdrawn);
    } finally {
      const isStopping = this.#scope.stopping.aborted;
      const why = withdrawn?.aborted === true ? "nobody waits for the answer any more" : "the turn has ended";
      handle.close(isStopping ? "the gateway is stopping; please answer after its start" : why);
      this.#open = undefined;
    }
  }

  #takeEarlier(question: Question): EarlierQuestion | undefined {
    const found = [...this.#earlier].find(
      ({ asked }) =>
        asked.tool_call_id === question.tool_call_id &&
        asked.kind === question.kind &&
        asked.question === question.question &&
        asked.approver === question.approver,
    );
    if (found !== undefined) this.#earlier.delete(found);
    return found;
  }

  #compose(question: Question): Asked {
    const patienceMs = this.#scope.chat.patienceMs(this.#scope.delivery.work.body);
    return {
      ...question,
      request_id: newId("ask"),
      timeout_seconds: Math.ceil(patienceMs / 1000),
      expires_at: new Date(Date.now() + patienceMs).toISOString(),
    };
  }

  #register(asked: Asked, take: (answer: Answer) => Promise<void>): QuestionHandle {
    const { delivery, chat } = this.#scope;
    const { sessionKey, channel, chatId, thread, senderId, senderName } = delivery.work.body;
    const chatKey = sessionKeyOf(channel, chatId, thread);
    // Before it is told, so that no answer can come too early.
    const handle = chat.questions.open(
      { sessionKey, chatKey, asked, asker: { channel, senderId, name: senderName } },
      take,
    );
    this.#open = { asked, handle };
    return handle;
  }

  /** Writes and sends the question, or, when an earlier attempt has done that, only that the agent waits again. */
  async #sendQuestion(
    asked: Asked,
    reasons: readonly EventDraft[],
    earlier: EarlierQuestion | undefined,
  ): Promise<void> {
    const { delivery, log, machines, chat } = this.#scope;
    const outputs = machines.feed({ kind: "human_asked", requestId: asked.request_id });
    if (earlier !== undefined) {
      await log.writeOutputs(outputs);
      await this.reconsider(earlier.askedAt);
      return;
    }
    const message = delivery.work.body;
    const replies = chat.questionReplies(message, asked, questionText(asked), log.turnId);
    const event = log.draft("human_input_asked", asked);
    await log.writeOutputs(outputs, [...reasons, event, ...queuedReplies(log, replies)], true, replies);
  }

  /** The answer, or undefined once the question is out of time or the turn is to end; then no answer can come any more. */
  async #wait(
    asked: Asked,
    answered: Promise<Answer>,
    handle: QuestionHandle,
    withdrawn: AbortSignal | undefined,
  ): Promise<Answer | undefined> {
    const { signal, stopping, giveBack } = this.#scope;
    using scope = linked(signal, Math.max(0, Date.parse(asked.expires_at) - Date.now()));
    const onStop = (): void => giveBack();
    const onWithdrawn = (): void => scope.abort();
    withdrawn?.addEventListener("abort", onWithdrawn, { once: true });
    if (withdrawn?.aborted === true) onWithdrawn();
    if (stopping.aborted) onStop();
    else stopping.addEventListener("abort", onStop, { once: true });
    try {
      const over = new Promise<undefined>((resolve) => {
        if (scope.signal.aborted) resolve(undefined);
        scope.signal.addEventListener("abort", () => resolve(undefined), { once: true });
      });
      for (;;) {
        const given = await Promise.race([answered, over]);
        if (given !== undefined || handle.reserve()) return given;
        // An answer is on its way to the disk: it came in time.
        await handle.whenFree();
      }
    } finally {
      stopping.removeEventListener("abort", onStop);
      withdrawn?.removeEventListener("abort", onWithdrawn);
    }
  }

  async #end(asked: Asked, handle: QuestionHandle, withdrawn: AbortSignal | undefined): Promise<HumanAnswer> {
    const { delivery, log, chat, signal, stopping } = this.#scope;
    const over = signal.aborted ? signal : withdrawn?.aborted === true ? withdrawn : undefined;
    if (over !== undefined) {
      // A process that stops leaves the question open; a person who stops the turn withdraws it, and so does who asked.
      if (!stopping.aborted) await this.#storeAnswer(asked, "cancelled", { text: "", responderId: "" });
      throw over.reason;
    }
    const taken = takenAtTimeout(asked);
    const sentence = timeoutText(asked, taken.text);
    const { body } = delivery.work;
    // Where it was not asked, its end says nothing.
    const wasAsked = body.answersTo === undefined;
    const replies = wasAsked ? chat.replies(body, `${asked.request_id}-end`, sentence, log.turnId) : [];
    await this.#storeAnswer(asked, "timeout", { ...taken, responderId: "" }, replies);
    handle.close(`nobody had answered in time. ${sentence}`);
    return { ...taken, outcome: "timeout", responderId: "" };
  }

  async #storeAnswer(
    asked: Asked,
    outcome: Answered["outcome"],
    answer: Answer,
    replies: ReturnType<ChatPorts["replies"]> = [],
  ): Promise<void> {
    const { log, machines } = this.#scope;
    const { request_id, kind } = asked;
    const payload = { request_id, kind, outcome, answer: answer.text, responder_id: answer.responderId };
    const event = log.draft("human_input_answered", payload);
    // The message that was the answer ends with this turn, also when the next attempt has to find that out.
    const caused = answer.messageId === undefined ? event : { ...event, correlation_id: answer.messageId };
    const outputs = machines.feed({ kind: "human_answered", requestId: request_id });
    await log.writeOutputs(outputs, [caused, ...queuedReplies(log, replies)], true, replies);
  }
}

/** Events that tell that nobody waits for these answers any more. */
export function closeQuestions(questions: readonly EarlierQuestion[], log: TurnLog): EventDraft[] {
  return questions.map(({ asked: { request_id, kind } }) =>
    log.draft("human_input_answered", { request_id, kind, outcome: "cancelled", answer: "", responder_id: "" }),
  );
}

function fromEvent(asked: Asked, { outcome, answer, responder_id }: Answered): HumanAnswer {
  const optionId = asked.options.find(({ label }) => label === answer)?.id;
  return {
    outcome: outcome === "answered" ? "answered" : "timeout",
    text: answer,
    optionId,
    responderId: responder_id,
  };
}
