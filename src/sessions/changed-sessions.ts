import type { GatewayEvent } from "../events/event.js";

/** What tells which sessions have gone on since their documents were written. */
export interface ChangedSessions {
  /** Sessions that the engine wrote to lately. */
  recentSessions(): readonly string[];
  /** Set where other nodes write too, so that nothing here tells all of it. */
  readonly shared?: SharedSessions | undefined;
}

/** Sessions that other nodes go on with. */
export interface SharedSessions {
  readonly instanceId: string;
  /** Every session that has events, and up to where they reach. */
  lastSequences(): Promise<ReadonlyMap<string, number>>;
}

/** True for what another node says when it has deleted a session. */
export function isDeletedElsewhere(event: GatewayEvent, { instanceId }: SharedSessions): boolean {
  const { type, metadata, seq } = event;
  if (type !== "session_state_changed" || event.payload.to !== "deleted" || seq !== null) return false;
  return metadata.instance_id !== instanceId;
}
