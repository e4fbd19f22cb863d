import { newId } from "../../util/ids.js";
import type { EventOf, GatewayEvent } from "../event.js";
import type { EventConsumer, EventsOf } from "../system-bus.js";

/** What a client must be told to go on in the middle of a streamed answer. */
export interface StreamSnapshot {
  readonly messageId: string;
  readonly turnId: string | undefined;
  /** message_stream_start, at most one joined delta per kind and tool call, and the end where the answer is not stored yet. */
  readonly events: readonly GatewayEvent[];
}

/** The growing text of the answers that are being streamed right now, one per session, in memory only. */
export interface StreamSnapshots extends Disposable {
  /** The answer that is being streamed in this session, from its start to the moment its stored message is published. */
  snapshotOf(sessionKey: string): StreamSnapshot | undefined;
}

interface SnapshotOptions {
  /** How long text is kept whose stream was never ended, after its turn's terminal event. Default 300 s. */
  readonly ttlMs?: number;
  /** Sessions that stream at the same time; past that the longest unfinished one is forgotten. Default 1000. */
  readonly maxSessions?: number;
  /** Characters of one answer; a longer one gives no snapshot. Default 4 million. */
  readonly maxChars?: number;
}

type Delta = EventOf<"text_delta"> | EventOf<"thinking_delta"> | EventOf<"tool_input_delta">;

interface Joined {
  readonly last: Delta;
  readonly text: string;
}

interface Stream {
  readonly start: EventOf<"message_stream_start">;
  /** By kind, and by call id for tool input; in the order in which each began. */
  readonly joined: Map<string, Joined>;
  readonly toolCalls: Map<string, EventOf<"tool_call_start">>;
  end: EventOf<"message_stream_end"> | undefined;
  chars: number;
  timer: NodeJS.Timeout | undefined;
}

/** Above every other listener: a snapshot taken while an event is being delivered already holds it. */
const firstOfAll = 1000;

/** Listens on the system bus until disposed. */
export function openStreamSnapshots(bus: EventConsumer, options: SnapshotOptions = {}): StreamSnapshots {
  const streams = new Streams(options);
  const stop = bus.onAny((event) => streams.apply(event), { priority: firstOfAll });
  return {
    snapshotOf: (sessionKey) => streams.snapshotOf(sessionKey),
    [Symbol.dispose]() {
      stop();
      streams.freeAll();
    },
  };
}

/** The answers that are being streamed, by session. */
class Streams {
  readonly #options: Required<SnapshotOptions>;
  readonly #streams = new Map<string, Stream>();

  constructor({ ttlMs = 300_000, maxSessions = 1000, maxChars = 4_000_000 }: SnapshotOptions) {
    this.#options = { ttlMs, maxSessions, maxChars };
  }

  apply(event: GatewayEvent): void {
    switch (event.type) {
      case "message_stream_start":
        this.#begin(event);
        break;
      case "text_delta":
        this.#grow(event, "text", event.payload.text);
        break;
      case "thinking_delta":
        this.#grow(event, "thinking", event.payload.text);
        break;
      case "tool_input_delta":
        this.#grow(event, event.payload.tool_call_id, event.payload.partial_json);
        break;
      case "tool_call_start":
        this.#ofMessage(event)?.toolCalls.set(event.payload.tool_call_id, event);
        break;
      case "message_stream_end": {
        const stream = this.#ofMessage(event);
        if (stream !== undefined) stream.end = event;
        break;
      }
      case "assistant_message":
        if (this.#ofMessage(event) !== undefined) this.#free(event.session_key);
        break;
      case "turn_execution_start":
        this.#free(event.session_key);
        break;
      case "turn_execution_complete":
      case "turn_execution_failed":
      case "turn_execution_cancelled":
        this.#finish(event.session_key);
        break;
    }
  }

  snapshotOf(sessionKey: string): StreamSnapshot | undefined {
    const stream = this.#streams.get(sessionKey);
    // A pending timer means that the turn is over: its text is history, not something to follow.
    return stream === undefined || stream.timer !== undefined ? undefined : toSnapshot(stream);
  }

  freeAll(): void {
    for (const key of [...this.#streams.keys()]) this.#free(key);
  }

  #ofMessage({
    session_key,
    payload,
  }: EventsOf<"tool_call_start" | "message_stream_end" | "assistant_message">): Stream | undefined {
    const stream = this.#streams.get(session_key);
    return stream?.start.payload.message_id === payload.message_id ? stream : undefined;
  }

  #begin(start: EventOf<"message_stream_start">): void {
    this.#free(start.session_key);
    const oldest = this.#streams.keys().next();
    if (this.#streams.size >= this.#options.maxSessions && oldest.done !== true) this.#free(oldest.value);
    this.#streams.set(start.session_key, {
      start,
      joined: new Map(),
      toolCalls: new Map(),
      end: undefined,
      chars: 0,
      timer: undefined,
    });
  }

  #grow(delta: Delta, kind: string, text: string): void {
    const stream = this.#streams.get(delta.session_key);
    if (stream === undefined || !belongs(delta, stream)) return;
    stream.chars += text.length;
    if (stream.chars > this.#options.maxChars) {
      this.#free(delta.session_key);
      return;
    }
    stream.joined.set(kind, { last: delta, text: (stream.joined.get(kind)?.text ?? "") + text });
  }

  /** A stream that was ended has nothing more to tell; one that was not is given time. */
  #finish(sessionKey: string): void {
    const stream = this.#streams.get(sessionKey);
    if (stream === undefined) return;
    clearTimeout(stream.timer);
    if (stream.end !== undefined) {
      this.#free(sessionKey);
      return;
    }
    stream.timer = setTimeout(() => this.#free(sessionKey), this.#options.ttlMs);
    stream.timer.unref();
  }

  #free(sessionKey: string): void {
    const stream = this.#streams.get(sessionKey);
    if (stream === undefined) return;
    clearTimeout(stream.timer);
    this.#streams.delete(sessionKey);
  }
}

function belongs(delta: Delta, stream: Stream): boolean {
  return delta.type === "tool_input_delta"
    ? stream.toolCalls.has(delta.payload.tool_call_id)
    : delta.payload.message_id === stream.start.payload.message_id;
}

/** Fresh event ids: these events say more than the ones they are made of, and a client may have seen those. */
function toSnapshot(stream: Stream): StreamSnapshot {
  const events: GatewayEvent[] = [{ ...stream.start, event_id: newId("evt") }];
  for (const kind of ["thinking", "text"]) {
    const joined = stream.joined.get(kind);
    if (joined !== undefined) events.push(toDelta(joined));
  }
  for (const [id, call] of stream.toolCalls) {
    events.push({ ...call, event_id: newId("evt") });
    const input = stream.joined.get(id);
    if (input !== undefined) events.push(toDelta(input));
  }
  if (stream.end !== undefined) events.push({ ...stream.end, event_id: newId("evt") });
  return {
    messageId: stream.start.payload.message_id,
    turnId: stream.start.turn_id,
    events: events.map((event) => Object.freeze(event)),
  };
}

function toDelta({ last, text }: Joined): GatewayEvent {
  const event_id = newId("evt");
  return last.type === "tool_input_delta"
    ? { ...last, event_id, payload: { ...last.payload, partial_json: text } }
    : { ...last, event_id, payload: { ...last.payload, text } };
}
