import { EngineError } from "../../errors.js";
import { EventTable } from "./events/event-table.js";
import { Feed } from "./events/feed.js";
import { type Signal, Signals } from "./events/signals.js";
import { Transient } from "./events/transient.js";
import { Accepting } from "./lanes/accepting.js";
import { Counts } from "./lanes/counts.js";
import type { Jobs } from "./lanes/jobs.js";
import { Lanes } from "./lanes/lanes.js";
import { openJobs } from "./lanes/open-jobs.js";
import { toStoredWork, WorkTable } from "./lanes/work-table.js";
import { Leases } from "./leases.js";
import { assertNotMoving } from "./moving/state.js";
import type { Node, Others } from "./node.js";
import { defaultTiming, type PostgresEngineOptions } from "./options.js";
import { PostgresEngine } from "./postgres-engine.js";
import { Records } from "./records.js";
import { Database } from "./sql/database.js";
import { toFault } from "./sql/faults.js";
import { assertSchemaName, migrate } from "./sql/migrate.js";
import { tuneTables } from "./sql/tuning.js";
import { lapseMs, Watch } from "./watch.js";

type Timing = typeof defaultTiming;

interface Opening {
  readonly options: PostgresEngineOptions;
  readonly schema: string;
  readonly channel: string;
  readonly timing: Timing;
  readonly database: Database;
  /** How long until it is looked again for what may have been missed. */
  readonly pollMs: () => number;
}

/**
 * Opens this node's part of the engine that lives in a database. Creates or updates the tables where they are missing or older.
 *
 * @throws {EngineError} `persistence` when the database cannot be reached or refuses; `corrupt` when the schema is of a newer
 *   program, or of another cluster
 */
export async function openPostgresEngine(options: PostgresEngineOptions): Promise<PostgresEngine> {
  const { modules, url, schema = "maxclaw", connections = 10, log } = options;
  assertSchemaName(schema);
  const onChange = (isWritable: boolean): void => {
    if (isWritable) log.info("the database takes writes again");
    else log.error(`the database takes no writes: ${database.refusal}`);
  };
  const timing = { ...defaultTiming, ...options.timing };
  const idleMs = timing.claimMs / 2;
  const database: Database = new Database({ pg: modules.pg, url, schema, connections, idleMs, onChange });
  let signals: Signals | undefined;
  const pollMs = (): number => (signals?.isListening === true ? timing.pollMs : timing.deafPollMs);
  const opening = { options, schema, channel: `maxclaw_${schema}`, timing, database, pollMs };
  try {
    const clusterId = await migrate(database, { schema, clusterId: options.clusterId });
    await assertNotMoving(database, schema);
    const jobs = await openJobs({ modules, database, schema, instanceId: options.instanceId, timing, log });
    await tuneTables(database, schema, log);
    const lanes = new Lanes({
      ...{ deadMs: 3 * timing.renewMs, pollMs, log },
      // It is looked for only now and then, and must be over before another node may have it.
      claimMs: timing.claimMs - 2 * lapseMs,
    });
    const node = createNode(opening, { jobs, lanes }, { signals: () => signals, transient: () => transient });
    const foundOthers: Signals["foundOthers"] = (...found) => signals?.foundOthers(...found);
    const watch = new Watch(node, lanes, options.instanceId, { ...timing, pollMs, foundOthers });
    signals = createSignals(opening, node, { lanes, leases: () => leases, transient: () => transient, watch });
    const transient: Transient = new Transient(signals, log, (event) => {
      void node.feed.unstoredElsewhere(event).catch((error: unknown) => log.debug("an event was not shown", { error }));
    });
    const leases: Leases = new Leases({
      ...{ database, holder: options.instanceId, leaseMs: timing.leaseMs, pollMs, log },
      tellFree: (name) => node.others.tell({ l: name }),
    });
    await node.feed.open();
    await lanes.open(database);
    await watch.open();
    const listening = signals;
    return new PostgresEngine(node, {
      ...{ clusterId, nodeId: options.instanceId, leases, lanes },
      accepting: new Accepting(node, options.limits ?? {}),
      async stop() {
        await transient.close();
        await Promise.all([watch.close(), listening.close()]);
        await jobs.close();
      },
    });
  } catch (error) {
    await signals?.close();
    await database.close();
    const isFault = error instanceof EngineError && error.kind === "persistence";
    throw toFault(isFault ? (error.cause ?? error) : error, `The engine's database cannot be used`);
  }
}

function createNode(
  { options, database }: Opening,
  { jobs, lanes }: { readonly jobs: Jobs; readonly lanes: Lanes },
  { signals, transient }: { readonly signals: () => Signals | undefined; readonly transient: () => Transient },
): Node {
  const { instanceId, log, publish, now = Date.now, onBoundary: boundary = () => {} } = options;
  const others: Others = {
    tell: (told) => signals()?.tell(told),
    isHeard: () => signals()?.isListening === true,
  };
  const events = new EventTable({ instanceId, log });
  const node: Node = {
    ...{ database, jobs, events, others, now, boundary, log },
    lanes: {
      accepted(work) {
        lanes.accepted(work);
        others.tell({ w: [work.queue, work.key, work.id] });
      },
      wakeAfter(queue, delayMs) {
        lanes.wakeAfter(queue, delayMs);
        others.tell({ q: queue });
      },
      lapse: () => lanes.lapse(node),
    },
    work: new WorkTable({ instanceId, jobs }),
    records: new Records(database, (kind, id) => others.tell({ r: [kind, id] })),
    feed: new Feed({
      database,
      table: events,
      instanceId,
      publish,
      now,
      log,
      tell: (event) => transient().tell(event),
      tellStored: (sessionKey, seq) => others.tell({ e: [sessionKey, seq] }),
    }),
    counts: new Counts(),
  };
  return node;
}

/** Does what the other nodes tell. */
function createSignals(
  { options, channel, database }: Opening,
  node: Node,
  parts: {
    readonly lanes: Lanes;
    readonly leases: () => Leases;
    readonly transient: () => Transient;
    readonly watch: Watch;
  },
): Signals {
  const { modules, url, instanceId: nodeId, log } = options;
  const notYet = (error: unknown): void => log.debug("what another node told is seen later", { error });
  const onSignal = (signal: Signal): void => {
    const { e, w, q, l, d, b, r } = signal;
    if (e !== undefined) node.feed.seen(...e);
    if (w !== undefined) void seeWork(node, parts.lanes, w).catch(notYet);
    if (q === "inbound" || q === "outbound") parts.lanes.wake(q);
    if (l !== undefined) parts.leases().wake(l);
    if (d !== undefined) parts.lanes.fenceSession(d, b);
    if (r !== undefined) void node.records.refresh(...r).catch(notYet);
    parts.transient().take(signal);
  };
  return new Signals({
    ...{ pg: modules.pg, url, channel, nodeId, sql: database, log, onSignal },
    onListening() {
      parts.lanes.doubt();
      parts.watch.soon();
    },
  });
}

async function seeWork(
  { work, database }: Node,
  lanes: Lanes,
  [name, key, id]: readonly [string, string, string],
): Promise<void> {
  const queue = name === "outbound" ? name : "inbound";
  const row = lanes.noteNew(queue, key) ? await work.one(database, queue, id) : undefined;
  if (row === undefined) lanes.wake(queue);
  else lanes.accepted(toStoredWork(row));
}
