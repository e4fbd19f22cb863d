import { LRUCache } from "lru-cache";
import type { EventConsumer, Unsubscribe } from "../events/bus/system-bus.js";
import { createHistogram, type Family, type Reading, readFamily } from "./prometheus.js";

const bounds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600];
/** Messages on their way at the same time; what is beyond them is not timed. */
const mostOpen = 2000;

interface Begun {
  readonly channel: string;
  /** Unix ms. */
  readonly at: number;
}

/** How far behind each channel is: when it last brought and sent something, and how long both took. */
export class LagMetrics {
  readonly families: readonly Family[];
  readonly #accepted = new LRUCache<string, Begun>({ max: mostOpen });
  readonly #queued = new LRUCache<string, Begun>({ max: mostOpen });
  readonly #last = { in: new Map<string, number>(), out: new Map<string, number>() };
  readonly #answers = createHistogram(
    "maxclaw_answer_duration_seconds",
    "Time from accepting a message to the end of the turn that answers it.",
    bounds,
    "channel",
  );
  readonly #deliveries = createHistogram(
    "maxclaw_delivery_duration_seconds",
    "Time from a reply being stored to its platform having it.",
    bounds,
    "channel",
  );

  constructor() {
    const last = (name: string, help: string, of: ReadonlyMap<string, number>): Family => ({
      text: () => readFamily("gauge", name, help, readingsOf(of), "channel"),
    });
    this.families = [
      last(
        "maxclaw_channel_last_inbound_timestamp_seconds",
        "Unix time of the last message that the channel brought.",
        this.#last.in,
      ),
      last(
        "maxclaw_channel_last_outbound_timestamp_seconds",
        "Unix time of the last reply that the channel sent.",
        this.#last.out,
      ),
      this.#answers,
      this.#deliveries,
    ];
  }

  listen(bus: EventConsumer): readonly Unsubscribe[] {
    return [
      bus.on("user_message_queued", ({ timestamp, payload: { channel, message_id } }) => {
        const at = Date.parse(timestamp);
        this.#accepted.set(message_id, { channel, at });
        this.#last.in.set(channel, at);
      }),
      bus.on("turn_execution_complete", ({ timestamp, payload: { message_ids } }) => {
        for (const id of message_ids) this.#observe(this.#answers, this.#accepted, id, timestamp);
      }),
      bus.on(["turn_execution_failed", "turn_execution_cancelled"], ({ payload: { message_ids } }) => {
        for (const id of message_ids) this.#accepted.delete(id);
      }),
      bus.on("outbound_delivery_changed", ({ timestamp, payload: { status, channel, outbound_id } }) => {
        switch (status) {
          case "queued":
            this.#queued.set(outbound_id, { channel, at: Date.parse(timestamp) });
            break;
          case "sent":
            this.#observe(this.#deliveries, this.#queued, outbound_id, timestamp);
            this.#last.out.set(channel, Date.parse(timestamp));
            break;
          case "dead_letter":
          case "refused":
            this.#queued.delete(outbound_id);
            break;
          default:
        }
      }),
    ];
  }

  #observe(into: ReturnType<typeof createHistogram>, begun: LRUCache<string, Begun>, id: string, end: string): void {
    const found = begun.get(id);
    if (found === undefined) return;
    begun.delete(id);
    into.observe(Math.max(0, Date.parse(end) - found.at) / 1000, found.channel);
  }
}

function readingsOf(times: ReadonlyMap<string, number>): readonly Reading[] {
  return [...times].map(([channel, at]) => [at / 1000, channel]);
}
