import type { GatewayEvent } from "../../../events/event.js";
import type { Logger } from "../../../log.js";
import type { Signal, Signals, Told } from "./signals.js";

/** A notification has room for 8000 bytes. */
const pieceLength = 7000;
/** Pieces of answers are told to the other nodes so often at most, each time all that came since. */
const everyMs = 100;
/** What is waiting to be told; more is dropped, since all of it is in the stored events that come after. */
const mostWaiting = 5000;
/** What has come in part. */
const mostIncomplete = 200;

/** Takes events that are never stored to the other nodes and from them. */
export class Transient {
  readonly #signals: Signals;
  readonly #log: Logger;
  readonly #onEvent: (event: GatewayEvent) => void;
  readonly #incomplete = new Map<string, string[]>();
  #waiting: GatewayEvent[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();

  /** `onEvent` gets those of other nodes. */
  constructor(signals: Signals, log: Logger, onEvent: (event: GatewayEvent) => void) {
    this.#signals = signals;
    this.#log = log;
    this.#onEvent = onEvent;
  }

  tell(event: GatewayEvent): void {
    const last = this.#waiting.at(-1);
    const joined = last === undefined ? undefined : join(last, event);
    if (joined !== undefined) this.#waiting[this.#waiting.length - 1] = joined;
    else if (this.#waiting.length < mostWaiting) this.#waiting.push(event);
    this.#timer ??= setTimeout(() => this.#flush(), everyMs);
  }

  /** A piece has come from another node. */
  take({ n, t }: Signal): void {
    if (t === undefined) return;
    const [id, index, count, text] = t;
    const name = `${n} ${id}`;
    const pieces = this.#incomplete.get(name) ?? [];
    pieces[index] = text;
    this.#incomplete.set(name, pieces);
    if (Object.keys(pieces).length === count) {
      this.#incomplete.delete(name);
      // The node that sent it has made it from the catalogue.
      this.#onEvent(JSON.parse(Buffer.from(pieces.join(""), "base64").toString("utf8")) as GatewayEvent);
    } else if (this.#incomplete.size > mostIncomplete) {
      const [oldest] = this.#incomplete.keys();
      if (oldest !== undefined) this.#incomplete.delete(oldest);
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#flush();
    await this.#sending;
  }

  #flush(): void {
    this.#timer = undefined;
    const events = this.#waiting;
    if (events.length === 0) return;
    this.#waiting = [];
    this.#sending = this.#sending
      .then(() => this.#signals.send(events.flatMap(toPieces)))
      .catch((error: unknown) => this.#log.debug("other nodes do not see the pieces of an answer", { error }));
  }
}

function toPieces(event: GatewayEvent): readonly Told[] {
  const text = Buffer.from(JSON.stringify(event)).toString("base64");
  const count = Math.ceil(text.length / pieceLength);
  return Array.from({ length: count }, (_, index) => ({
    t: [event.event_id, index, count, text.slice(index * pieceLength, (index + 1) * pieceLength)],
  }));
}

/** Two pieces of the same answer as one, with the id and place of the first. */
function join(one: GatewayEvent, next: GatewayEvent): GatewayEvent | undefined {
  if (one.session_key !== next.session_key || one.after_seq !== next.after_seq) return undefined;
  if (
    (one.type === "text_delta" && next.type === "text_delta") ||
    (one.type === "thinking_delta" && next.type === "thinking_delta")
  ) {
    if (one.payload.message_id !== next.payload.message_id) return undefined;
    // Of the same type, which the compiler has forgotten.
    return { ...one, payload: { ...one.payload, text: one.payload.text + next.payload.text } } as GatewayEvent;
  }
  if (one.type !== "tool_input_delta" || next.type !== "tool_input_delta") return undefined;
  if (one.payload.tool_call_id !== next.payload.tool_call_id) return undefined;
  const partial_json = one.payload.partial_json + next.payload.partial_json;
  return { ...one, payload: { ...one.payload, partial_json } };
}
