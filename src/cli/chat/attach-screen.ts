import { noticeOf } from "../../client/notices.js";
import type { EventType } from "../../events/catalogue.js";
import type { ContentPart } from "../../events/content.js";
import type { EventOf, GatewayEvent } from "../../events/event.js";
import { visible } from "../../util/text/visible.js";
import { dim, harmless } from "../text/output.js";

/** Where a session is shown. */
export type ScreenOutput = Pick<NodeJS.WritableStream, "write"> & { readonly isTTY?: boolean };

/** Shows a session's events as a conversation: the same lines for the past and for what happens now. */
export interface AttachScreen {
  show(event: GatewayEvent): void;
  /** Ends a line that is being written. */
  endLine(): void;
}

const maxInputChars = 100;

/**
 * What is on a terminal cannot be taken back. An answer that broke off, because its model call is made again or the
 * gateway was killed, goes on where it was as far as the new one says the same; where it does not, that is said.
 */
export function createAttachScreen(output: ScreenOutput): AttachScreen {
  /** The message that is being streamed. */
  let messageId = "";
  let streamed = "";
  /** What of an answer that is not stored yet is on the screen. */
  let shown = "";
  let isLineOpen = false;

  const write = (text: string): void => {
    if (text === "") return;
    output.write(harmless(text));
    isLineOpen = !text.endsWith("\n");
  };
  const endLine = (): void => {
    if (isLineOpen) output.write("\n");
    isLineOpen = false;
  };
  const line = (text: string, isQuiet = true): void => {
    endLine();
    output.write(`${isQuiet ? dim(harmless(text), output) : harmless(text)}\n`);
  };

  /** Brings the screen to this text of the answer. */
  const showText = (text: string, isWhole: boolean): void => {
    if (text.startsWith(shown)) write(text.slice(shown.length));
    else if (!isWhole && shown.startsWith(text)) return;
    else {
      line("· the answer began again:");
      write(text);
    }
    shown = text;
  };
  const forget = (): void => {
    endLine();
    messageId = "";
    streamed = "";
    shown = "";
  };

  const showDelta = (event: EventOf<"text_delta">): void => {
    if (event.payload.message_id !== messageId) return;
    const isInStep = shown.length === streamed.length && shown === streamed;
    streamed += event.payload.text;
    if (isInStep) {
      write(event.payload.text);
      shown = streamed;
    } else showText(streamed, false);
  };

  const showMessage = ({ payload }: EventOf<"assistant_message">): void => {
    const text = textOf(payload.content);
    if (text !== "" || shown !== "") showText(text, true);
    forget();
  };

  const showHistory = ({ payload, turn_id }: EventOf<"session_history_changed">): void => {
    for (const { role, content } of payload.messages ?? []) {
      if (role === "user") line(quoted(content), false);
      else line(role === "assistant" ? content : `· ${content}`, role !== "assistant");
    }
    const text = historyTexts[payload.kind];
    // A command's own answer says it.
    if (text !== undefined && turn_id === undefined) line(`· ${text}`);
  };

  const showNotice = (event: GatewayEvent): void => {
    const notice = noticeOf(event);
    if (notice !== undefined) line(`${notice.tone === "plain" ? "·" : "!"} ${notice.text}`, notice.tone === "plain");
  };
  const showEnd = (event: GatewayEvent): void => {
    showNotice(event);
    forget();
  };

  const handlers: Handlers = {
    message_stream_start({ payload }) {
      messageId = payload.message_id;
      streamed = "";
    },
    text_delta: showDelta,
    assistant_message: showMessage,
    user_message_queued({ payload: { content, sender_name, result_of } }) {
      if (result_of !== undefined) return line(`· ${textOf(content).split("\n")[0]}`);
      const said = [textOf(content), ...filesOf(content)].filter((part) => part !== "").join("\n");
      line(quoted(sender_name === undefined ? said : `${sender_name}: ${said}`), false);
    },
    tool_execution_start: ({ payload }) =>
      line(`· ${payload.tool_name} ${cut(visible(JSON.stringify(payload.input)))}`),
    tool_execution_complete: ({ payload }) => line(`  ${payload.is_error ? "!" : "→"} ${payload.summary}`),
    session_history_changed: showHistory,
    artifact_state_changed(event) {
      showNotice(event);
      const { status, path } = event.payload;
      if (status === "ready" && path !== undefined) line(`  ${path}`, false);
    },
    outbound_delivery_changed(event) {
      const { status, content = "" } = event.payload;
      // What a turn sends out stands in the turn's own messages already, but for what its tools send.
      const isOwn = event.turn_id === undefined || /^exe_\w+-n/.test(event.payload.outbound_id);
      if (status === "queued" && isOwn && content !== "") line(content, false);
      else showNotice(event);
    },
    turn_execution_complete: showEnd,
    turn_execution_failed: showEnd,
    turn_execution_cancelled: showEnd,
  };

  return {
    show(event) {
      // Each entry takes exactly the events of its own key, which the index access cannot express.
      const handler = (handlers[event.type] ?? showNotice) as (event: GatewayEvent) => void;
      try {
        handler(event);
      } catch {
        // A payload of another shape than this build knows: still one line.
        line(`· ${event.type}`);
      }
    },
    endLine,
  };
}

type Handlers = { readonly [T in EventType]?: (event: EventOf<T>) => void };

const historyTexts: Readonly<Record<string, string>> = {
  new: "New conversation",
  undo: "Undone",
  fork: "Copied from another conversation",
  edit: "History edited",
  deletion: "Messages deleted",
};

function textOf(content: readonly ContentPart[]): string {
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

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
