import { type GatewayEvent, isDeletion } from "../events/event.js";

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

/** True for the first event behind a deletion, where this node still has what was deleted. */
export function isNextLife({ seq, metadata: { dropped = 0 } }: GatewayEvent, lastSequence: number): boolean {
  return lastSequence > 0 && dropped >= lastSequence && seq === dropped + 1;
}

/** True for what another node says when it has deleted a session. */
export function isDeletedElsewhere(event: GatewayEvent, { instanceId }: SharedSessions): boolean {
  return isDeletion(event) && event.seq === null && event.metadata.instance_id !== instanceId;
}
