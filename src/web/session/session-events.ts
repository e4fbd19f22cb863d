import type { GatewayEvent } from "../../events/event.js";
import { applyEvents } from "./view-model.js";
import { emptyView, type ViewState } from "./view-state.js";
import { noticeWords } from "./words.js";

/** The events of a session as far as they are loaded, and the view that they make. */
export class SessionEvents {
  readonly #key: string;
  #view: ViewState;
  /** What the view was made from, without the deltas of finished turns, to make it again when older events are loaded. */
  #log: GatewayEvent[] = [];
  #waiting: GatewayEvent[] = [];

  constructor(key: string) {
    this.#key = key;
    this.#view = emptyView(key);
  }

  /** Without the events that wait for `settle`. */
  get view(): ViewState {
    return this.#view;
  }

  /** How many there are. */
  get length(): number {
    return this.#log.length;
  }

  /** Begins again with these. */
  replace(events: readonly GatewayEvent[]): void {
    this.#log = [...events];
    this.#waiting = [];
    this.#view = applyEvents(emptyView(this.#key), events);
  }

  /** Puts the events up to `end` before those that are loaded. */
  prepend(events: readonly GatewayEvent[], end: number): void {
    this.#log = [...events.filter(({ seq }) => seq !== null && seq <= end), ...this.#log];
    this.#waiting = [];
    this.#view = applyEvents(emptyView(this.#key), this.#log);
  }

  /** Takes a live event; the view has it after `settle`. */
  add(event: GatewayEvent): void {
    this.#log.push(event);
    const isEnd = event.type.startsWith("turn_execution_") && event.type !== "turn_execution_start";
    if (isEnd) this.#log = this.#log.filter(({ seq }) => seq !== null);
    this.#waiting.push(event);
  }

  /** The session is deleted: that is all that is left to say. */
  end(): void {
    this.replace([]);
    const at = new Date().toISOString();
    const said = { key: "notice:deleted", at, seq: undefined, turnId: undefined, detail: undefined };
    const text = noticeWords.t("deleted");
    this.#view = { ...this.#view, items: [{ ...said, kind: "notice", tone: "warning", text }] };
  }

  settle(): void {
    if (this.#waiting.length === 0) return;
    this.#view = applyEvents(this.#view, this.#waiting);
    this.#waiting = [];
  }
}
