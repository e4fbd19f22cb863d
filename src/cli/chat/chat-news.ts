import { createClient, type EventsOf } from "../../client/node.js";
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
  /** One line about what goes on beside the answers. */
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
 * Follows what happens in a conversation beside the answers to what is typed here, and what its sub-agents ask. A
 * gateway that goes away is waited for. `isTyped`: a message that was typed here.
 */
export function followNews(
  sessionKey: string,
  source: NewsSource,
  isTyped: (messageId: string) => boolean,
  listener: NewsListener,
): Disposable {
  const client = createClient({ url: source.address, token: source.token });
  /** Turns that nothing typed here has to do with. */
  const foreign = new Set<string>();
  const open = new Map<string, AbortController>();

  const ask = (key: string, question: HumanQuestion): void => {
    if (open.has(question.requestId)) return;
    const closing = new AbortController();
    open.set(question.requestId, closing);
    listener.onQuestion(key, question, closing.signal);
  };
  const close = (requestId: string): void => {
    open.get(requestId)?.abort();
    open.delete(requestId);
  };
  const isOfChild = (key: string): boolean => key.startsWith(`${sessionKey}:spawn:`);

  const onOwn = (event: EventsOf<(typeof ownTypes)[number]>): void => {
    const turnId = event.turn_id ?? "";
    switch (event.type) {
      case "turn_execution_start":
        if (!event.payload.message_ids.some(isTyped)) foreign.add(turnId);
        return;
      case "user_message":
        // What is typed now joins that turn, and its answer is told as the one to it.
        if (isTyped(event.payload.message_id)) foreign.delete(turnId);
        return;
      case "assistant_message": {
        const text = textOf(event.payload.content);
        if (foreign.has(turnId) && text !== "") listener.onAnswer(text);
        return;
      }
      case "human_input_asked":
        if (foreign.has(turnId)) ask(sessionKey, questionOf(event.payload));
        return;
      case "human_input_answered":
        close(event.payload.request_id);
        return;
      case "subagent_state_changed":
        tell(event);
        return;
      case "turn_execution_complete":
      case "turn_execution_failed":
      case "turn_execution_cancelled":
        if (foreign.delete(turnId)) tell(event);
        return;
      default:
        event satisfies never;
    }
  };
  const tell = (event: Parameters<typeof noticeOf>[0]): void => {
    const notice = noticeOf(event);
    if (notice !== undefined) listener.onActivity(notice.text);
  };

  client.subscribe(sessionKey, onOwn, { types: ownTypes });
  client.subscribe(
    "*",
    (event) => {
      if (!isOfChild(event.session_key)) return;
      if (event.type === "human_input_answered") close(event.payload.request_id);
      else ask(event.session_key, fromChild(questionOf(event.payload)));
    },
    { types: ["human_input_asked", "human_input_answered"] },
  );
  // What was asked before this window, or while the gateway was away.
  client.onOpen(() => {
    readQuestions(source.client).then(
      (questions) => {
        for (const question of questions)
          if (isOfChild(question.sessionKey)) ask(question.sessionKey, fromChild(question));
      },
      // The next opening asks again.
      () => undefined,
    );
  });
  return {
    [Symbol.dispose]() {
      client.close();
      for (const closing of open.values()) closing.abort();
    },
  };
}

function questionOf(asked: Payload<"human_input_asked">): HumanQuestion {
  const { request_id: requestId, kind, question, options, fields = [], allow_custom: allowCustom, input } = asked;
  const shown = input === undefined ? {} : { input: visibleJson(input) };
  return { requestId, kind, question, options, fields, allowCustom, ...shown };
}

function fromChild(question: HumanQuestion): HumanQuestion {
  return { ...question, question: `A sub-agent asks: ${question.question}` };
}

function textOf(content: readonly ContentPart[]): string {
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}
