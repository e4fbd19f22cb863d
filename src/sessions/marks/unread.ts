import { LRUCache } from "lru-cache";
import type { Engine } from "../../engine/engine.js";
import { textOf } from "../../events/content.js";
import type { StoredEvent } from "../../events/event.js";
import { depthOf } from "../../events/session-key.js";
import type { SessionSummary } from "../session.js";
import type { MarkedSessions } from "./marks.js";

/** What is further back is not counted. */
const mostEvents = 1000;
const mostKept = 1000;

interface Counted {
  readonly lastSequence: number;
  readonly readSeq: number | undefined;
  readonly unread: number;
}

/** Counts what the owner has not seen: what the assistant and guests have said since the owner read there, or wrote there. */
export class UnreadCounts {
  readonly #engine: Pick<Engine, "events">;
  readonly #marks: Pick<MarkedSessions, "of" | "since">;
  readonly #counted = new LRUCache<string, Counted>({ max: mostKept });

  constructor(engine: Pick<Engine, "events">, marks: Pick<MarkedSessions, "of" | "since">) {
    this.#engine = engine;
    this.#marks = marks;
  }

  async count({ key, lastMessageAt }: SessionSummary, lastSequence: number): Promise<number> {
    const { readSeq } = this.#marks.of(key);
    const isOld = readSeq === undefined && !(Date.parse(lastMessageAt ?? "") > this.#marks.since);
    // What a sub-agent says is for the assistant.
    if (lastSequence <= (readSeq ?? 0) || isOld || depthOf(key) > 0) return 0;
    const known = this.#counted.get(key);
    if (known?.lastSequence === lastSequence && known.readSeq === readSeq) return known.unread;
    const unread = await this.#read(key, Math.max(readSeq ?? 0, lastSequence - mostEvents));
    this.#counted.set(key, { lastSequence, readSeq, unread });
    return unread;
  }

  /** A log that cannot be read has nothing to show. */
  async #read(key: string, afterSeq: number): Promise<number> {
    const page = await this.#engine.events(key, { afterSeq, limit: mostEvents }).catch(() => ({ events: [] }));
    const isScheduled = key.startsWith("cron:");
    let unread: number[] = [];
    for (const event of page.events) {
      if (Date.parse(event.timestamp) <= this.#marks.since) continue;
      // Who writes somewhere has seen what is there; nobody writes what a job asks.
      if (event.type === "user_message" && event.payload.by !== "guest" && !isScheduled) unread = [];
      if (event.type === "session_history_changed" && event.payload.kind === "undo") {
        const { to_seq = 0 } = event.payload;
        unread = unread.filter((seq) => seq <= to_seq);
      }
      if (isNew(event)) unread.push(event.seq);
    }
    return unread.length;
  }
}

function isNew(event: StoredEvent): boolean {
  switch (event.type) {
    case "user_message":
      return event.payload.by === "guest";
    case "assistant_message":
      return (event.payload.final || event.payload.partial) && textOf(event.payload.content) !== "";
    case "turn_execution_failed":
      return true;
    case "session_history_changed":
      return event.payload.kind === "said";
    default:
      return false;
  }
}
