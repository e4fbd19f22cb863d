import { cutText } from "../../../util/text/cut-text.js";
import { addUsage, noUsage, textOf } from "../../content.js";
import type { EventOf, StoredEvent } from "../../event.js";
import { modelUsesOf } from "../../model-use.js";
import { channelOf } from "../../session-key.js";
import type { Stored } from "./parts.js";
import type { TurnBegin, TurnLine } from "./turn-line.js";

const longestWords = 120;

/** The turns of a piece of a session's log, each in one line. */
export class TurnLines {
  readonly #lines = new Map<string, TurnLine>();
  readonly #queued = new Map<string, EventOf<"user_message_queued">>();

  /** Oldest first. */
  get lines(): readonly TurnLine[] {
    return [...this.#lines.values()];
  }

  apply(event: StoredEvent): void {
    if (event.type === "user_message_queued") this.#queued.set(event.payload.message_id, event);
    if (event.turn_id === undefined) return;
    if (event.type === "turn_execution_start") this.#begin(event.turn_id, event);
    const line = this.#lines.get(event.turn_id);
    if (line === undefined) return;
    // Its replies may arrive long after it.
    if (line.endedAt === undefined) line.lastSeq = event.seq;
    this.#use(line, event);
    this.#change(line, event);
  }

  /** An attempt after a restart begins the same turn again. */
  #begin(turnId: string, event: Stored<"turn_execution_start">): void {
    const { seq, timestamp, session_key: sessionKey, payload } = event;
    if (this.#lines.has(turnId)) return;
    const [id = ""] = payload.message_ids;
    const queued = this.#queued.get(id);
    this.#lines.set(turnId, {
      turnId,
      state: "running",
      began: {
        at: queued?.timestamp ?? new Date(Date.parse(timestamp) - payload.queued_ms).toISOString(),
        words: queued === undefined ? "" : firstWords(textOf(queued.payload.content)),
        channel: queued?.payload.channel ?? channelOf(sessionKey),
        sender: queued === undefined ? "" : (queued.payload.sender_name ?? queued.payload.sender_id),
        origin: originOf(id, queued),
      },
      queuedMs: payload.queued_ms,
      used: { modelCalls: 0, toolCalls: 0, usage: noUsage, unpricedCalls: 0 },
      firstSeq: seq,
      lastSeq: seq,
    });
  }

  #use({ used }: TurnLine, event: StoredEvent): void {
    for (const { usage, cost_usd } of modelUsesOf(event)) {
      used.usage = addUsage(used.usage, usage);
      if (cost_usd === undefined) used.unpricedCalls += 1;
      else used.costUsd = (used.costUsd ?? 0) + cost_usd;
    }
  }

  #change(line: TurnLine, event: StoredEvent): void {
    switch (event.type) {
      case "user_message":
        // The log of a fork, or a long wait, may lack how the message came in.
        if (line.began.words === "") line.began.words = firstWords(withoutHead(textOf(event.payload.content)));
        return;
      case "assistant_message":
        if (event.source !== "gateway") line.used.modelCalls += 1;
        return;
      case "tool_execution_start":
        line.used.toolCalls += 1;
        return;
      case "turn_execution_complete":
        end(line, "complete", event.timestamp, event.payload.duration_ms);
        return;
      case "turn_execution_failed":
        end(line, "failed", event.timestamp, event.payload.duration_ms);
        line.failure = event.payload.message;
        return;
      case "turn_execution_cancelled":
        end(line, "cancelled", event.timestamp, undefined);
        line.failure = event.payload.reason;
        return;
      default:
    }
  }
}

function end(line: TurnLine, state: TurnLine["state"], at: string, durationMs: number | undefined): void {
  line.state = state;
  line.endedAt = at;
  line.durationMs = durationMs ?? Math.max(0, Date.parse(at) - Date.parse(line.began.at) - line.queuedMs);
}

function originOf(id: string, queued: EventOf<"user_message_queued"> | undefined): TurnBegin["origin"] {
  if (id.startsWith("heartbeat:")) return "heartbeat";
  if (id.startsWith("cron:")) return "job";
  return queued?.payload.result_of === undefined ? "message" : "result";
}

function firstWords(text: string): string {
  return cutText(text.replace(/\s+/g, " ").trim(), longestWords);
}

/** What the gateway has put before the words for the model. */
function withoutHead(text: string): string {
  const at = text.startsWith("<now>") ? text.indexOf("\n\n") : -1;
  return at === -1 ? text : text.slice(at + 2);
}
