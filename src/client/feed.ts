import type { GatewayEvent } from "../events/event.js";

/** Puts one session's events in order and drops repeats. */
export interface Feed {
  /** The seq of the last stored event that was passed on. */
  readonly lastSequence: number;
  accept(event: GatewayEvent): void;
  /** Forgets what waits; to be called before the past is asked for again. */
  reset(): void;
}

/** How long an event waits for those before it. A log may begin after 1 or have a rare gap, so the wait ends. */
const gapWaitMs = 1500;

/**
 * A connection that also follows `*` can see a live event of a session before that session's past has arrived. Such an
 * event, and all behind it, waits until the gap is filled.
 */
export function createFeed(fromSequence: number, deliver: (event: GatewayEvent) => void): Feed {
  let last = fromSequence;
  let waiting: GatewayEvent[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  function pass(event: GatewayEvent): void {
    if (event.seq !== null) {
      if (event.seq <= last) return;
      last = event.seq;
    }
    deliver(event);
  }

  /** Passes on what is due; with `force` also the first one behind a gap. */
  function drain(force: boolean): void {
    clearTimeout(timer);
    let isForced = force;
    for (let event = waiting[0]; event !== undefined; event = waiting[0]) {
      if (event.seq !== null && event.seq > last + 1) {
        if (!isForced) break;
        isForced = false;
      }
      waiting.shift();
      pass(event);
    }
    if (waiting.length > 0) timer = setTimeout(() => drain(true), gapWaitMs);
  }

  return {
    get lastSequence() {
      return last;
    },
    accept(event) {
      if (event.seq !== null && event.seq <= last) return;
      if (event.seq === last + 1 || (event.seq === null && waiting.length === 0)) {
        pass(event);
        if (waiting.length > 0) drain(false);
        return;
      }
      waiting.push(event);
      if (waiting.length === 1) timer = setTimeout(() => drain(true), gapWaitMs);
    },
    reset() {
      clearTimeout(timer);
      waiting = [];
    },
  };
}

/** Passes on events of any session, each stored one once. For `*` and for a choice of types, where gaps are normal. */
export function createLooseFeed(fromSequence: number, deliver: (event: GatewayEvent) => void): Feed {
  const lastOf = new Map<string, number>();
  let last = fromSequence;
  return {
    get lastSequence() {
      return last;
    },
    accept(event) {
      if (event.seq !== null) {
        if (event.seq <= (lastOf.get(event.session_key) ?? fromSequence)) return;
        lastOf.set(event.session_key, event.seq);
        last = event.seq;
      }
      deliver(event);
    },
    reset() {},
  };
}
