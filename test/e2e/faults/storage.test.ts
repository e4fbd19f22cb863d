import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Redis } from "ioredis";
import { z } from "zod";
import { loadDriver } from "../../../src/sessions/storage/packages.js";
import type { StorageDriver } from "../../../src/sessions/storage/storage.js";
import { createUnstorage } from "../../../src/sessions/storage/unstorage.js";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import {
  type ServerName,
  type StorageServer,
  startServer,
  withoutServer,
} from "../../support/fakes/storage-servers.js";
import { type Daemon, runMaxclaw, startDaemon } from "../../support/worlds/daemon.js";
import { openAIConfig, tempHome } from "../../support/worlds/gateway.js";

const limitMs = 30_000;

async function world(t: TestContext, name: ServerName) {
  const server = await startServer(name);
  t.after(() => server[Symbol.asyncDispose]());
  const model = await startFakeOpenAI({ answer: { text: "an answer" } });
  t.after(() => model[Symbol.asyncDispose]());
  const home = await tempHome();
  t.after(() => rm(home, { recursive: true, force: true }));
  const storage = server.settings("e2e");
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase, { storage })));
  return { server, home };
}

const reply = z.object({
  response: z.string().optional(),
  code: z.string().optional(),
  problems: z.array(z.string()).default([]),
  sessions: z.array(z.object({ key: z.string(), messageCount: z.number() })).default([]),
});

async function call(daemon: Daemon, method: string, path: string, body?: unknown) {
  const response = await fetch(daemon.url + path, {
    method,
    headers: { "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(limitMs),
  });
  return { status: response.status, body: reply.parse(await response.json()) };
}

async function ask(daemon: Daemon, sessionKey: string, content: string): Promise<void> {
  const { status, body } = await call(daemon, "POST", "/api/message", { sessionKey, content });
  assert.deepEqual([status, body.response], [200, "an answer"]);
}

/** What another program sees in the storage. */
async function openReader({ settings }: StorageServer): Promise<StorageDriver> {
  const { driver } = settings("e2e");
  return createUnstorage({ name: driver, open: await loadDriver(settings("e2e")) });
}

async function textsIn(reader: StorageDriver, key: string): Promise<readonly string[]> {
  const record = await reader.get(`messages:${key}`).catch(() => undefined);
  const messages: readonly { content: string }[] = Reflect.get(record ?? {}, "messages") ?? [];
  return messages.map(({ content }) => content);
}

async function problemsOf(daemon: Daemon): Promise<string> {
  return (await call(daemon, "GET", "/api/status")).body.problems.join("\n");
}

async function listed(daemon: Daemon): Promise<Record<string, number>> {
  const { sessions } = (await call(daemon, "GET", "/api/sessions")).body;
  return Object.fromEntries(sessions.map(({ key, messageCount }) => [key, messageCount]));
}

test("with Redis as storage, sessions are listed, shown, renamed and deleted, also after kill -9", {
  skip: withoutServer("redis"),
}, async (t) => {
  const { server, home } = await world(t, "redis");
  const redis = new Redis(String(server.settings("e2e").options.url), { keyPrefix: "e2e:" });
  t.after(() => redis.disconnect());
  {
    await using daemon = await startDaemon({ home });
    for (const key of ["webui:first", "webui:second"]) await ask(daemon, key, `to ${key}`);
    await until(
      "the documents are written",
      async () => (await redis.exists("idx:sessions:channel:webui:webui:second")) === 1,
      limitMs,
    );
    await ask(daemon, "webui:second", "and at once:");
    await daemon.end("SIGKILL");
  }
  await using daemon = await startDaemon({ home });
  assert.deepEqual(await listed(daemon), { "webui:first": 2, "webui:second": 4 });
  await until(
    "the cut off document is caught up",
    async () => (await redis.get("messages:webui:second"))?.includes("and at once") ?? false,
    limitMs,
  );
  assert.match((await runMaxclaw(["sessions", "list"], home)).stdout, /webui:second/);
  assert.match((await runMaxclaw(["sessions", "show", "webui:second"], home)).stdout, /and at once:[\s\S]*an answer/);

  assert.equal((await call(daemon, "POST", "/api/sessions/webui:first/rename", { title: "My title" })).status, 200);
  await until(
    "the title is stored",
    async () => (await redis.get("sessions:webui:first"))?.includes("My title") ?? false,
    limitMs,
  );
  assert.equal((await runMaxclaw(["sessions", "delete", "webui:second", "--yes"], home)).code, 0);
  assert.deepEqual((await redis.keys("e2e:*")).sort(), [
    "e2e:idx:sessions:channel:webui:webui:first",
    "e2e:idx:sessions:chat:first:webui:first",
    "e2e:messages:webui:first",
    "e2e:sessions:webui:first",
  ]);
  assert.deepEqual(await listed(daemon), { "webui:first": 2 });
  assert.equal((await call(daemon, "GET", "/api/sessions/webui:second")).status, 404);
  const files = readdirSync(join(home, "workspace", ".sessions"));
  assert.deepEqual(
    files.filter((name) => name.endsWith(".json")),
    [],
  );
});

for (const name of ["redis", "postgres"] as const)
  test(`with ${name} as storage, chats go on while it is away, and it has everything once it is back`, {
    skip: withoutServer(name),
  }, async (t) => {
    const { server, home } = await world(t, name);
    await using reader = await openReader(server);
    await server.kill();
    await using daemon = await startDaemon({ home });
    await ask(daemon, "webui:early", "before it was there");
    await until(
      "the storage is named in the status",
      async () => /session storage/.test(await problemsOf(daemon)),
      limitMs,
    );
    assert.deepEqual(await listed(daemon), { "webui:early": 2 });

    await server.start();
    await until("it is caught up", async () => (await textsIn(reader, "webui:early")).length === 2, limitMs);
    await until("nothing is named any more", async () => (await problemsOf(daemon)) === "", limitMs);

    await server.kill();
    await ask(daemon, "webui:early", "while it was away");
    await ask(daemon, "webui:late", "somebody else");
    const refused = await call(daemon, "DELETE", "/api/sessions/webui:early");
    assert.deepEqual([refused.status, refused.body.code], [503, "STORAGE_FAILED"]);
    assert.deepEqual(await listed(daemon), { "webui:early": 4, "webui:late": 2 });
    await until("what waits is named", async () => /webui:early/.test(await problemsOf(daemon)), limitMs);
    assert.doesNotMatch(daemon.stderr(), /secret-word|unforeseen/);

    await server.start();
    await until("both are caught up", async () => (await textsIn(reader, "webui:late")).length === 2, limitMs);
    assert.equal((await textsIn(reader, "webui:early"))[2], "while it was away");
    assert.equal((await call(daemon, "DELETE", "/api/sessions/webui:early")).status, 200);
    assert.deepEqual(await reader.keys("sessions:"), ["sessions:webui:late"]);
    assert.equal(await daemon.end("SIGTERM"), 0);
  });
