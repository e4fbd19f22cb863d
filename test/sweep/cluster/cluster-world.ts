import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { backoffMs } from "../../../src/util/async/backoff.js";
import { until } from "../../support/engine/engine-kit.js";
import type { Evidence } from "../evidence.js";
import type { Kill, Look } from "../protocol.js";
import type { Nursery, SweepChild } from "../world/child-process.js";
import { chats, Outside, openSides, type UnderWay, type WorldEngine } from "../world/outside.js";
import { openTcpProxy, type TcpProxy } from "./tcp-proxy.js";

/** Generous: what a node had is free after seconds, and the machine may be busy. */
const limitMs = 90_000;
/** A person looks elsewhere when nothing comes, each time later: a slow machine must come to an answer. */
const impatient = { firstMs: 4000, longestMs: 30_000 };

/** One machine: its home stays, processes come and go. */
export interface ClusterNode {
  readonly name: string;
  readonly home: string;
  readonly network: TcpProxy;
  child: SweepChild;
  life: number;
  address: string | undefined;
  /** It stands still, or cannot reach the database: the others go on without it. */
  isAway: boolean;
}

/** Several gateways on one database, each behind a network of its own, with all that is outside of them. */
export class ClusterWorld extends Outside {
  readonly nodes: ClusterNode[] = [];
  readonly #nursery: Nursery;
  /** Lives that stood still: what they had asked for then is not alive. */
  readonly #frozen = new Set<number>();
  readonly #sections: object;
  #nudgedAt = performance.now();
  /** Since the last answer. */
  #nudges = 1;
  #turns = 0;

  private constructor(
    engine: WorldEngine,
    nursery: Nursery,
    sides: Awaited<ReturnType<typeof openSides>>,
    networks: readonly TcpProxy[],
  ) {
    super(engine, sides);
    this.#nursery = nursery;
    this.#sections = { agents: { defaults: { model: "openai/test-model", workspace: join(this.root, "workspace") } } };
    for (const [index, network] of networks.entries()) {
      const name = `node-${index + 1}`;
      const home = join(this.root, name);
      mkdirSync(home);
      this.nodes.push({ ...{ name, home, network, life: 0 }, child: nursery.take(), address: undefined, isAway: true });
    }
  }

  /** `port`: the database's. */
  static async open(engine: WorldEngine, nursery: Nursery, count: number, port: number): Promise<ClusterWorld> {
    const networks: TcpProxy[] = [];
    for (let node = 0; node < count; node += 1) networks.push(await openTcpProxy(port));
    const world = new ClusterWorld(engine, nursery, await openSides(), networks);
    try {
      for (const node of world.nodes) await world.start(node);
    } catch (error) {
      await world[Symbol.asyncDispose]();
      throw error;
    }
    return world;
  }

  /** Nodes that can do something. */
  get healthy(): readonly ClusterNode[] {
    return this.nodes.filter(({ isAway, child }) => !isAway && !child.hasEnded);
  }

  /** Begins a life on a machine. */
  async start(node: ClusterNode, more: { readonly skewMs?: number; readonly kill?: Kill } = {}): Promise<void> {
    if (node.child.hasEnded) node.child = this.#nursery.take();
    this.lives.push(undefined);
    const life = this.life;
    node.life = life;
    await this.writeConfig(life, node.home, this.#sections);
    const opened = await node.child.open(
      {
        home: node.home,
        engine: this.engine.url,
        database: `postgresql://maxclaw@127.0.0.1:${node.network.port}/postgres`,
        relayUrl: this.relay.url,
        keys: Object.values(chats).map(({ key }) => key),
        runsPath: this.runsPath,
        life,
        logPath: join(this.root, "children.log"),
        ...more,
      },
      (_look, instanceId) => {
        this.lives[life - 1] = instanceId;
      },
    );
    node.address = opened?.address;
    node.isAway = opened === undefined;
    if (node.address !== undefined && this.person.pending === 0) this.person.turnTo(node.address);
  }

  async kill(node: ClusterNode): Promise<void> {
    await node.child.kill();
    this.#left(node);
  }

  /** Every machine without a process gets one. Gives how many there were. */
  async replaceDead(): Promise<number> {
    const dead = this.nodes.filter(({ child }) => child.hasEnded);
    for (const node of dead) await this.start(node);
    return dead.length;
  }

  /** The process stands still, as in a frozen machine. */
  freeze(node: ClusterNode): void {
    node.child.signal("SIGSTOP");
    this.noteFrozen(node);
  }

  /** It stands still by itself. */
  noteFrozen(node: ClusterNode): void {
    this.#frozen.add(node.life);
    this.away(node);
  }

  thaw(node: ClusterNode): void {
    node.child.signal("SIGCONT");
    node.isAway = false;
  }

  /** The others go on without it. */
  away(node: ClusterNode): void {
    node.isAway = true;
    this.#left(node);
  }

  /** Resolves once all that was said is answered and shown by those that are healthy. */
  async quiet(): Promise<void> {
    let quietTimes = 0;
    await until(
      "everything is answered and shown",
      async () => {
        const { healthy } = this;
        if (healthy.length === 0) throw new Error("No node is left");
        this.nudge();
        const work = this.pending > 0 ? [] : await Promise.all(healthy.map(({ child }) => child.work()));
        // What one of them counts it has looked up a moment ago.
        quietTimes = work.length > 0 && work.every((count) => count === 0) ? quietTimes + 1 : 0;
        return quietTimes >= 4;
      },
      limitMs,
    );
  }

  /** Who has waited for long asks elsewhere. */
  nudge(): void {
    const now = performance.now();
    if (this.person.pending === 0) {
      this.#nudgedAt = now;
      this.#nudges = 1;
    }
    if (now - this.#nudgedAt < backoffMs(this.#nudges, impatient)) return;
    this.#nudgedAt = now;
    this.#nudges += 1;
    this.#turnPerson();
  }

  /** What is known once all is quiet. Every node shows every event then, once and in order. */
  async evidence(): Promise<Evidence> {
    const { healthy } = this;
    const looks: Look[] = [];
    for (const node of healthy) looks.push(await this.#lookOf(node));
    const [look] = looks;
    const ledger = await healthy[0]?.child.ledger();
    if (look === undefined || ledger === undefined) throw new Error("No node could be looked at");
    return this.evidenceOf(look, new Map(ledger.map(({ messageId, end }) => [messageId, end])));
  }

  /** A text in which engines are named by their lives and machines. */
  nameLives(text: string): string {
    return this.lives.reduce<string>((named, id, index) => {
      const node = this.nodes.find(({ life }) => life === index + 1)?.name ?? "ended";
      return id === undefined ? named : named.replaceAll(id, `life ${index + 1} (${node})`);
    }, text);
  }

  /** What the children have logged as warnings and errors. */
  log(): string {
    const path = join(this.root, "children.log");
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    this.person.leave();
    for (const { child, network } of this.nodes) {
      child.signal("SIGCONT");
      await child.kill();
      await network[Symbol.asyncDispose]();
    }
    await super[Symbol.asyncDispose]();
  }

  /** Who turns to another node asks there for all that has no answer yet, and gets it in any order. */
  protected override answers(said: readonly string[]): readonly string[] {
    return said.flatMap((wanted) =>
      this.person.answers.flatMap(({ text, answer }) => (text === wanted ? [answer] : [])),
    );
  }

  /** A turn of a node that stood still has lost its chat; any other one must have ended before the next begins. */
  protected override isSecond(open: UnderWay, asked: UnderWay): boolean {
    return !this.#frozen.has(open.life) && open.answer >= asked.answer;
  }

  async #lookOf({ child, name }: ClusterNode): Promise<Look> {
    let found: Look | undefined;
    await until(
      `${name} shows all events`,
      async () => {
        found = await child.look();
        // A process that began later has not seen the events before it.
        const seen = found?.published ?? {};
        return found?.chats.every(({ key, lastSequence }) => (seen[key] ?? lastSequence) === lastSequence) === true;
      },
      limitMs,
    );
    if (found === undefined) throw new Error(`${name} died while it was asked`);
    this.broken.push(...found.outOfOrder.map((what) => `${name}: ${what}`));
    return found;
  }

  #left(node: ClusterNode): void {
    if (this.healthy.length > 0 && node.address !== undefined) this.#turnPerson();
  }

  #turnPerson(): void {
    const { healthy } = this;
    this.#turns += 1;
    const address = healthy[this.#turns % Math.max(1, healthy.length)]?.address;
    if (address !== undefined) this.person.turnTo(address);
  }
}
