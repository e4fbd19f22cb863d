import type { Logger } from "../../log.js";
import type { QueueName, StoredWork } from "../engine.js";
import type { EventTable } from "./events/event-table.js";
import type { Feed } from "./events/feed.js";
import type { Told } from "./events/signals.js";
import type { Counts } from "./lanes/counts.js";
import type { Jobs } from "./lanes/jobs.js";
import type { WorkTable } from "./lanes/work-table.js";
import type { Records } from "./records.js";
import type { Database } from "./sql/database.js";

/** What happens in the lanes, for those who hand work out. */
export interface LaneCalls {
  /** New work is in a lane. The other nodes are told. */
  accepted(work: StoredWork): void;
  /** Something may be claimed after a while. The other nodes are told now. */
  wakeAfter(queue: QueueName, delayMs: number): void;
  /** Ends what another node may have by now, because this one stood still. */
  lapse(): void;
}

/** The other nodes of the database. */
export interface Others {
  /** Tells them where to look. */
  tell(told: Told): void;
  /** What they tell arrives here. */
  isHeard(): boolean;
}

/** What the parts of one node's engine share. */
export interface Node {
  readonly database: Database;
  readonly jobs: Jobs;
  readonly work: WorkTable;
  readonly events: EventTable;
  readonly records: Records;
  readonly feed: Feed;
  readonly counts: Counts;
  readonly lanes: LaneCalls;
  readonly others: Others;
  readonly now: () => number;
  readonly boundary: (name: string, queue?: QueueName) => void;
  readonly log: Logger;
}
