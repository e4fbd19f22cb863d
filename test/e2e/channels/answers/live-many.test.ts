import assert from "node:assert/strict";
import { test } from "node:test";
import { type Client, createClient } from "../../../../src/client/node.js";
import type { GatewayEvent } from "../../../../src/events/event.js";
import { openCuttingProxy } from "../../../support/fakes/network/cutting-proxy.js";
import { until } from "../../../support/fakes/web-frames.js";
import { startWithModel } from "../../../support/worlds/gateway.js";
import { digest } from "../../../support/worlds/http/http-clients.js";
import { openTestServer } from "../../../support/worlds/http/http-server.js";

const key = "webui:many";
const token = "a-token-of-the-test";
const limitMs = 60_000;

async function start(text: readonly string[]) {
  const scripted = await startWithModel({ text, chunkDelayMs: 2 }, { gateway: { token } });
  const clients = new Set<Client>();
  return {
    ...scripted,
    /** Resolves once the gateway has taken the subscription. */
    async follow(url: string): Promise<{ readonly client: Client; readonly events: GatewayEvent[] }> {
      const client = createClient({ url, token, timing: { retryMinMs: 10, connectTimeoutMs: limitMs } });
      clients.add(client);
      const events: GatewayEvent[] = [];
      client.subscribe(key, (event) => events.push(event), { fromSequence: 0 });
      await new Promise<void>((resolve) => client.onMessage(() => resolve()));
      return { client, events };
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.close();
      await scripted[Symbol.asyncDispose]();
    },
  };
}

const isOver = ({ events }: { readonly events: readonly GatewayEvent[] }): boolean =>
  events.at(-1)?.type === "turn_execution_complete";

test("a thousand clients follow one turn and all end with the same list", { timeout: 2 * limitMs }, async (t) => {
  await using world = await start(Array.from({ length: 12 }, (_, n) => `word${n} `));
  const followers: Awaited<ReturnType<typeof world.follow>>[] = [];
  const rssBefore = process.memoryUsage().rss;
  const begunAt = Date.now();
  while (followers.length < 1000)
    followers.push(...(await Promise.all(Array.from({ length: 50 }, () => world.follow(world.url)))));
  const postedAt = Date.now();
  await world.gateway.post("say something", { key });
  await until(() => followers.some(isOver), limitMs);
  const endedAt = Date.now();
  await until(() => followers.every(isOver), limitMs);
  const toldAt = Date.now();
  const megabytes = Math.round((process.memoryUsage().rss - rssBefore) / 1e6);
  t.diagnostic(
    `1000 connections in ${postedAt - begunAt} ms; the turn took ${endedAt - postedAt} ms, the last of its ` +
      `${followers[0]?.events.length} events reached everybody within ${toldAt - endedAt} ms; ` +
      `gateway and clients together took ${megabytes} MB more`,
  );
  const want = JSON.stringify(digest(followers[0]?.events ?? []));
  assert.ok(followers.every(({ events }) => JSON.stringify(digest(events)) === want));
  assert.deepEqual(
    followers[0]?.events.filter(({ seq }) => seq !== null),
    await world.gateway.events(key),
  );
  assert.ok(megabytes < 500, `${megabytes} MB`);
});

test("a client that reads too slowly is cut off at a bounded buffer, and comes back for the rest by itself", async () => {
  await using served = await openTestServer({ token, limits: { maxBufferedBytes: 300_000 } });
  await using proxy = await openCuttingProxy(served.url, () => undefined);
  const client = createClient({ url: proxy.url, token, timing: { retryMinMs: 10 } });
  try {
    const seen: (number | null)[] = [];
    client.subscribe(key, ({ seq }) => seen.push(seq), { fromSequence: 0 });
    await client.command("ping", {});
    const closed = new Promise<number | undefined>((resolve) => client.onClose(({ code }) => resolve(code)));
    const resume = proxy.stall();
    const total = 200;
    for (let n = 0; n < total; n++) {
      served.gateway.tell(key, "session_title_generated", { title: "x".repeat(100_000), generated_by: "user" });
      await new Promise(setImmediate);
    }
    assert.deepEqual(seen, []);
    resume();
    // 1013 if its goodbye still got through within a second, else the bare end.
    const code = await closed;
    assert.ok(code === 1013 || code === 1006, `${code}`);
    assert.ok(seen.length < total, `${seen.length} events were kept for it`);
    await until(() => seen.length >= total, limitMs);
    assert.deepEqual(
      seen,
      Array.from({ length: total }, (_, index) => index + 1),
    );
    assert.equal(proxy.connections, 2);
  } finally {
    client.close();
  }
});
