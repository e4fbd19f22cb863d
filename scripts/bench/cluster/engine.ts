import { setTimeout as delay } from "node:timers/promises";
import type { PostgresEngine } from "../../../src/engine/postgres/postgres-engine.js";
import { answered, inbound, outbound, queued, titled } from "../../../test/support/engine/engine-kit.js";
import { openNode } from "../../../test/support/postgres/postgres-kit.js";
import type { MeasuredServer } from "./server.js";

/** What a message costs in the engine alone: of this process, and of the server. */
export interface Cost {
  readonly nodeCpuMs: number;
  readonly postgresCpuMs: number;
  readonly statements: number;
  readonly commits: number;
  readonly walKb: number;
}

/** A node with the times that hold in work. */
export async function openWorking(url: string, schema: string): Promise<PostgresEngine> {
  return (await openNode(url, schema, { timing: {} })).engine;
}

/** Accepts, works on and answers messages of these sessions, and gives what each of them has cost. */
export async function costOf(
  engine: PostgresEngine,
  server: MeasuredServer,
  keys: readonly string[],
  run: string,
): Promise<Cost> {
  const stop = new AbortController();
  const before = await server.counters();
  const own = process.cpuUsage();
  let done = 0;
  const consumed = [
    engine.consume(
      "inbound",
      { parallel: 32 },
      async (delivery) => {
        const { id, sessionKey } = delivery.work;
        await delivery.append([titled(`begun ${id}`)], { durable: true });
        await delivery.commit({ events: [answered([id])], emit: [outbound(`reply ${id}`, sessionKey, sessionKey)] });
      },
      stop.signal,
    ),
    engine.consume(
      "outbound",
      { parallel: 32 },
      async (delivery) => {
        await delivery.commit({ events: [], emit: [] });
        done += 1;
      },
      stop.signal,
    ),
  ];
  await Promise.all(
    keys.map((key, n) => engine.accept(inbound(`${run} ${n}`, key), { events: [queued(`${run} ${n}`)] })),
  );
  while (done < keys.length) await delay(20);
  stop.abort();
  await Promise.all(consumed);
  const { user, system } = process.cpuUsage(own);
  const after = await server.counters();
  const each = (key: keyof typeof after): number => (after[key] - before[key]) / keys.length;
  return {
    nodeCpuMs: (user + system) / 1000 / keys.length,
    ...{ postgresCpuMs: each("cpuMs"), statements: each("statements"), commits: each("commits") },
    walKb: each("walBytes") / 1000,
  };
}
