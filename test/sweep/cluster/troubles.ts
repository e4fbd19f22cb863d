import { until } from "../../support/engine/engine-kit.js";
import { toolPoints } from "../world/tools.js";
import type { ClusterSweep, Trouble } from "./cluster-sweep.js";
import type { ClusterNode, ClusterWorld } from "./cluster-world.js";

/** Claims are lost after two seconds here: so long, and a little longer, is long enough to be forgotten. */
const forgottenMs = 3500;
const limitMs = 60_000;
const hours = 3_600_000;

/** Where a node is ended, and where it stands still while its chats go on elsewhere. */
export function pointsIn(boundaries: readonly string[]): readonly string[] {
  const events = ["assistant_message", "tool_execution_start", "outbound_delivery_changed: sending"];
  return [...boundaries, ...toolPoints, ...events.map((type) => `event ${type}`)];
}

export function killedAt(point: string): Trouble {
  return {
    name: `killed at ${point}`,
    async happen(world, sweep) {
      await sweep.untilPassed(point, nth(sweep), "SIGKILL");
      return await afterDeaths(world);
    },
  };
}

/** It comes back when the others have done its work. */
export function frozenAt(point: string): Trouble {
  return {
    name: `stood still at ${point}`,
    async happen(world, sweep) {
      const hit = await sweep.untilPassed(point, nth(sweep), "SIGSTOP");
      return await whileFrozen(world, sweep, hit);
    },
  };
}

const nth = ({ random }: ClusterSweep): number => 1 + Math.floor(random() * 3);

async function afterDeaths(world: ClusterWorld): Promise<number> {
  // All of them may have passed it at the same moment.
  if (world.healthy.length > 0) await world.quiet();
  return await world.replaceDead();
}

async function whileFrozen(world: ClusterWorld, sweep: ClusterSweep, hit: readonly ClusterNode[]): Promise<number> {
  for (const node of hit) world.noteFrozen(node);
  const [, ...others] = hit;
  if (world.healthy.length === 0) for (const node of others) world.thaw(node);
  sweep.talk();
  await world.quiet();
  for (const node of hit) {
    if (node.isAway) world.thaw(node);
    await node.child.arm({ nth: 0 });
  }
  return hit.length;
}

/** Somebody asks the model, so that a turn is under way. Gives the node that has asked. */
async function asker(world: ClusterWorld, sweep: ClusterSweep): Promise<ClusterNode> {
  const life = new Promise<number>((resolve) => {
    world.onAsked = (_request, asked) => resolve(asked.life);
  });
  sweep.talk();
  const asked = await life;
  world.onAsked = () => {};
  const node = world.nodes.find((one) => one.life === asked);
  if (node === undefined) throw new Error(`Life ${asked} has asked and is not there`);
  return node;
}

function network(name: string, break_: (node: ClusterNode) => void): Trouble {
  return {
    name,
    async happen(world, sweep) {
      // The answer comes when the node cannot store it any more.
      let goOn = (): void => {};
      const open = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      world.hold = async () => await open;
      const node = await asker(world, sweep);
      break_(node);
      world.away(node);
      world.hold = async () => {};
      await moment(forgottenMs);
      goOn();
      sweep.talk();
      await world.quiet();
      node.network.mend();
      node.isAway = false;
      return 1;
    },
  };
}

const slowNetwork: Trouble = {
  name: "a slow network to the database, 100 ms each way",
  async happen(world, sweep) {
    const node = pick(world.healthy, sweep);
    node.network.delay(100);
    sweep.talk();
    await world.quiet();
    node.network.mend();
    return 1;
  },
};

/** It happens while a turn is under way. */
function atTheDatabase(name: string, happen: (sweep: ClusterSweep) => Promise<void>): Trouble {
  return {
    name,
    async happen(world, sweep) {
      await asker(world, sweep);
      await moment(sweep.random() * 100);
      await happen(sweep);
      sweep.talk();
      return 1;
    },
  };
}

const stalls = (ms: number): Trouble =>
  atTheDatabase(`the database stands still for ${ms / 1000} s`, async ({ database }) => {
    database.pause();
    await moment(ms);
    database.resume();
  });

const killedAnywhere: Trouble = {
  name: "killed at a random moment",
  async happen(world, sweep) {
    sweep.talk();
    await moment(sweep.random() * 300);
    await world.kill(pick(world.healthy, sweep));
    return await afterDeaths(world);
  },
};

const frozenAnywhere: Trouble = {
  name: "stood still while it waited for the model",
  async happen(world, sweep) {
    const node = await asker(world, sweep);
    world.freeze(node);
    await until("it stands still", () => node.child.isStopped, limitMs);
    return await whileFrozen(world, sweep, [node]);
  },
};

/** Its platform asks others meanwhile, so that its own copy of the message is one too many when it comes back. */
const frozenAtTheDoor: Trouble = {
  name: "stood still while it stored a message of Telegram",
  async happen(world, sweep) {
    const hit = await sweep.untilPassed("accept:before-sync", 1, "SIGSTOP", () => world.say("t1", "plain"));
    return await whileFrozen(world, sweep, hit);
  },
};

const allKilled: Trouble = {
  name: "all killed at once",
  async happen(world, sweep) {
    sweep.talk();
    await moment(sweep.random() * 300);
    await Promise.all(world.healthy.map((node) => world.kill(node)));
    return await world.replaceDead();
  },
};

const stopped: Trouble = {
  name: "stopped politely",
  async happen(world, sweep) {
    const node = await asker(world, sweep);
    node.isAway = true;
    await node.child.stop(0);
    await world.kill(node);
    await world.quiet();
    await world.replaceDead();
    return 1;
  },
};

/** One clock is hours ahead, another one behind: what counts as over is said by the database. */
const wrongClocks: Trouble = {
  name: "clocks 5 hours ahead and behind, and a kill",
  async happen(world, sweep) {
    const [ahead, behind] = world.healthy;
    if (ahead === undefined || behind === undefined) throw new Error("Two nodes are needed");
    for (const [node, skewMs] of [
      [ahead, 5 * hours],
      [behind, -5 * hours],
    ] as const) {
      await world.kill(node);
      await world.start(node, { skewMs });
    }
    sweep.talk();
    await world.quiet();
    const node = await asker(world, sweep);
    await world.kill(node);
    return await afterDeaths(world);
  },
};

/** Each of them as it is, in the order of the table. */
export const troubles: readonly Trouble[] = [
  killedAnywhere,
  allKilled,
  stopped,
  frozenAnywhere,
  frozenAtTheDoor,
  network("cut off from the database", (node) => node.network.cut()),
  network("the network to the database loses everything", (node) => node.network.swallow()),
  slowNetwork,
  atTheDatabase("the database crashes and comes back", ({ database }) => database.crash()),
  atTheDatabase("all connections are ended by the database", ({ database }) => database.terminate()),
  stalls(3000),
  stalls(10_000),
  wrongClocks,
];

function pick(from: readonly ClusterNode[], { random }: ClusterSweep): ClusterNode {
  const node = from[Math.floor(random() * from.length)];
  if (node === undefined) throw new Error("There is nothing to pick from");
  return node;
}

function moment(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
