import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../support/engine/engine-kit.js";
import { startFakeTelegram } from "../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../support/fakes/models/fake-openai.js";
import { openWatchedProxy, type WatchedProxy } from "../support/fakes/network/watched-proxy.js";
import { type Cluster, startClusterWorld } from "../support/postgres/cluster.js";
import { type NodeProcess, startNode } from "../support/postgres/daemons.js";
import { openSql } from "../support/postgres/sql.js";
import { openTcpProxy, type TcpProxy } from "../sweep/cluster/tcp-proxy.js";

/** What was begun at a node that is gone goes on elsewhere within this time. */
const takeoverMs = 12_000;

interface Node extends AsyncDisposable {
  readonly process: NodeProcess;
  readonly polls: WatchedProxy;
  readonly database: TcpProxy;
}

test("one node at a time asks a platform for a bot's messages: while its node is cut off from the database, stands still, and is killed", {
  timeout: 180_000,
}, async () => {
  await using world = await startClusterWorld();
  await using model = await startFakeOpenAI({ answer: ({ userText }) => ({ text: `re: ${userText}` }) });
  const telegram = await startFakeTelegram({ token: "4242:one" });
  const cluster = await world.cluster();
  await using sql = await openSql(world.url);
  const start = async (name: string): Promise<Node> => {
    const polls = await openWatchedProxy(telegram.url, (path) => path.includes("/getUpdates"));
    const database = await openTcpProxy(world.server.port);
    const url = `postgresql://maxclaw@127.0.0.1:${database.port}/postgres`;
    const own: Cluster = { ...cluster, config: { engine: { ...cluster.config.engine, url } } };
    const process = await startNode({
      ...{ name, cluster: own, apiBase: model.apiBase, args: ["--grace", "0"] },
      telegram: { token: telegram.token, url: polls.url },
    });
    return {
      process,
      polls,
      database,
      async [Symbol.asyncDispose]() {
        await process[Symbol.asyncDispose]();
        await polls[Symbol.asyncDispose]();
        await database[Symbol.asyncDispose]();
      },
    };
  };
  const nodes = [await start("a"), await start("b"), await start("c")];
  const last = ({ polls }: Node): number => polls.requests.at(-1)?.beganAt ?? 0;
  const holder = (): Node => nodes.reduce((one, other) => (last(other) > last(one) ? other : one));
  const others = (than: Node): readonly Node[] => nodes.filter((node) => node !== than);
  let said = 0;
  const talk = async (): Promise<void> => {
    said += 1;
    const text = `number ${said}`;
    telegram.pushText({ chatId: "7", userId: "7", text });
    await until(`${text} is answered`, () => telegram.sent.some((sent) => sent.text.includes(text)), 30_000);
    // Whether a message has left is not known of a node that is cut off before it could store that.
    const left = async () => (await sql.rows(`SELECT 1 FROM ${cluster.schema}.work`)).length;
    await until("that is stored", async () => (await left()) === 0);
  };
  /** Something happens to the node that polls; another one goes on. `isStill`: its last request stays open, as nobody closes it. */
  const takenOver = async (happen: (node: Node) => Promise<void>, isStill: boolean): Promise<Node> => {
    const node = holder();
    const at = performance.now();
    const before = node.polls.requests.length;
    await happen(node);
    const isNext = (one: Node): boolean => last(one) > at;
    await until("another one polls", () => others(node).some(isNext), 30_000);
    const next = others(node).find(isNext);
    const began = next?.polls.requests.find(({ beganAt }) => beganAt > at)?.beganAt ?? 0;
    assert.ok(began - at <= takeoverMs, `${began - at} ms`);
    const later = node.polls.requests.slice(isStill ? before : 0);
    assert.deepEqual(
      later.filter(({ endedAt = Infinity }) => endedAt > began),
      [],
      "the one before has let go",
    );
    await talk();
    return node;
  };
  /** It is back, and does not poll beside the one that does. */
  const staysAway = async (node: Node): Promise<void> => {
    const before = node.polls.requests.length;
    await talk();
    await talk();
    assert.equal(node.polls.requests.length, before, "it does not poll");
  };
  try {
    await until("somebody polls", () => nodes.some((node) => last(node) > 0));
    await talk();
    const cut = await takenOver(async ({ database }) => database.cut(), false);
    cut.database.mend();
    await staysAway(cut);
    const still = await takenOver(async ({ process }) => void process.daemon.child.kill("SIGSTOP"), true);
    still.process.daemon.child.kill("SIGCONT");
    await staysAway(still);
    await takenOver(async ({ process }) => void (await process.daemon.end("SIGKILL")), false);
    const answers = telegram.sent.map(({ text }) => /number \d+/.exec(text)?.[0]);
    assert.deepEqual(
      answers,
      Array.from({ length: said }, (_, n) => `number ${n + 1}`),
      "each is answered once, in order",
    );
  } finally {
    for (const node of nodes) await node[Symbol.asyncDispose]();
    await telegram.stop();
  }
});
