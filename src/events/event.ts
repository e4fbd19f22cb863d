import { newId } from "../util/ids.js";
import type { EventType, Payload } from "./catalogue.js";

/** The envelope of every event, as it is on wire and disk. Frozen. */
export interface EventOf<T extends EventType> {
  readonly schema_version: "1.0";
  /** `evt_` and 20 hex digits. */
  readonly event_id: string;
  readonly type: T;
  /** The chat's session key, or `system:<node>`. */
  readonly session_key: string;
  /** 1..N without gaps within a session; null when the event is not stored. */
  readonly seq: number | null;
  /** For events that are not stored: the last stored seq of the session when it was made. */
  readonly after_seq?: number;
  /** Counts the deltas of one streamed message from 0. */
  readonly delta_index?: number;
  /** ISO 8601 UTC with milliseconds; never goes back within a session. Of what a fork has copied: when it happened there. */
  readonly timestamp: string;
  /** `channel:telegram`, `agent`, `provider:openai`, `tool:exec`, `client`, `gateway` … */
  readonly source: string;
  /** On every event from turn_execution_start to the terminal one. */
  readonly turn_id?: string;
  /** The inbound message or client command that began it. */
  readonly correlation_id?: string;
  /** The stored event directly before this one in cause. */
  readonly causation_id?: string;
  readonly payload: Payload<T>;
  readonly metadata: {
    readonly instance_id: string;
    readonly agent_id?: string;
    /**
     * So many numbers right before this one are not in the log on purpose: they were details that were left out of it later
     * (`events.detailDays`), or a conversation of the same key that was deleted.
     */
    readonly dropped?: number;
  };
}

/** Any event. Switching on `type` narrows `payload`. */
export type GatewayEvent = { [T in EventType]: EventOf<T> }[EventType];

/** An event that is in a session log. */
export type StoredEvent = GatewayEvent & { readonly seq: number };

/** What a producer gives the engine, which adds session, seq, time and instance. */
export interface DraftOf<T extends EventType> {
  readonly event_id: string;
  readonly type: T;
  readonly source: string;
  readonly turn_id?: string;
  readonly correlation_id?: string;
  readonly causation_id?: string;
  readonly agent_id?: string;
  readonly delta_index?: number;
  /** When it happened, for the copy of an event: ISO 8601. Default: now. */
  readonly at?: string;
  readonly payload: Payload<T>;
}

export type EventDraft = { [T in EventType]: DraftOf<T> }[EventType];

export type DraftContext = Pick<
  EventDraft,
  "source" | "turn_id" | "correlation_id" | "causation_id" | "agent_id" | "delta_index"
>;

/** A draft with a fresh event id. */
export function draft<T extends EventType>(type: T, payload: Payload<T>, context: DraftContext): EventDraft {
  // The union is distributive over T, which TypeScript cannot see from a generic type argument.
  return { event_id: newId("evt"), type, payload, ...context } as EventDraft;
}

/** The draft that an event was made from, with the same ids. */
export function toSameDraft(event: StoredEvent): EventDraft {
  const { event_id, type, source, turn_id, correlation_id, causation_id, payload, metadata } = event;
  // The union is distributive over the type, which destructuring hides.
  return {
    event_id,
    type,
    source,
    ...(turn_id === undefined ? {} : { turn_id }),
    ...(correlation_id === undefined ? {} : { correlation_id }),
    ...(causation_id === undefined ? {} : { causation_id }),
    ...(metadata.agent_id === undefined ? {} : { agent_id: metadata.agent_id }),
    payload,
  } as EventDraft;
}

/** True for what is published, and never stored, once a session was deleted. */
export function isDeletion(event: EventDraft | GatewayEvent): boolean {
  return event.type === "session_state_changed" && event.payload.to === "deleted";
}

/** True when the event has a place in a session log. */
export function isStored(event: GatewayEvent): event is StoredEvent {
  return event.seq !== null;
}
