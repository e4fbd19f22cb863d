import type { GatewayApi } from "../../../../src/api/gateway-api.js";
import { type GatewayEvent, isStored, type StoredEvent } from "../../../../src/events/event.js";
import type { Reactor } from "../../../../src/reactors/reactor.js";

/** A reactor that keeps everything the system bus tells, internal events included, in the order of telling. */
export function recordEvents(): Reactor & { readonly events: readonly GatewayEvent[] } {
  const events: GatewayEvent[] = [];
  const undo: (() => void)[] = [];
  return {
    name: "recorder",
    events,
    start: (bus) => void undo.push(bus.onAny((event) => events.push(event), { priority: 500 })),
    stop: () => {
      for (const one of undo.splice(0)) one();
    },
  };
}

/**
 * What each recorded chat held before the first event that was recorded of it. A chat whose log cannot be read, or lacks
 * something, is left out: there is nothing to check its story against.
 */
export async function readPast(
  api: Pick<GatewayApi, "events">,
  recorded: readonly GatewayEvent[],
): Promise<ReadonlyMap<string, readonly StoredEvent[]>> {
  const past = new Map<string, readonly StoredEvent[]>();
  for (const key of new Set(recorded.map((event) => event.session_key))) {
    if (key.startsWith("system:")) continue;
    const first = recorded.filter(isStored).find((event) => event.session_key === key)?.seq;
    // Nothing but its deletion, of one that an earlier process has written.
    if (first === undefined) continue;
    const earlier = first === 1 ? [] : await readUpTo(api, key, first);
    if (earlier.length === first - 1) past.set(key, earlier);
  }
  return past;
}

async function readUpTo(api: Pick<GatewayApi, "events">, key: string, seq: number): Promise<readonly StoredEvent[]> {
  try {
    const { events } = await api.events(key, { fromSequence: 0, limit: 10_000 });
    return events.filter((event) => event.seq < seq);
  } catch {
    return [];
  }
}
