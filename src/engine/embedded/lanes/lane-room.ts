import { EngineError } from "../../../errors.js";
import type { LongLane, Work } from "../../engine.js";
import type { WorkItem, WorkTable } from "./work-table.js";

export interface LaneLimits {
  readonly pendingPerKey: number;
  readonly bytesPerKey: number;
  /** Of all lanes together. */
  readonly bytes: number;
}

export const defaultLaneLimits: LaneLimits = {
  pendingPerKey: 10_000,
  bytesPerKey: 16 * 1024 * 1024,
  bytes: 32 * 1024 * 1024,
};

/** A lane has room for so many, whatever the others hold: a stuck chat takes no room from those that go on. */
const alwaysRoomFor = 100;
/** What must act at once is let in beyond the limit. */
const reserve = { pieces: 100, bytes: 1024 * 1024 };

/**
 * What waits is in the journal, and is in memory too: therefore it has a limit, by number and by size.
 *
 * @throws {EngineError} `lane_full`
 */
export function assertRoom(table: WorkTable, { queue, key }: Work, limits: LaneLimits, isUrgent: boolean): void {
  const { count, bytes, bytesOfAll } = table.sizeOf(queue, key);
  const more = isUrgent ? reserve : { pieces: 0, bytes: 0 };
  const isSmall = bytes < limits.bytesPerKey + more.bytes && bytesOfAll < limits.bytes + more.bytes;
  if (count < Math.min(alwaysRoomFor, limits.pendingPerKey)) return;
  if (count < limits.pendingPerKey + more.pieces && isSmall) return;
  throw new EngineError(`${key} has ${count} messages waiting, and no room for more`, { kind: "lane_full" });
}

/** The lanes of messages in which at least so many wait. */
export function findLongLanes(table: WorkTable, least: number): readonly LongLane[] {
  return table.lanes("inbound").flatMap(({ key, items }) => {
    const [head] = items;
    if (head === undefined || items.length < least) return [];
    return [{ key, waiting: items.length, since: head.acceptedAt, state: stateOf(head) }];
  });
}

function stateOf({ run, suspicion, notBefore }: WorkItem): LongLane["state"] {
  if (run !== undefined) return "works";
  if (suspicion !== undefined) return "suspect";
  return notBefore > 0 ? "retries" : "waits";
}
