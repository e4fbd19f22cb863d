import { type Client, createClient, type EventsOf } from "../../client/node.js";
import { noticeOf } from "../../client/notices.js";
import type { EventType, Payload } from "../../events/catalogue.js";
import type { ContentPart } from "../../events/content.js";
import { visibleJson } from "../../util/text/visible.js";
import type { ApiClient } from "../gateway/api-client.js";
import type { HumanQuestion } from "./answer.js";
import { readQuestions } from "./waiting-questions.js";

export interface NewsListener {
  /** An answer to what nobody typed here: what a sub-agent has brought back, a scheduled job, another window. */
  onAnswer(text: string): void;
  /** One line about what goes on besides the answers. */
  onActivity(line: string): void;
  /** As in an answer, of the session that is named. */
  onQuestion(sessionKey: string, question: HumanQuestion, closed: AbortSignal): void;
}

export interface NewsSource {
  readonly client: Pick<ApiClient, "get">;
  /** Where the gateway is now. */
  readonly address: () => Promise<string>;
  readonly token: string | undefined;
}

const ownTypes = [
  "turn_execution_start",
  "user_message",
  "assistant_message",
  "turn_execution_complete",
  "turn_execution_failed",
  "turn_execution_cancelled",
  "subagent_state_changed",
  "human_input_asked",
  "human_input_answered",
] as const satisfies readonly EventType[];

/**
 * Follows what happens in a conversation besides the answers to what is typed here, and what its sub-agents ask. A
 * gateway that goes away is waited for. `isTyped`: a message that was typed here.
 */
export function followNews(
  sessionKey: string,
  source: NewsSource,
  isTyped: (messageId: string) => boolean,
  listener: NewsListener,
): Disposable {
  return new ChatNews(sessionKey, source, isTyped, listener);
}

class ChatNews implements Disposable {
  readonly #sessionKey: string;
  readonly #isTyped: (messageId: string) => boolean;
  readonly #listener: NewsListener;
  readonly #client: Client;
  /** Turns that nothing typed here has to do with. */
  readonly #foreign = new Set<string>();
  /** By request id: the questions that wait for an answer. */
  readonly #open = new Map<string, AbortController>();

  constructor(sessionKey: string, source: NewsSource, isTyped: (id: string) => boolean, listener: NewsListener) {
    this.#sessionKey = sessionKey;
    this.#isTyped = isTyped;
    this.#listener = listener;
    this.#client = createClient({ url: source.address, token: source.token });
    this.#client.subscribe(sessionKey, (event) => this.#onOwn(event), { types: ownTypes });
    this.#client.subscribe("*", (event) => this.#onQuestionEvent(event), {
      types: ["human_input_asked", "human_input_answered"],
    });
    // What was asked before this window, or while the gateway was away.
    this.#client.onOpen(() => void this.#askWaiting(source.client));
  }

  [Symbol.dispose](): void {
    this.#client.close();
    for (const closing of this.#open.values()) closing.abort();
  }

  #onOwn(event: EventsOf<(typeof ownTypes)[number]>): void {
    const turnId = event.turn_id ?? "";
    switch (event.type) {
      case "turn_execution_start":
        if (!event.payload.message_ids.some(this.#isTyped)) this.#foreign.add(turnId);
        return;
      case "user_message":
        // What is typed now joins that turn, and its answer is told as the one to it.
        if (this.#isTyped(event.payload.message_id)) this.#foreign.delete(turnId);
        return;
      case "assistant_message": {
        const text = textOf(event.payload.content);
        const { answers } = event.payload;
        // What answers a command is not part of the answer of its turn.
        const isNews = answers === undefined ? this.#foreign.has(turnId) : !this.#isTyped(answers);
        if (isNews && text !== "") this.#listener.onAnswer(text);
        return;
      }
      case "human_input_asked":
        if (this.#foreign.has(turnId)) this.#ask(this.#sessionKey, questionOf(event.payload));
        return;
      case "human_input_answered":
        this.#close(event.payload.request_id);
        return;
      case "subagent_state_changed":
        this.#showNotice(event);
        return;
      case "turn_execution_complete":
      case "turn_execution_failed":
      case "turn_execution_cancelled":
        if (this.#foreign.delete(turnId)) this.#showNotice(event);
        return;
      default:
        event satisfies never;
    }
  }

  #onQuestionEvent(event: EventsOf<"human_input_asked" | "human_input_answered">): void {
    if (!this.#isOfChild(event.session_key)) return;
    if (event.type === "human_input_answered") this.#close(event.payload.request_id);
    else this.#ask(event.session_key, fromChild(questionOf(event.payload)));
  }

  async #askWaiting(client: NewsSource["client"]): Promise<void> {
    // Without an answer: the next opening asks again.
    const questions = await readQuestions(client).catch(() => []);
    for (const question of questions)
      if (this.#isOfChild(question.sessionKey)) this.#ask(question.sessionKey, fromChild(question));
  }

  #isOfChild(key: string): boolean {
    return key.startsWith(`${this.#sessionKey}:spawn:`);
  }

  #ask(key: string, question: HumanQuestion): void {
    if (this.#open.has(question.requestId)) return;
    const closing = new AbortController();
    this.#open.set(question.requestId, closing);
    this.#listener.onQuestion(key, question, closing.signal);
  }

  #close(requestId: string): void {
    this.#open.get(requestId)?.abort();
    this.#open.delete(requestId);
  }

  #showNotice(event: Parameters<typeof noticeOf>[0]): void {
    const notice = noticeOf(event);
    if (notice !== undefined) this.#listener.onActivity(notice.text);
  }
}

function questionOf(asked: Payload<"human_input_asked">): HumanQuestion {
  const { request_id: requestId, kind, question, options, fields = [], allow_custom: allowCustom, input } = asked;
  const shown = input === undefined ? {} : { input: visibleJson(input) };
  return { requestId, kind, question, options, fields, allowCustom, ...shown };
}

function fromChild(question: HumanQuestion): HumanQuestion {
  return { ...question, question: `A sub-agent asks: ${question.question}` };
}

export function textOf(content: readonly ContentPart[]): string {
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}
