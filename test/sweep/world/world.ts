import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../support/engine/engine-kit.js";
import { databaseVariable } from "../database.js";
import type { Evidence } from "../evidence.js";
import { checkFound } from "../found.js";
import type { Kill } from "../protocol.js";
import type { Nursery, SweepChild } from "./child-process.js";
import { type ChatName, chats, Outside, openSides, type WorldEngine } from "./outside.js";

/** One chat for each way in. */
export const doors: readonly ChatName[] = ["t1", "r1", "w1"];

/** Generous: a world may share its machine. */
const limitMs = 30_000;
const isClient = (key: string): boolean => key.startsWith("webui:");

/** One gateway with all that is outside of it: its processes run on one home, one after the other. */
export class World extends Outside {
  readonly #nursery: Nursery;
  #child: SweepChild | undefined;

  private constructor(engine: WorldEngine, nursery: Nursery, sides: Awaited<ReturnType<typeof openSides>>) {
    super(engine, sides);
    this.#nursery = nursery;
  }

  static async open(engine: WorldEngine, nursery: Nursery): Promise<World> {
    return new World(engine, nursery, await openSides());
  }

  get home(): string {
    return join(this.root, "home");
  }

  get child(): SweepChild {
    if (this.#child === undefined) throw new Error("No life has begun");
    return this.#child;
  }

  /** Begins a life. False when it died while opening, as `kill` may want. */
  async start(kill?: Kill): Promise<boolean> {
    const child = this.#nursery.take();
    this.#child = child;
    this.lives.push(undefined);
    const { life } = this;
    await this.writeConfig(life, this.home);
    this.relay.repeatLast();
    const opened = await child.open(
      {
        home: this.home,
        engine: this.engine.url,
        database: process.env[databaseVariable],
        relayUrl: this.relay.url,
        keys: Object.values(chats).map(({ key }) => key),
        runsPath: this.runsPath,
        life,
        kill,
      },
      (look, instanceId) => {
        this.lives[life - 1] = instanceId;
        this.broken.push(...checkFound(look, this.acknowledged(), isClient));
      },
    );
    this.person.moveTo(opened?.address);
    return opened !== undefined;
  }

  /** Resolves once everything that was said is answered and shown, or the child has died: then false. */
  async quiet(): Promise<boolean> {
    await until(
      "everything is answered and shown",
      async () => {
        if (this.child.hasEnded) return true;
        return this.pending === 0 && (await this.child.work()) === 0;
      },
      limitMs,
    );
    if (this.child.hasEnded) await this.died();
    return !this.child.hasEnded;
  }

  /** Resolves with what ended the child. */
  async died(): Promise<string> {
    const how = await this.child.ended;
    await this.person.cut();
    return how;
  }

  /** Everything that is known by now; to be asked for when all is quiet. */
  async evidence(): Promise<Evidence> {
    const look = await this.child.look();
    const ledger = await this.child.ledger();
    if (look === undefined || ledger === undefined) throw new Error("The child died while it was asked");
    return this.evidenceOf(look, new Map(ledger.map(({ messageId, end }) => [messageId, end])));
  }

  /** What the children have logged as warnings and errors. */
  log(): string {
    const path = join(this.home, "child.log");
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    this.person.leave();
    await this.#child?.kill();
    await super[Symbol.asyncDispose]();
  }

  /** The tool that ends the process has run in the present life. */
  get hasRunDie(): boolean {
    return this.runs().some(({ callId, life }) => callId.endsWith("-die") && life === this.life);
  }
}
