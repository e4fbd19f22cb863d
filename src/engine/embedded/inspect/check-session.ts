import type { StoredEvent } from "../../../events/event.js";
import { droppedBefore } from "../../left-out.js";

/** Something in the stored events that should not be. */
export interface EventProblem {
  readonly kind:
    | "damaged"
    /** The system does not let anybody read it. */
    | "unreadable"
    | "gap"
    | "repeat"
    | "order"
    | "time"
    /** Names a cause that is not stored before it. */
    | "cause"
    /** Does not lead back to an accepted message. */
    | "reply"
    | "foreign"
    /** Written by a newer version. */
    | "version"
    | "journal";
  /** One sentence. */
  readonly message: string;
  readonly sessionKey?: string;
  readonly file?: string;
  readonly line?: number;
  readonly seq?: number;
  readonly eventId?: string;
}

export interface EventPosition {
  readonly file: string;
  /** From 1; undefined in the journal. */
  readonly line?: number;
}

/** Where the chain of causes of an event begins: an accepted message's id, something else, or nobody can tell. */
type Root = { readonly messageId: string } | "other" | "unknown";

const replies: ReadonlySet<string> = new Set([
  "assistant_message",
  "outbound_delivery_changed",
  "turn_execution_complete",
  "turn_execution_failed",
  "turn_execution_cancelled",
]);

/** Walks the events of one session as they are stored and tells what is wrong with them. */
export class SessionCheck {
  readonly #key: string;
  readonly #onProblem: (problem: EventProblem) => void;
  readonly #roots = new Map<string, Root>();
  #last: number;
  #lastTime = "";
  /** Since the last event that could be read. */
  #damaged: EventProblem[] = [];
  readonly #found: { readonly problem: EventProblem; readonly gap?: { readonly from: number; readonly to: number } }[] =
    [];
  /** Which events the log itself names as lost. */
  readonly #namedLost: { readonly from_seq: number; readonly to_seq: number }[] = [];
  /** Causes that are not in this session, with what to say should they be nowhere else. */
  readonly missingCauses = new Map<string, EventProblem>();

  /** `firstSeq`: 1, or what follows on the session's deletion. */
  constructor(key: string, firstSeq: number, report: (problem: EventProblem) => void) {
    this.#key = key;
    this.#last = firstSeq - 1;
    this.#onProblem = report;
  }

  get lastSeq(): number {
    return this.#last;
  }

  damaged(position: EventPosition, byte: number): void {
    const message = `line ${position.line} (byte ${byte}) is damaged: its checksum is wrong or it is cut off`;
    this.#damaged.push({ kind: "damaged", message, sessionKey: this.#key, ...position });
  }

  /** The log ends here. `next` is the event that the journal goes on with: a torn end that it makes up for does no harm. */
  endLog(next: StoredEvent | undefined): void {
    if (next !== undefined && next.seq <= this.#last + 1) this.#damaged = [];
    else this.#reportDamaged();
  }

  #report(problem: EventProblem): void {
    this.#found.push({ problem });
  }

  #reportDamaged(): number {
    const count = this.#damaged.length;
    for (const problem of this.#damaged) this.#report(problem);
    this.#damaged = [];
    return count;
  }

  add(event: StoredEvent, position: EventPosition): void {
    const about = { sessionKey: this.#key, ...position, seq: event.seq, eventId: event.event_id };
    const report = (kind: EventProblem["kind"], message: string): void => this.#report({ kind, message, ...about });
    if (event.session_key !== this.#key) {
      report("foreign", `an event of ${event.session_key} is in this log`);
      return;
    }
    const isKnown = this.#roots.has(event.event_id);
    if (event.seq <= this.#last) {
      if (isKnown) report("repeat", `event ${event.seq} is stored a second time`);
      else report("order", `an event with the number ${event.seq} comes after number ${this.#last}`);
      if (!isKnown) this.#roots.set(event.event_id, "unknown");
      return;
    }
    this.#checkGap(event, this.#reportDamaged(), about);
    if (event.type === "session_log_mended") this.#namedLost.push(...event.payload.lost);
    if (isKnown) report("repeat", `event ${event.seq} has the id of an earlier one, ${event.event_id}`);
    if (event.timestamp < this.#lastTime) report("time", `event ${event.seq} is older than the one before it`);
    this.#last = event.seq;
    this.#lastTime = event.timestamp;
    this.#checkCause(event, report, about);
  }

  /** All events were added. What a log says that it has lost, and what would follow from it, is told where it was found. */
  settle(): void {
    for (const { gap, problem } of this.#found)
      if (
        gap === undefined ||
        !this.#namedLost.some(({ from_seq, to_seq }) => from_seq <= gap.from && to_seq >= gap.to)
      )
        this.#onProblem(problem);
    this.#found.length = 0;
    if (this.#namedLost.length > 0) this.missingCauses.clear();
  }

  #checkGap(event: StoredEvent, damagedLines: number, about: Omit<EventProblem, "kind" | "message">): void {
    const seq = event.seq - droppedBefore(event);
    const missing = seq - this.#last - 1;
    if (missing <= 0 || missing === damagedLines) return;
    const which = missing === 1 ? `event ${seq - 1} is` : `events ${this.#last + 1} to ${seq - 1} are`;
    const problem: EventProblem = { kind: "gap", message: `${which} missing`, ...about };
    this.#found.push({ problem, gap: { from: this.#last + 1, to: seq - 1 } });
  }

  #checkCause(
    event: StoredEvent,
    report: (kind: EventProblem["kind"], message: string) => void,
    about: Omit<EventProblem, "kind" | "message">,
  ): void {
    const root = this.#rootOf(event);
    this.#roots.set(event.event_id, root);
    const { causation_id: cause, correlation_id: correlation } = event;
    if (cause !== undefined && !this.#roots.has(cause)) {
      const message = `event ${event.seq} (${event.type}) names ${cause} as its cause, which is not stored before it`;
      this.missingCauses.set(cause, { kind: "cause", message, ...about });
    }
    if (!replies.has(event.type) || root === "unknown") return;
    if (correlation === undefined && event.turn_id === undefined) return;
    if (root === "other")
      report("reply", `event ${event.seq} (${event.type}) does not lead back to an accepted message`);
    else if (correlation !== undefined && root.messageId !== correlation)
      report(
        "reply",
        `event ${event.seq} (${event.type}) is about ${correlation}, but leads back to ${root.messageId}`,
      );
  }

  #rootOf(event: StoredEvent): Root {
    if (event.type === "user_message_queued") return { messageId: event.payload.message_id };
    // The notices of damage follow from it, and answer nobody.
    if (event.type === "session_log_mended") return "unknown";
    if (event.causation_id === undefined) return "other";
    return this.#roots.get(event.causation_id) ?? "unknown";
  }
}
