import { historyNotice, noticeOf } from "../../client/notices.js";
import type { EventType, Payload } from "../../events/catalogue.js";
import type { ContentPart } from "../../events/content.js";
import type { EventOf, GatewayEvent } from "../../events/event.js";
import { visible } from "../../util/text/visible.js";
import { dim, harmless } from "../text/output.js";
import { textOf } from "./chat-news.js";
import { AnswerText } from "./markdown/answer-text.js";

/** Where a session is shown. */
export type ScreenOutput = Pick<NodeJS.WritableStream, "write"> & { readonly isTTY?: boolean };

const maxInputChars = 100;

/**
 * Shows a session's events as a conversation: the same lines for the past and for what happens now.
 *
 * What is on a terminal cannot be taken back. An answer that broke off, because its model call is made again or the
 * gateway was killed, goes on where it was as far as the new one says the same; where it does not, that is said.
 */
export class AttachScreen {
  readonly #lines: ScreenLines;
  readonly #answer: StreamedAnswer;

  constructor(output: ScreenOutput) {
    this.#lines = new ScreenLines(output);
    this.#answer = new StreamedAnswer(this.#lines);
  }

  show(event: GatewayEvent): void {
    // Each entry takes exactly the events of its own key, which the index access cannot express.
    const handler = this.#handlers[event.type] as ((event: GatewayEvent) => void) | undefined;
    try {
      if (handler === undefined) this.#showNotice(event);
      else handler(event);
    } catch {
      // A payload of another shape than this build knows: still one line.
      this.#lines.line(`· ${event.type}`);
    }
  }

  /** Ends a line that is being written. */
  endLine(): void {
    this.#lines.endLine();
  }

  readonly #handlers: Handlers = {
    message_stream_start: ({ payload }) => this.#answer.begin(payload.message_id),
    text_delta: ({ payload }) => this.#answer.add(payload.message_id, payload.text),
    assistant_message: ({ payload }) => this.#answer.end(textOf(payload.content)),
    user_message_queued: ({ payload }) => this.#showQueued(payload),
    tool_execution_start: ({ payload }) =>
      this.#lines.line(`· ${payload.tool_name} ${cut(visible(JSON.stringify(payload.input)))}`),
    tool_execution_complete: ({ payload }) => this.#lines.line(`  ${payload.is_error ? "!" : "→"} ${payload.summary}`),
    session_history_changed: (event) => this.#showHistory(event),
    artifact_state_changed: (event) => this.#showArtifact(event),
    outbound_delivery_changed: (event) => this.#showDelivery(event),
    turn_execution_complete: (event) => this.#showEnd(event),
    turn_execution_failed: (event) => this.#showEnd(event),
    turn_execution_cancelled: (event) => this.#showEnd(event),
  };

  #showQueued({ content, sender_name, result_of, retry_of }: Payload<"user_message_queued">): void {
    if (retry_of !== undefined) return;
    if (result_of !== undefined) {
      this.#lines.line(`· ${textOf(content).split("\n")[0]}`);
      return;
    }
    const said = [textOf(content), ...filesOf(content)].filter((part) => part !== "").join("\n");
    this.#lines.line(quoted(sender_name === undefined ? said : `${sender_name}: ${said}`), false);
  }

  #showHistory({ payload, turn_id }: EventOf<"session_history_changed">): void {
    for (const { role, content } of payload.messages ?? []) {
      if (role === "user") this.#lines.line(quoted(content), false);
      else if (role === "assistant") this.#lines.answer(content);
      else this.#lines.line(`· ${content}`);
    }
    const text = historyNotice(payload.kind);
    // A command's own answer says it.
    if (text !== undefined && turn_id === undefined) this.#lines.line(`· ${text}`);
  }

  #showArtifact(event: EventOf<"artifact_state_changed">): void {
    this.#showNotice(event);
    const { status, path } = event.payload;
    if (status === "ready" && path !== undefined) this.#lines.line(`  ${path}`, false);
  }

  #showDelivery(event: EventOf<"outbound_delivery_changed">): void {
    const { status, content = "" } = event.payload;
    // What a turn sends out is in the turn's own messages already, except for what its tools send.
    const isOwn = event.turn_id === undefined || /^exe_\w+-n/.test(event.payload.outbound_id);
    if (status === "queued" && isOwn && content !== "") this.#lines.answer(content);
    else this.#showNotice(event);
  }

  #showEnd(event: GatewayEvent): void {
    this.#showNotice(event);
    this.#answer.forget();
  }

  #showNotice(event: GatewayEvent): void {
    const notice = noticeOf(event);
    if (notice === undefined) return;
    this.#lines.line(`${notice.tone === "plain" ? "·" : "!"} ${notice.text}`, notice.tone === "plain");
  }
}

/** Lines of a terminal, the last of which may still be open. */
class ScreenLines {
  readonly #output: ScreenOutput;
  readonly #text: AnswerText;

  constructor(output: ScreenOutput) {
    this.#output = output;
    this.#text = new AnswerText(output);
  }

  /** Goes on with the open line of an answer. */
  write(text: string): void {
    this.#text.write(text);
  }

  line(text: string, isQuiet = true): void {
    this.endLine();
    this.#output.write(`${isQuiet ? dim(harmless(text), this.#output) : harmless(text)}\n`);
  }

  /** A whole answer, on lines of its own. */
  answer(text: string): void {
    this.endLine();
    this.write(text);
    this.endLine();
  }

  endLine(): void {
    this.#text.endLine();
  }
}

/** The answer that is being streamed, as far as it is on the screen. */
class StreamedAnswer {
  readonly #lines: ScreenLines;
  #messageId = "";
  #streamed = "";
  /** What of an answer that is not stored yet is on the screen. */
  #shown = "";

  constructor(lines: ScreenLines) {
    this.#lines = lines;
  }

  begin(messageId: string): void {
    this.#messageId = messageId;
    this.#streamed = "";
  }

  add(messageId: string, text: string): void {
    if (messageId !== this.#messageId) return;
    const isInStep = this.#shown.length === this.#streamed.length && this.#shown === this.#streamed;
    this.#streamed += text;
    if (isInStep) {
      this.#lines.write(text);
      this.#shown = this.#streamed;
    } else this.#show(this.#streamed, false);
  }

  end(text: string): void {
    if (text !== "" || this.#shown !== "") this.#show(text, true);
    this.forget();
  }

  forget(): void {
    this.#lines.endLine();
    this.#messageId = "";
    this.#streamed = "";
    this.#shown = "";
  }

  /** Brings the screen to this text of the answer. */
  #show(text: string, isWhole: boolean): void {
    if (text.startsWith(this.#shown)) this.#lines.write(text.slice(this.#shown.length));
    else if (!isWhole && this.#shown.startsWith(text)) return;
    else {
      this.#lines.line("· the answer began again:");
      this.#lines.write(text);
    }
    this.#shown = text;
  }
}

type Handlers = { readonly [T in EventType]?: (event: EventOf<T>) => void };

function filesOf(content: readonly ContentPart[]): readonly string[] {
  return content.flatMap((part) =>
    part.type === "file" || part.type === "image" ? [`[${part.filename ?? part.path}]`] : [],
  );
}

function quoted(text: string): string {
  return text.replaceAll(/^/gm, "> ");
}

function cut(text: string): string {
  return text.length > maxInputChars ? `${text.slice(0, maxInputChars)} …` : text;
}
