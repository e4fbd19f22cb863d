import type { Logger } from "../../log.js";
import type { QueueName } from "../engine.js";
import type { Counts } from "./counts.js";
import type { Database } from "./database.js";
import type { EventTable } from "./event-table.js";
import type { Feed } from "./feed.js";
import type { Jobs } from "./jobs.js";
import type { Lanes } from "./lanes.js";
import type { Records } from "./records.js";
import type { WorkTable } from "./work-table.js";

/** What the parts of one node's engine share. */
export interface Node {
  readonly database: Database;
  readonly jobs: Jobs;
  readonly work: WorkTable;
  readonly events: EventTable;
  readonly records: Records;
  readonly feed: Feed;
  readonly counts: Counts;
  readonly lanes: Lanes;
  readonly now: () => number;
  readonly boundary: (name: string, queue?: QueueName) => void;
  readonly log: Logger;
}
