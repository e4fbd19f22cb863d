import { draft, type EventDraft } from "../../events/event.js";
import type { ChannelStatus } from "../gateway-status.js";

/** What a connection is about to do, or why it does not work. */
export interface ConnectionDetail {
  readonly attempt?: number | undefined;
  readonly delayMs?: number | undefined;
  readonly reason?: string | undefined;
}

/** How each channel is connected. */
export class ChannelStates {
  readonly #states = new Map<string, ChannelStatus>();
  readonly #logEvent: (event: EventDraft) => void;
  readonly #titleOf: (name: string) => ChannelStatus["title"];
  readonly #toDoOf: (name: string) => ChannelStatus["toDo"];

  /**
   * `off`: channels that are switched on and cannot be used, each with why. `titleOf`: how people call a channel. `toDoOf`:
   * what its owner must do.
   */
  constructor(
    off: ReadonlyMap<string, string>,
    logEvent: (event: EventDraft) => void,
    titleOf: (name: string) => ChannelStatus["title"],
    toDoOf: (name: string) => ChannelStatus["toDo"] = () => undefined,
  ) {
    for (const [name, reason] of off) this.turnOff(name, reason);
    this.#logEvent = logEvent;
    this.#titleOf = titleOf;
    this.#toDoOf = toDoOf;
  }

  /** It is switched on and cannot be used. */
  turnOff(name: string, reason: string): void {
    this.#states.set(name, { name, state: "off", reason, since: new Date().toISOString() });
  }

  /** It is switched off. */
  forget(name: string): void {
    this.#states.delete(name);
  }

  list(): readonly ChannelStatus[] {
    return [...this.#states.values()].map((state) => {
      const title = this.#titleOf(state.name);
      const toDo = this.#toDoOf(state.name);
      return { ...state, ...(title === undefined ? {} : { title }), ...(toDo === undefined ? {} : { toDo }) };
    });
  }

  begin(name: string): void {
    this.#states.set(name, { name, state: "connecting", since: new Date().toISOString() });
  }

  /** The state that is entered; the same one again is a proof of life. */
  enter(
    name: string,
    to: Exclude<ChannelStatus["state"], "off">,
    { attempt, delayMs, reason }: ConnectionDetail,
  ): void {
    const before = this.#states.get(name);
    const from = before?.state ?? "connecting";
    const now = new Date().toISOString();
    const since = from === to ? (before?.since ?? now) : now;
    const lastSeenAt = to === "connected" ? now : before?.lastSeenAt;
    this.#states.set(name, {
      name,
      state: to,
      since,
      ...(reason === undefined ? {} : { reason }),
      ...(lastSeenAt === undefined ? {} : { lastSeenAt }),
    });
    if (from === "off" || from === to) return;
    const payload = { peer: "channel" as const, name, from, to, attempt, delay_ms: delayMs, reason };
    this.#logEvent(draft("connection_state_changed", payload, { source: `channel:${name}` }));
  }
}
