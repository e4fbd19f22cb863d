import type { Engine } from "../../engine/engine.js";
import type { StreamSnapshots } from "../../events/folds/stream-snapshots.js";
import type { EventConsumer } from "../../events/system-bus.js";
import type { Logger } from "../../log.js";
import type { SessionStore } from "../../sessions/session-store.js";
import { assertSession } from "../sessions/assert-session.js";
import { type FeedSources, openSessionFeed } from "../sessions/feed.js";
import type { EventsApi } from "./events-api.js";
import { checkKey } from "./send-request.js";

export interface EventPorts {
  readonly engine: Pick<Engine, "events" | "lastSequence">;
  readonly bus: EventConsumer;
  readonly sessions: Pick<SessionStore, "exists">;
  readonly snapshots: StreamSnapshots;
  /** The session of the gateway's own events. */
  readonly systemKey: string;
  readonly log: Logger;
}

/** What has happened, and what happens. */
export function createEventOperations({ engine, bus, sessions, snapshots, systemKey, log }: EventPorts): EventsApi {
  const sources: FeedSources = {
    bus,
    events: (key, range) => engine.events(key, range),
    lastSequence: (key) => engine.lastSequence(key),
    snapshots,
    systemKey,
    log,
  };
  return {
    async events(key, { fromSequence, limit }) {
      if (key !== "system") await assertSession(sessions, key);
      return await engine.events(key === "system" ? systemKey : key, { afterSeq: fromSequence, limit });
    },
    subscribe(target, options, listener) {
      if (target !== "*" && target !== "system") checkKey(target);
      return openSessionFeed(sources, target, options, listener);
    },
  };
}
