import type { MessageBus } from "../../bus/message-bus.js";
import type { OutboundMessage } from "../../bus/messages.js";
import { messageOf } from "../../errors.js";
import { answerMark } from "../../events/answer-mark.js";
import type { EventConsumer } from "../../events/bus/system-bus.js";
import type { Payload } from "../../events/catalogue.js";
import type { EventOf } from "../../events/event.js";
import { channelOf, clientChannels, rootKeyOf } from "../../events/session-key.js";
import type { Logger } from "../../log.js";
import { cutText } from "../../util/text/cut-text.js";
import type { OpenQuestion, OpenQuestions } from "./open-questions.js";
import { questionText } from "./text.js";

type Asked = Payload<"human_input_asked">;

export interface PassOnPorts {
  readonly questions: Pick<OpenQuestions, "onOpened" | "has" | "showIn">;
  readonly events: EventConsumer;
  /** Somebody has one of these sessions open on the page, or its inbox. */
  readonly isSeen: (sessionKeys: readonly string[]) => boolean;
  /** The owner's own chat elsewhere that was used last, as `channel:sender`. Nobody else reads along there. */
  readonly ownersChat: () => Promise<string | undefined>;
  readonly there: ElsewherePorts;
  readonly messages: Pick<MessageBus, "publishOutbound">;
  /** The id of the event that asked. */
  readonly causeOf: (question: OpenQuestion) => Promise<string | undefined>;
  /** Where each question was passed on to: written before it is sent. */
  readonly passed: {
    get(id: string): unknown;
    put(id: string, value: unknown): Promise<void>;
    delete(id: string): Promise<void>;
  };
  /** Never for 0. */
  readonly afterSeconds: () => number;
  readonly now: () => number;
  readonly log: Logger;
}

/** How a question is shown in the chat that it is passed on to. The ids are the same each time. */
export interface ElsewherePorts {
  readonly messagesFor: (asked: Asked, sessionKey: string, chat: string, content: string) => readonly OutboundMessage[];
  /** One short text. */
  readonly noticeFor: (requestId: string, sessionKey: string, chat: string, content: string) => OutboundMessage;
  /** Whether what was sent there can be changed: then the question itself says how it ended. */
  readonly canChange: (chat: string) => boolean;
}

/** Whether somebody has opened it meanwhile, or could not be reached. */
const againMs = 15_000;
/** After a start the pages have to say first that they are looked at. */
const leastMs = 5000;
const longestQuoted = 200;

/**
 * Passes a question of the page or the terminal that nobody sees on to the owner's other channel, once, also over a kill.
 * It can be answered in either place, and the first answer counts.
 */
export class PassedQuestions {
  readonly #ports: PassOnPorts;
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  /** Passed on and still open. */
  readonly #sent = new Map<string, OpenQuestion>();

  constructor(ports: PassOnPorts) {
    this.#ports = ports;
  }

  /** Returns the undo. */
  start(): () => void {
    const { questions, events } = this.#ports;
    const undo = [
      questions.onOpened((question) => this.#onOpened(question)),
      events.on("human_input_answered", (event) => void this.#onAnswered(event)),
    ];
    return () => {
      for (const each of undo) each();
      for (const id of [...this.#timers.keys()]) this.#forget(id);
    };
  }

  #onOpened(question: OpenQuestion): void {
    const { chatKey, asked } = question;
    const { passed, afterSeconds, now } = this.#ports;
    // In a chat of a platform it is where people look.
    if (!clientChannels.has(channelOf(chatKey))) return;
    const before = passed.get(asked.request_id);
    if (typeof before === "string") return void this.#send(question, before);
    const after = afterSeconds();
    if (after === 0) return;
    const askedAt = Date.parse(asked.expires_at) - asked.timeout_seconds * 1000;
    const dueMs = askedAt + after * 1000 - now();
    this.#lookIn(question, dueMs > 0 ? dueMs : Math.min(leastMs, after * 1000));
  }

  async #onAnswered({ payload, session_key, event_id }: EventOf<"human_input_answered">): Promise<void> {
    const { passed, log } = this.#ports;
    const { request_id: id } = payload;
    this.#forget(id);
    const question = this.#sent.get(id);
    this.#sent.delete(id);
    const chat = passed.get(id);
    if (typeof chat !== "string") return;
    try {
      if (question !== undefined) await this.#tellEnd(question, chat, payload, event_id);
      await passed.delete(id);
    } catch (error) {
      log.warn(`The end of a question could not be told: ${messageOf(error)}`, { session: session_key });
    }
  }

  /** To who was asked there, and has not answered it there. */
  async #tellEnd(
    { sessionKey, asked }: OpenQuestion,
    chat: string,
    answered: Payload<"human_input_answered">,
    cause: string,
  ): Promise<void> {
    const { there, messages } = this.#ports;
    if (there.canChange(chat) || answered.responder_id === chat) return;
    const content = `This question is closed: ${cutText(asked.question, longestQuoted)}\n\n${answerMark(answered)}`;
    await messages.publishOutbound(there.noticeFor(asked.request_id, sessionKey, chat, content), cause);
  }

  #lookIn(question: OpenQuestion, ms: number): void {
    const { request_id: id } = question.asked;
    this.#forget(id);
    const timer = setTimeout(() => {
      this.#timers.delete(id);
      void this.#look(question);
    }, ms);
    timer.unref();
    this.#timers.set(id, timer);
  }

  async #look(question: OpenQuestion): Promise<void> {
    const { questions, isSeen, ownersChat, passed, log } = this.#ports;
    const { sessionKey, chatKey, asked } = question;
    if (!questions.has(asked.request_id)) return;
    if (isSeen([sessionKey, chatKey, rootKeyOf(sessionKey)])) return this.#lookIn(question, againMs);
    try {
      const chat = await ownersChat();
      if (chat === undefined || !questions.has(asked.request_id)) return;
      await passed.put(asked.request_id, chat);
      await this.#send(question, chat);
    } catch (error) {
      log.warn(`A question could not be passed on: ${messageOf(error)}`, { session: sessionKey });
      this.#lookIn(question, againMs);
    }
  }

  /** What is sent already is not sent again: the engine knows its ids. */
  async #send(question: OpenQuestion, chat: string): Promise<void> {
    const { questions, messages, there, causeOf, log } = this.#ports;
    const { sessionKey, chatKey, asked } = question;
    this.#sent.set(asked.request_id, question);
    questions.showIn(asked.request_id, chat);
    const where = channelOf(chatKey) === "cli" ? "in the terminal" : "on the web page";
    // The owner is asked here, and own words only count where nothing else does: the chat has a conversation of its own.
    const shown: Asked = {
      ...asked,
      approver: "asker",
      allow_custom: asked.allow_custom && asked.options.length === 0,
    };
    const content = `A question waits for you ${where}. You can answer it here, too.\n\n${questionText(shown)}`;
    try {
      const cause = await causeOf(question);
      for (const message of there.messagesFor(shown, sessionKey, chat, content))
        await messages.publishOutbound(message, cause);
    } catch (error) {
      log.warn(`A question could not be passed on: ${messageOf(error)}`, { session: sessionKey });
    }
  }

  #forget(id: string): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }
}
