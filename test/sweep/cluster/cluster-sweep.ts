import { join } from "node:path";
import { until } from "../../support/engine/engine-kit.js";
import { type Counts, combine, countsOf, noCounts } from "../counts.js";
import { checkDocuments } from "../documents.js";
import type { SweepEngine } from "../sweep.js";
import type { Nursery } from "../world/child-process.js";
import { findBrokenInCluster } from "./cluster-invariants.js";
import { type ClusterNode, ClusterWorld } from "./cluster-world.js";
import { describeStandstill } from "./standstill.js";

/** What troubles of one kind have cost. */
export interface ClusterRow {
  readonly point: string;
  /** Kills, or other troubles. */
  readonly kills: number;
  readonly messages: number;
  readonly counts: Counts;
}

/** The database of a world, and what may happen to it. */
export interface DatabaseServer {
  readonly port: number;
  /** Ends as in a power cut, and comes back. */
  crash(): Promise<void>;
  /** Ends every connection of the gateways. */
  terminate(): Promise<void>;
  pause(): void;
  resume(): void;
  /** What waits there for the world of this folder, and who holds it. */
  describe(root: string): Promise<readonly string[]>;
}

/** Something that happens to a world at work. Resolves, with how often it happened, once nothing is in the way any more. */
export interface Trouble {
  readonly name: string;
  readonly happen: (world: ClusterWorld, sweep: ClusterSweep) => Promise<number>;
}

const mostRounds = 10;
const limitMs = 60_000;

/** Goes from trouble to trouble in one world of several gateways, and looks after each whether every promise holds. */
export class ClusterSweep implements AsyncDisposable {
  readonly world: ClusterWorld;
  readonly database: DatabaseServer;
  readonly random: () => number;
  readonly #engine: SweepEngine;
  readonly #rows = new Map<string, ClusterRow>();
  #before: Counts = noCounts;
  #said = 0;

  private constructor(
    world: ClusterWorld,
    engine: SweepEngine,
    { database, random }: { readonly database: DatabaseServer; readonly random: () => number },
  ) {
    this.world = world;
    this.#engine = engine;
    this.database = database;
    this.random = random;
  }

  static async open(
    engine: SweepEngine,
    nursery: Nursery,
    count: number,
    parts: { readonly database: DatabaseServer; readonly random: () => number },
  ): Promise<ClusterSweep> {
    return new ClusterSweep(await ClusterWorld.open(engine, nursery, count, parts.database.port), engine, parts);
  }

  get rows(): readonly ClusterRow[] {
    return [...this.#rows.values()];
  }

  /** @throws when a promise is broken */
  async run({ name, happen }: Trouble): Promise<void> {
    await this.#named(name, async () => {
      const times = await happen(this.world, this);
      await this.world.quiet();
      const evidence = await this.world.evidence();
      fail([...this.world.broken.splice(0), ...findBrokenInCluster(evidence)]);
      const counts = countsOf(evidence);
      const row = this.#rows.get(name) ?? { point: name, kills: 0, messages: 0, counts: noCounts };
      const { messages } = this.world;
      this.#rows.set(name, {
        point: name,
        kills: row.kills + times,
        messages: row.messages + messages - this.#said,
        counts: combine(row.counts, combine(counts, this.#before, -1), 1),
      });
      this.#said = messages;
      this.#before = counts;
    });
  }

  /** Ends the world in order; what each machine has left on its disk shows all of it. */
  async finish(): Promise<void> {
    await this.#named("orderly stop", async () => {
      const { healthy } = this.world;
      const evidence = await this.world.evidence();
      const broken: string[] = [];
      for (const { child, home } of healthy) {
        await child.list();
        await child.stop(2000);
        await child.kill();
        broken.push(...checkDocuments(join(home, this.#engine.documents), evidence));
      }
      fail(broken);
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.world[Symbol.asyncDispose]();
  }

  /** One round of talk in all chats. */
  talk(): void {
    const { world } = this;
    world.say("t1", "work");
    world.say("t1", "plain");
    world.say("t2", "work");
    world.say("r1", "work");
    world.say("w1", "plain");
  }

  /** Talks until one of the nodes, whichever it is, has passed the point and was ended or stopped there. Gives those that were. */
  async untilPassed(
    point: string,
    nth: number,
    signal: "SIGKILL" | "SIGSTOP",
    talk = (): void => this.talk(),
  ): Promise<readonly ClusterNode[]> {
    const { world } = this;
    const armed = world.healthy;
    await Promise.all(armed.map(({ child }) => child.arm({ point, nth, signal })));
    const isHit = ({ child }: ClusterNode): boolean => child.hasEnded || child.isStopped;
    for (let round = 0; round < mostRounds; round += 1) {
      talk();
      const isQuiet = { yes: false };
      const waiting = this.#quietUnless(() => armed.some(isHit)).then(() => {
        isQuiet.yes = true;
      });
      await until(`${point} is passed`, () => armed.some(isHit) || isQuiet.yes, limitMs);
      await waiting;
      if (armed.some(isHit)) break;
    }
    // Another one may pass it at the same moment: it does not answer then.
    const disarmed = new Set<ClusterNode>();
    for (const node of armed) void node.child.arm({ nth: 0 }).then(() => disarmed.add(node));
    await until(`nobody else passes ${point}`, () => armed.every((one) => disarmed.has(one) || isHit(one)), limitMs);
    const hit = armed.filter(isHit);
    if (hit.length === 0) throw new Error("the point was never passed");
    return hit;
  }

  /** All nodes are there and answer. */
  async #quietUnless(isOver: () => boolean): Promise<void> {
    const over = untilTrue(isOver);
    over.catch(() => undefined);
    await until(
      "the round is over",
      async () => {
        if (isOver()) return true;
        this.world.nudge();
        if (this.world.pending > 0) return false;
        const work = this.world.healthy.map(({ child }) => child.work());
        const first = await Promise.race([Promise.all(work), over]);
        return first === true || first.every((count) => count === 0);
      },
      limitMs,
    );
  }

  async #named(what: string, job: () => Promise<void>): Promise<void> {
    try {
      await job();
    } catch (error) {
      const state = await describeStandstill(this.world, () => this.database.describe(this.world.root));
      throw new Error(`${what}: ${error instanceof Error ? error.message : String(error)}\n${state}`, { cause: error });
    }
  }
}

async function untilTrue(isTrue: () => boolean): Promise<true> {
  await until("it is over", isTrue, 2 * limitMs);
  return true;
}

function fail(broken: readonly string[]): void {
  if (broken.length > 0) throw new Error(`broken:\n  ${broken.slice(0, 30).join("\n  ")}`);
}
