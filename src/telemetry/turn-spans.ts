import { LRUCache } from "lru-cache";
import type { EventConsumer, EventsOf, Unsubscribe } from "../events/bus/system-bus.js";
import type { Usage } from "../events/content.js";
import type { EventOf } from "../events/event.js";
import { cutText } from "../util/text/cut-text.js";
import { type Facts, failedStatus, type Span, spanIdOf, spanKinds, toAttributes, toNanos, traceIdOf } from "./span.js";

export interface TurnSpansOptions {
  readonly add: (span: Span) => void;
  /** What was said and what tools were given goes along. */
  readonly content: boolean;
  /** Takes secrets out of a text. */
  readonly mask: (text: string) => string;
}

type TurnEnd = "turn_execution_complete" | "turn_execution_failed" | "turn_execution_cancelled";

/** Begun and not ended; times are Unix ms. */
interface OpenCall {
  readonly messageId: string;
  readonly model: string;
  readonly startedAt: number;
  endedAt?: number;
  usage?: Usage;
  stopReason?: string;
  errorType?: string;
  output?: string;
}

interface OpenTurn {
  startedAt: number;
  facts: Facts;
  call?: OpenCall;
  /** The answer whose tool calls run. */
  lastCallId?: string;
  input?: string;
}

interface OpenTool {
  readonly startedAt: number;
  readonly facts: Facts;
}

interface Drawn {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
  readonly name: string;
  readonly kind: number;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly facts: Facts;
  readonly errorType?: string | undefined;
}

/** Of what is open at once; a turn beyond that is shown without what came before. */
const mostTurns = 500;
const mostOpen = 2000;
/** In characters; a message is cut before it is written as JSON, which may make it longer. */
const longestText = 16_000;
const longestMessage = 2000;

/**
 * Turns events into spans: a turn, below it its model calls and the deliveries of its replies, and below a model call the
 * tools that it asked for. The ids come from those of the events, so that what goes on after a restart is of the same trace.
 */
export class TurnSpans {
  readonly #options: TurnSpansOptions;
  readonly #turns = new LRUCache<string, OpenTurn>({ max: mostTurns });
  readonly #tools = new LRUCache<string, OpenTool>({ max: mostOpen });
  readonly #sends = new LRUCache<string, number>({ max: mostOpen });

  constructor(options: TurnSpansOptions) {
    this.#options = options;
  }

  /** Returns the undo. */
  listen(bus: EventConsumer): Unsubscribe {
    const undo = [
      bus.on("turn_execution_start", (event) => this.#startTurn(event)),
      bus.on("user_message", (event) => this.#noteInput(event)),
      bus.on("message_stream_start", (event) => this.#startCall(event)),
      bus.on("message_stream_end", (event) => this.#endCall(event)),
      bus.on("llm_retry_scheduled", ({ turn_id, payload: { code } }) => this.#failCall(turn_id, code)),
      bus.on("assistant_message", (event) => this.#noteAnswer(event)),
      bus.on("tool_execution_start", (event) => this.#startTool(event)),
      bus.on("tool_execution_complete", (event) => this.#endTool(event)),
      bus.on(["turn_execution_complete", "turn_execution_failed", "turn_execution_cancelled"], (event) =>
        this.#endTurn(event),
      ),
      bus.on("outbound_delivery_changed", (event) => this.#deliver(event)),
    ];
    return () => {
      for (const stop of undo) stop();
    };
  }

  #startTurn({ turn_id: id, timestamp, session_key, metadata, payload }: EventOf<"turn_execution_start">): void {
    if (id === undefined) return;
    const { attempt, queued_ms } = payload;
    const facts = {
      "gen_ai.agent.id": metadata.agent_id,
      "gen_ai.conversation.id": spanIdOf(session_key),
      "maxclaw.attempt": attempt,
      "maxclaw.queued_ms": queued_ms,
    };
    this.#turns.set(id, { startedAt: Date.parse(timestamp), facts });
  }

  #noteInput({ turn_id: id, payload: { content } }: EventOf<"user_message">): void {
    const turn = id === undefined ? undefined : this.#turns.get(id);
    if (turn === undefined || !this.#options.content) return;
    const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
    turn.input = turn.input === undefined ? text : `${turn.input}\n${text}`;
  }

  #startCall({ turn_id: id, timestamp, payload: { message_id, model } }: EventOf<"message_stream_start">): void {
    const turn = id === undefined ? undefined : this.#turns.get(id);
    if (id === undefined || turn === undefined) return;
    this.#closeCall(id, turn, Date.parse(timestamp));
    turn.call = { messageId: message_id, model, startedAt: Date.parse(timestamp) };
    turn.lastCallId = message_id;
  }

  #endCall({ turn_id: id, timestamp, payload }: EventOf<"message_stream_end">): void {
    const call = id === undefined ? undefined : this.#turns.get(id)?.call;
    if (call?.messageId !== payload.message_id) return;
    call.endedAt = Date.parse(timestamp);
    call.usage = payload.usage;
    call.stopReason = payload.stop_reason;
  }

  #failCall(id: string | undefined, code: string): void {
    const call = id === undefined ? undefined : this.#turns.get(id)?.call;
    if (call !== undefined) call.errorType = code;
  }

  /** Its span is complete now. */
  #noteAnswer({ turn_id: id, timestamp, payload: { message_id, content } }: EventOf<"assistant_message">): void {
    const turn = id === undefined ? undefined : this.#turns.get(id);
    if (id === undefined || turn?.call?.messageId !== message_id) return;
    const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
    if (this.#options.content) turn.call.output = text;
    this.#closeCall(id, turn, Date.parse(timestamp));
  }

  #closeCall(id: string, turn: OpenTurn, now: number): void {
    const { call } = turn;
    if (call === undefined) return;
    turn.call = undefined;
    const slash = call.model.indexOf("/");
    const model = call.model.slice(slash + 1);
    const provider = slash === -1 ? undefined : call.model.slice(0, slash);
    turn.facts = { "gen_ai.provider.name": provider, ...turn.facts };
    this.#draw({
      traceId: traceIdOf(id),
      spanId: spanIdOf(call.messageId),
      parentSpanId: spanIdOf(id),
      name: `chat ${model}`,
      kind: spanKinds.client,
      startedAt: call.startedAt,
      endedAt: call.endedAt ?? now,
      facts: {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model,
        "gen_ai.response.finish_reasons": call.stopReason === undefined ? undefined : [call.stopReason],
        ...usageFacts(call.usage),
        "gen_ai.output.messages": this.#messages("assistant", call.output, call.stopReason),
      },
      errorType: call.errorType ?? (call.stopReason === "error" ? "_OTHER" : undefined),
    });
  }

  #startTool({ timestamp, payload }: EventOf<"tool_execution_start">): void {
    const facts = {
      "gen_ai.tool.name": payload.tool_name,
      "gen_ai.tool.call.id": payload.tool_call_id,
      "gen_ai.tool.type": payload.origin === "mcp" ? "extension" : "function",
      "gen_ai.tool.call.arguments": this.#options.content ? JSON.stringify(payload.input) : undefined,
    };
    this.#tools.set(payload.tool_execution_id, { startedAt: Date.parse(timestamp), facts });
  }

  #endTool({ turn_id: id, timestamp, payload }: EventOf<"tool_execution_complete">): void {
    const { tool_execution_id, tool_name, duration_ms, is_error, error_code, output } = payload;
    const begun = this.#tools.get(tool_execution_id);
    this.#tools.delete(tool_execution_id);
    if (id === undefined) return;
    const endedAt = Date.parse(timestamp);
    this.#draw({
      traceId: traceIdOf(id),
      spanId: spanIdOf(tool_execution_id),
      parentSpanId: spanIdOf(this.#turns.get(id)?.lastCallId ?? id),
      name: `execute_tool ${tool_name}`,
      kind: spanKinds.internal,
      startedAt: begun?.startedAt ?? endedAt - duration_ms,
      endedAt,
      facts: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool_name,
        ...begun?.facts,
        "gen_ai.tool.call.result": this.#options.content ? output : undefined,
      },
      errorType: is_error ? (error_code ?? "_OTHER") : undefined,
    });
  }

  #endTurn(event: EventsOf<TurnEnd>): void {
    const { turn_id: id } = event;
    if (id === undefined) return;
    const endedAt = Date.parse(event.timestamp);
    const durationMs = event.type === "turn_execution_cancelled" ? 0 : event.payload.duration_ms;
    const turn = this.#turns.get(id) ?? { startedAt: endedAt - durationMs, facts: {} };
    const code = event.type === "turn_execution_failed" ? event.payload.code : undefined;
    if (turn.call !== undefined && turn.call.stopReason === "error") turn.call.errorType ??= code;
    this.#closeCall(id, turn, endedAt);
    this.#turns.delete(id);
    this.#draw({
      traceId: traceIdOf(id),
      spanId: spanIdOf(id),
      name: "invoke_agent maxclaw",
      kind: spanKinds.internal,
      startedAt: turn.startedAt,
      endedAt,
      facts: {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "maxclaw",
        ...turn.facts,
        ...factsOfEnd(event),
        "gen_ai.input.messages": this.#messages("user", turn.input),
      },
      errorType: code,
    });
  }

  #deliver({ turn_id: id, timestamp, payload }: EventOf<"outbound_delivery_changed">): void {
    const { outbound_id, attempt, status, channel } = payload;
    const at = Date.parse(timestamp);
    if (status === "queued") return;
    if (status === "sending") {
      this.#sends.set(outbound_id, at);
      return;
    }
    const startedAt = this.#sends.get(outbound_id);
    this.#sends.delete(outbound_id);
    // That it was given up is not an attempt of its own.
    if (startedAt === undefined) return;
    this.#draw({
      traceId: traceIdOf(id ?? outbound_id),
      spanId: spanIdOf(`${outbound_id} ${attempt} ${startedAt}`),
      parentSpanId: id === undefined ? undefined : spanIdOf(id),
      name: `send ${channel}`,
      kind: spanKinds.producer,
      startedAt,
      endedAt: at,
      facts: {
        "messaging.system": channel,
        "messaging.operation.name": "send",
        "messaging.operation.type": "send",
        "maxclaw.attempt": attempt,
      },
      errorType: status === "sent" ? undefined : status,
    });
  }

  /** As the conventions' JSON schema of messages has it. */
  #messages(role: string, text: string | undefined, stopReason?: string): string | undefined {
    if (text === undefined) return undefined;
    const finish = stopReason === undefined ? {} : { finish_reason: stopReason };
    const content = cutText(this.#options.mask(text), longestMessage);
    return JSON.stringify([{ role, parts: [{ type: "text", content }], ...finish }]);
  }

  #draw({ startedAt, endedAt, facts, errorType, parentSpanId, ...span }: Drawn): void {
    const clean = (text: string): string => cutText(this.#options.mask(text), longestText);
    this.#options.add({
      ...span,
      ...(parentSpanId === undefined ? {} : { parentSpanId }),
      startTimeUnixNano: toNanos(startedAt),
      endTimeUnixNano: toNanos(Math.max(startedAt, endedAt)),
      attributes: toAttributes({ ...facts, "error.type": errorType }, clean),
      ...(errorType === undefined ? {} : { status: { code: failedStatus } }),
    });
  }
}

function factsOfEnd(event: EventsOf<TurnEnd>): Facts {
  switch (event.type) {
    case "turn_execution_complete": {
      const { usage, cost_usd, iterations, stop_reason } = event.payload;
      return {
        ...usageFacts(usage),
        "gen_ai.response.finish_reasons": [stop_reason],
        "maxclaw.cost_usd": cost_usd,
        "maxclaw.iterations": iterations,
      };
    }
    case "turn_execution_failed":
      return usageFacts(event.payload.usage);
    case "turn_execution_cancelled":
      return { "maxclaw.cancelled_by": event.payload.reason };
    default:
      return event satisfies never;
  }
}

/** The conventions count cached tokens as input too. */
function usageFacts(usage: Usage | undefined): Facts {
  if (usage === undefined) return {};
  const { input_tokens, cache_read_tokens, cache_write_tokens, output_tokens } = usage;
  return {
    "gen_ai.usage.input_tokens": input_tokens + cache_read_tokens + cache_write_tokens,
    "gen_ai.usage.cache_read.input_tokens": cache_read_tokens,
    "gen_ai.usage.cache_creation.input_tokens": cache_write_tokens,
    "gen_ai.usage.output_tokens": output_tokens,
  };
}
