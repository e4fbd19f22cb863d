import { setTimeout as delay } from "node:timers/promises";
import { startFakeModel } from "../fake-model.js";
import { median } from "../measure.js";
import { type Gateways, startGateways } from "./gateways.js";
import type { MeasuredServer } from "./server.js";
import { at, type Table, twoDigits } from "./table.js";

interface Run {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly nodeCpuMs: number;
  readonly postgresCpuMs: number;
  readonly statements: number;
  readonly commits: number;
  readonly walKb: number;
}

interface Subject {
  readonly name: string;
  readonly processes: number;
  readonly isEmbedded: boolean;
}

const subjects: readonly Subject[] = [
  { name: "1, embedded engine", processes: 1, isEmbedded: true },
  ...[1, 2, 4].map((processes) => ({ name: `${processes} on Postgres`, processes, isEmbedded: false })),
];
const chats = 50;
const perChat = 8;
const single = 40;
const limitMs = 300_000;
const settleMs = 15_000;

/** Whole gateways, a bot and a model that answers at once: what a message costs, and how soon it is answered. */
export async function benchMessages(server: MeasuredServer, rounds: number): Promise<Table> {
  await using model = await startFakeModel();
  const runs = new Map<string, Run[]>(subjects.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1)
    for (const subject of subjects) {
      const schema = `bench_${subject.processes}_${round}`;
      await using gateways = await startGateways(
        subject.processes,
        model,
        subject.isEmbedded ? undefined : { url: server.url, schema },
      );
      // One that has just started still compiles what it will need.
      await delay(settleMs);
      await server.dearest(0);
      const run = await measure(gateways, server, subject);
      console.error(subject.name, JSON.stringify(run));
      runs.get(subject.name)?.push(run);
      if (subject.processes === 1 && !subject.isEmbedded) await tellDearest(server);
    }
  const [embedded = []] = runs.values();
  const rows = subjects.map(({ name }) => {
    const own = runs.get(name) ?? [];
    const of = (key: keyof Run): number => median(own.map((run) => run[key]));
    // Of runs that were made one after the other: neighbours on the machine come and go.
    const ratio = median(own.map(({ perSecond }, round) => perSecond / (embedded[round]?.perSecond ?? Number.NaN)));
    return [
      ...[name, of("perSecond").toFixed(0), twoDigits(ratio), of("p50").toFixed(1), of("p99").toFixed(1)],
      ...[twoDigits(of("nodeCpuMs")), twoDigits(of("postgresCpuMs"))],
      ...[of("statements").toFixed(1), of("commits").toFixed(1), of("walKb").toFixed(1)],
    ];
  });
  const head = [
    ...["gateways", "messages/s", "of embedded", "p50, ms", "p99, ms", "CPU of gateways, ms", "CPU of Postgres, ms"],
    ...["statements", "transactions", "WAL, kB"],
  ];
  return { head, rows };
}

/** Where the server's time has gone. */
async function tellDearest(server: MeasuredServer): Promise<void> {
  for (const { text, calls, ms, planMs } of await server.dearest(20))
    console.error(`${ms.toFixed(0).padStart(7)} ms, ${planMs.toFixed(0)} planning, ${calls} × ${text.slice(0, 130)}`);
}

async function measure(gateways: Gateways, server: MeasuredServer, { isEmbedded }: Subject): Promise<Run> {
  const { telegram } = gateways;
  // What is done for the first time is compiled, and each connection is opened.
  await burst(gateways, 2);
  const times: number[] = [];
  for (let n = 0; n < single; n += 1) {
    const before = telegram.sent.length;
    const startedAt = performance.now();
    telegram.pushText({ chatId: 7 + n, userId: 7 + n, text: `message ${n}` });
    await telegram.waitForSent(before + 1, limitMs);
    times.push(performance.now() - startedAt);
  }
  times.sort((a, b) => a - b);
  const [before, nodesBefore] = [await server.counters(), gateways.cpuMs()];
  const startedAt = performance.now();
  const messages = await burst(gateways, perChat);
  const perSecond = (messages * 1000) / (performance.now() - startedAt);
  const nodeCpuMs = (gateways.cpuMs() - nodesBefore) / messages;
  const after = await server.counters();
  const each = (key: keyof typeof after): number => (isEmbedded ? 0 : (after[key] - before[key]) / messages);
  return {
    ...{ perSecond, p50: at(times, 0.5), p99: at(times, 0.99), nodeCpuMs, postgresCpuMs: each("cpuMs") },
    ...{ statements: each("statements"), commits: each("commits"), walKb: each("walBytes") / 1000 },
  };
}

/** Many chats write at once, each several messages; gives how many there were once all are answered. */
async function burst({ telegram }: Gateways, each: number): Promise<number> {
  const before = telegram.sent.length;
  for (let n = 0; n < each; n += 1)
    for (let chat = 0; chat < chats; chat += 1)
      telegram.pushText({ chatId: 1000 + chat, userId: 1000 + chat, text: `burst ${n}` });
  await telegram.waitForSent(before + chats * each, limitMs);
  return chats * each;
}
