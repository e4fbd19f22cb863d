import type { EventType, Payload } from "../../../../src/events/catalogue.js";
import type { EventOf } from "../../../../src/events/event.js";
import { newId } from "../../../../src/util/ids.js";

type Envelope = Partial<Pick<EventOf<EventType>, "session_key" | "seq" | "turn_id" | "event_id">>;

/** A whole event, as the engine would publish it. */
export function makeEvent<T extends EventType>(type: T, payload: Payload<T>, envelope: Envelope = {}): EventOf<T> {
  return {
    schema_version: "1.0",
    event_id: newId("evt"),
    type,
    session_key: "test:1",
    seq: 1,
    timestamp: "2026-01-01T00:00:00.000Z",
    source: "gateway",
    payload,
    metadata: { instance_id: "gw_test" },
    ...envelope,
  };
}
