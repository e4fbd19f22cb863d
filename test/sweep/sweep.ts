import { join } from "node:path";
import { gate, until } from "../support/engine/engine-kit.js";
import { type Counts, combine, countsOf, noCounts } from "./counts.js";
import { checkDocuments } from "./documents.js";
import type { EngineUnderTest } from "./embedded.js";
import { findBroken } from "./invariants.js";
import type { Point } from "./points.js";
import type { Kill } from "./protocol.js";
import type { Nursery } from "./world/child-process.js";
import { type ChatName, chatNames } from "./world/outside.js";
import { World } from "./world/world.js";

/** One kill to be tried. */
export interface Job {
  readonly point: Point;
  /** At which passing of the point, from 1. */
  readonly nth: number;
  /** Talk in this chat only, so that its message is the first to pass. */
  readonly alone?: ChatName | undefined;
  /** The next life is killed as well, while it recovers. */
  readonly again?: Kill | undefined;
}

/** What the kills at one point have cost. */
export interface Row {
  readonly point: string;
  readonly kills: number;
  readonly counts: Counts;
}

export interface SweepEngine extends EngineUnderTest {
  /** The module's URL, for the children. */
  readonly url: string;
}

export async function loadEngine(url: string): Promise<SweepEngine> {
  const engine: EngineUnderTest = await import(url);
  return { ...engine, url };
}

/** The row of the messages that end the process each time. */
export const poison = "message that ends the process";
const mostRounds = 8;
const mostLives = 20;
const limitMs = 30_000;
const never: Kill = { nth: 0 };

/** Goes through jobs in one world, from kill to kill, and looks after each whether every promise holds. */
export class Sweep implements AsyncDisposable {
  readonly #engine: SweepEngine;
  readonly #world: World;
  readonly #rows = new Map<string, Row>();
  #before: Counts = noCounts;

  private constructor(engine: SweepEngine, world: World) {
    this.#engine = engine;
    this.#world = world;
  }

  static async open(engine: SweepEngine, nursery: Nursery): Promise<Sweep> {
    const world = await World.open(engine, nursery);
    try {
      await world.start();
    } catch (error) {
      await world[Symbol.asyncDispose]();
      throw error;
    }
    return new Sweep(engine, world);
  }

  get rows(): readonly Row[] {
    return [...this.#rows.values()];
  }

  /** How often each point is passed in one round of talk. */
  async passings(): Promise<Readonly<Record<string, number>>> {
    await this.#world.child.arm(never);
    this.#talk();
    await this.#world.quiet();
    return (await this.#world.child.passings()) ?? {};
  }

  /** @throws when a promise is broken, or the point is never passed */
  async run({ point, nth, alone, again }: Job): Promise<void> {
    await this.#named(`${point.name}, passing ${nth}`, async () => {
      await this.#killAt(point, nth, alone);
      const second = await this.#recover(again);
      await this.#settle(point.name, second ? 2 : 1);
    });
  }

  /** Ends the process at a random moment of random talk, and half of the time once more while that is recovered from. */
  async runRandomly(random: () => number): Promise<void> {
    const upTo = (most: number): number => 1 + Math.floor(random() * most);
    const how = pick(["passing", "passing", "moment", "stop"], random);
    const [nth, ms, graceMs] = [upTo(250), upTo(150), upTo(60)];
    const again = random() < 0.5 ? { nth: upTo(150) } : undefined;
    const what = { passing: `at passing ${nth}`, moment: `after ${ms} ms`, stop: `stopped after ${ms} ms` }[how];
    await this.#named(`random: ${what}${again === undefined ? "" : `, then at passing ${again.nth}`}`, async () => {
      const world = this.#world;
      await world.child.arm(how === "passing" ? { nth } : never);
      for (let messages = upTo(8); messages > 0; messages -= 1)
        world.say(pick(chatNames, random), pick(["work", "plain"], random));
      if (how !== "passing") await new Promise((resolve) => setTimeout(resolve, ms));
      if (how === "stop") await world.child.stop(graceMs);
      if (how !== "passing") await world.child.kill();
      const isAlive = await this.#livesOn();
      const second = !isAlive && (await this.#recover(again));
      const kills = (isAlive || how === "stop" ? 0 : 1) + (second ? 1 : 0);
      await this.#settle(how === "stop" ? "orderly stop" : "random moments", kills);
    });
  }

  /** A message that ends the process each time, while others are under way that must not be buried with it. */
  async runPoisonAmongOthers(): Promise<void> {
    await this.#named("poison among others", async () => {
      const world = this.#world;
      const others = ["t2", "r1"] as const;
      const begun = new Set<string>();
      const released = gate();
      const first = world.life;
      // The first time they go down together.
      world.hold = async ({ chat, life }) => {
        if (life !== first) return;
        begun.add(chat);
        if (chat === "t1") await until("others work", () => begun.size > others.length, limitMs);
        else await released.opened;
      };
      world.say("t1", "poison");
      world.say("t1", "plain");
      for (const name of others) world.say(name, "plain");
      await world.died();
      released.open();
      await this.#settle(poison, 1 + (await this.#untilBuried([])));
    });
  }

  /** A message that ends the process each time; the burial is interrupted at each of these boundaries. */
  async runPoison(boundaries: readonly string[]): Promise<void> {
    await this.#named(`poison, ${boundaries.join(", ")}`, async () => {
      const world = this.#world;
      world.say("t1", "poison");
      world.say("t1", "plain");
      await world.died();
      await this.#settle(poison, 1 + (await this.#untilBuried(boundaries)));
    });
  }

  /** Lives until the poison is known for what it is and buried. Resolves with how many lives that has taken. */
  async #untilBuried(boundaries: readonly string[]): Promise<number> {
    const world = this.#world;
    const left = [...boundaries];
    for (let kills = 0; kills < mostLives; kills += 1) {
      const [point] = left;
      await world.start(point === undefined ? undefined : { point, nth: 1 });
      if (await this.#livesOn()) {
        if (left.length > 0) throw new Error(`the burial did not pass ${left.join(", ")}`);
        return kills;
      }
      await world.died();
      if (!world.hasRunDie) left.shift();
    }
    throw new Error(`it ended the process ${mostLives} times and was not buried`);
  }

  /** Ends the world in order and looks at what it leaves on the disk. */
  async finish(): Promise<void> {
    await this.#named("orderly stop", async () => {
      const world = this.#world;
      const evidence = await world.evidence();
      if (this.#engine.mustList) await world.child.list();
      await world.child.stop(2000);
      await world.child.kill();
      fail([...world.broken, ...checkDocuments(join(world.home, this.#engine.documents), evidence)]);
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#world[Symbol.asyncDispose]();
  }

  async #killAt(point: Point, nth: number, alone: ChatName | undefined): Promise<void> {
    const world = this.#world;
    const known = new Set([...world.acknowledged().values()].flat());
    let rounds = 0;
    while (!(await this.#diesIn(point, nth, alone, rounds === 0)))
      if (++rounds === mostRounds) throw new Error("the point was never passed");
    const how = await world.died();
    if (how !== "SIGKILL") throw new Error(`the child ended with ${how}`);
    if (nth !== 1 || !this.#engine.unacknowledgedAt.includes(point.name)) return;
    for (const text of [...world.acknowledged().values()].flat())
      if (!known.has(text)) throw new Error(`"${text}" was acknowledged before it was safe`);
  }

  /** One round of talk. False when the point was not passed in it. */
  async #diesIn(point: Point, nth: number, alone: ChatName | undefined, isFirst: boolean): Promise<boolean> {
    const world = this.#world;
    switch (point.during) {
      case "outside": {
        const moment = point.prepare(world);
        this.#talk(alone);
        await moment;
        await world.child.kill();
        return true;
      }
      case "talk":
        if (isFirst) {
          point.prepare?.(world);
          await world.child.arm({ point: point.passing ?? point.name, nth });
        }
        this.#talk(alone);
        return !(await world.quiet());
      case "stop":
        this.#talk(alone);
        await world.quiet();
        await world.child.arm({ point: point.passing ?? point.name, nth });
        if ((await world.child.stop(2000)) === undefined) return true;
        // It had nothing to do there. Another life is stopped.
        await world.child.kill();
        await world.died();
        await world.start();
        return false;
    }
  }

  #talk(alone?: ChatName): void {
    if (alone !== undefined) return void this.#world.say(alone, "plain");
    this.#world.say("t1", "work");
    this.#world.say("t1", "plain");
    this.#world.say("t2", "plain");
    this.#world.say("r1", "work");
    this.#world.say("w1", "plain");
  }

  /** Lives on until all is quiet. True when the first life of the recovery was killed as well. */
  async #recover(again: Kill | undefined): Promise<boolean> {
    const world = this.#world;
    await world.start(again);
    if (await this.#livesOn()) return false;
    await world.died();
    await world.start();
    if (!(await this.#livesOn())) throw new Error(`a life that nobody killed ended with ${await world.died()}`);
    return true;
  }

  /** True once all is quiet in a life that nothing ends any more; false when it has ended. */
  async #livesOn(): Promise<boolean> {
    return (await this.#world.quiet()) && (await this.#world.child.arm(never)) !== undefined;
  }

  async #settle(point: string, kills: number): Promise<void> {
    const world = this.#world;
    world.onAsked = () => {};
    world.hold = async () => {};
    const evidence = await world.evidence();
    const counts = countsOf(evidence);
    fail([...world.broken.splice(0), ...findBroken(evidence)]);
    const row = this.#rows.get(point) ?? { point, kills: 0, counts: noCounts };
    const cost = combine(counts, this.#before, -1);
    this.#rows.set(point, { point, kills: row.kills + kills, counts: combine(row.counts, cost, 1) });
    this.#before = counts;
  }

  async #named(what: string, job: () => Promise<void>): Promise<void> {
    try {
      await job();
    } catch (error) {
      const log = this.#world.log().split("\n").slice(-20);
      const state = [...this.#world.unanswered(), ...log].join("\n");
      throw new Error(`${what}: ${error instanceof Error ? error.message : String(error)}\n${state}`, { cause: error });
    }
  }
}

function fail(broken: readonly string[]): void {
  if (broken.length > 0) throw new Error(`broken:\n  ${broken.join("\n  ")}`);
}

function pick<T>(from: readonly T[], random: () => number): T {
  const one = from[Math.floor(random() * from.length)];
  if (one === undefined) throw new Error("There is nothing to pick from");
  return one;
}
