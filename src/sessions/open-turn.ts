import type { Payload } from "../events/catalogue.js";
import { type ContentPart, textOf } from "../events/content.js";
import type { DocumentMessage, TimelineEntry } from "./session.js";

const detailLimit = 2000;

/** What a turn that runs has said, called, sent and asked so far; at its end that becomes one line of the document. */
export class OpenTurn {
  #text = "";
  #hasMore = false;
  readonly #parts: ContentPart[] = [];
  readonly #timeline: TimelineEntry[] = [];
  /** Where the open questions are in the timeline, by request. */
  readonly #asked = new Map<string, number>();

  /** What is said between tool calls is in the timeline, what is said last is the answer. */
  say(content: readonly ContentPart[]): void {
    const text = textOf(content);
    this.#parts.push(...content);
    this.#hasMore ||= content.some((part) => part.type === "tool_use");
    if (text === "") return;
    this.#text = text;
    this.#timeline.push({ kind: "text", text });
  }

  call({ tool_call_id, output, is_error, tool_name, summary }: Payload<"tool_execution_complete">): void {
    this.#parts.push({ type: "tool_result", tool_call_id, content: output, is_error });
    this.#note({ type: tool_name, summary, detail: output.slice(0, detailLimit) });
  }

  /** A file that the assistant sends. */
  send({ status, path, filename, mime_type, size_bytes }: Payload<"artifact_state_changed">): void {
    if (status !== "ready" || path === undefined) return;
    const size = size_bytes === undefined ? {} : { size_bytes };
    this.#parts.push({ type: "file", mime_type, path, filename, ...size });
    this.#hasMore = true;
  }

  ask({ request_id, question }: Payload<"human_input_asked">): void {
    this.#asked.set(request_id, this.#timeline.length);
    this.#note({ type: "question", summary: question });
    this.#hasMore = true;
  }

  answer({ request_id, outcome, answer }: Payload<"human_input_answered">): void {
    const index = this.#asked.get(request_id);
    const activity = index === undefined ? undefined : this.#timeline[index]?.activity;
    if (index === undefined || activity === undefined) return;
    const detail = outcome === "answered" ? answer : outcome === "timeout" ? "Nobody answered in time." : "Withdrawn.";
    this.#timeline[index] = { kind: "activity", activity: { ...activity, detail } };
  }

  /** Undefined when it said and did nothing. */
  toLine(): Pick<DocumentMessage, "content" | "parts" | "timeline"> | undefined {
    if (this.#text === "" && this.#parts.length === 0) return undefined;
    return { content: this.#text, ...(this.#hasMore ? { parts: this.#parts, timeline: this.#timeline } : {}) };
  }

  #note(activity: NonNullable<TimelineEntry["activity"]>): void {
    this.#timeline.push({ kind: "activity", activity });
  }
}
