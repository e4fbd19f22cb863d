import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, type TestContext, test } from "node:test";
import type { EmbeddedEngine } from "../../src/engine/embedded/embedded-engine.js";
import { EmbeddedSource } from "../../src/engine/embedded/moving/source.js";
import { EmbeddedTarget } from "../../src/engine/embedded/moving/target.js";
import type { Engine } from "../../src/engine/engine.js";
import type { EngineSource } from "../../src/engine/moving.js";
import { openSource, openTarget } from "../../src/engine/postgres/moving/open.js";
import { copyEngine } from "../../src/offline/engine/copy.js";
import { moveToFiles, moveToPostgres } from "../../src/offline/engine/move.js";
import { keyOfLog, logsIn } from "../../src/sessions/file-names.js";
import {
  consuming,
  inbound,
  logPath,
  openIn,
  outbound,
  recordingLog,
  tempFolder,
  titled,
  titlesOf,
  until,
} from "../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../support/fakes/models/fake-openai.js";
import { type StorageServer, startServer } from "../support/fakes/storage-servers.js";
import { openNode, postgresModules, urlOf } from "../support/postgres/postgres-kit.js";
import { openAIConfig, startGateway, type TestGateway, type TestGatewayOptions } from "../support/worlds/gateway.js";

let server: StorageServer | undefined;
before(async () => {
  server = await startServer("postgres");
});
after(() => server?.[Symbol.asyncDispose]());

const url = (): string => urlOf(server?.port ?? 0);
const never = new AbortController().signal;
const everything = { afterSeq: 0, limit: 1000 };

const sessionsOf = (home: string) => () =>
  logsIn(join(home, "sessions")).flatMap((path) => {
    const key = keyOfLog(path);
    return key === undefined ? [] : [{ key, path }];
  });

async function openFiles(home: string): Promise<EmbeddedSource> {
  return await EmbeddedSource.open({
    home,
    logs: { pathOf: (key) => logPath(home, key) },
    sessions: sessionsOf(home),
    log: recordingLog(),
  });
}

async function moving(schema: string, home: string) {
  return { modules: await postgresModules(), url: url(), schema, id: `id of ${home}`, home, log: recordingLog() };
}

async function intoSchema(home: string, schema: string, source?: EngineSource): Promise<void> {
  await using target = await openTarget(await moving(schema, home));
  await copyEngine(source ?? (await openFiles(home)), { target, onProgress: () => {}, signal: never });
}

async function intoFiles(schema: string, home: string): Promise<void> {
  await mkdir(join(home, "sessions"), { recursive: true });
  const { source, done } = await openSource({ ...(await moving(schema, home)), isTrial: false }, never);
  await using _closing = source;
  const target = new EmbeddedTarget({ home, logPathOf: (key) => logPath(home, key), sessions: sessionsOf(home) });
  await copyEngine(source, { target, onProgress: () => {}, signal: never });
  await done();
}

/** Something of everything that an engine keeps. */
async function fill(engine: EmbeddedEngine): Promise<void> {
  for (let n = 0; n < 1200; n += 100)
    await engine.append(
      "telegram:1",
      Array.from({ length: 100 }, (_, m) => titled(`${n + m} 好\u0000"`)),
      { durable: false },
    );
  await engine.append("telegram:2", [titled("before")], { durable: true });
  await engine.deleteSession("telegram:2");
  await engine.append("telegram:2", [titled("after")], { durable: true });
  await engine.append("telegram:3", [titled("gone")], { durable: true });
  await engine.deleteSession("telegram:3");
  for (let n = 0; n < 30; n += 1)
    await engine.accept(inbound(`in_${n}`, "telegram:4", { dedupId: `telegram:bot:${n}` }), {
      events: [titled(`accepted ${n}`)],
      cursor: { name: "telegram:offset", value: `${n}` },
    });
  await engine.refuse(inbound("refused", "telegram:4", { dedupId: "telegram:bot:refused" }));
  const consumer = consuming(engine, "inbound", async (delivery) => {
    const { id } = delivery.work;
    if (id === "in_0") await delivery.bury({ events: [], emit: [], reason: "poison" });
    else if (id === "in_1")
      await delivery.commit({ events: [titled("answered")], emit: [outbound("out_1"), outbound("out_2")] });
    else await delivery.retry({ reason: "later", delayMs: 60_000 });
  });
  await until(
    "the third is tried",
    async () => ((await engine.waiting("inbound", "telegram:4"))[0]?.attempts ?? 0) > 0,
  );
  await consumer.stop();
  const records = await engine.records.open("pairing");
  for (const id of ["c", "a", "b"]) await records.put(id, { of: id });
  await records.delete("a");
  for (let n = 0; n < 3; n += 1) await (await engine.lease("cron", never))[Symbol.asyncDispose]();
}

/** What anybody can see of it. Times of the database are its own. */
async function seenOf(engine: Engine): Promise<unknown> {
  const sessions = ["telegram:1", "telegram:2", "telegram:3", "telegram:4", "telegram:5"];
  const lane = async (queue: "inbound" | "outbound", key: string) =>
    (await engine.waiting(queue, key)).map(({ id, body, attempts, acceptedAt, dedupId }) => ({
      ...{ id, body, attempts, acceptedAt, dedupId },
    }));
  return {
    events: await Promise.all(
      sessions.map(async (key) => (await engine.events(key, { ...everything, limit: 5000 })).events),
    ),
    last: await Promise.all(sessions.map((key) => engine.lastSequence(key))),
    waiting: [await lane("inbound", "telegram:4"), await lane("outbound", "telegram:42")],
    dead: await engine.dead.list(),
    records: (await engine.records.open("pairing")).list(),
    cursor: await engine.cursor("telegram:offset"),
    ledger: (await engine.ledger()).toSorted((a, b) => (a.messageId < b.messageId ? -1 : 1)),
  };
}

async function assertKnown(engine: Engine): Promise<void> {
  for (const id of ["in_0", "in_1", "in_29"])
    assert.equal((await engine.accept(inbound(id, "telegram:4"), { events: [] })).status, "duplicate", id);
  const again = inbound("another", "telegram:4", { dedupId: "telegram:bot:1" });
  assert.equal((await engine.accept(again, { events: [] })).status, "duplicate");
  assert.equal(await engine.refuse(inbound("another", "telegram:4", { dedupId: "telegram:bot:refused" })), false);
}

test("everything of an engine of files is in the database, and back in other files, as it was", async (t) => {
  const [home, other] = [tempFolder(t), tempFolder(t)];
  // Ids are sealed into files of hashes early.
  const journal = { segmentBytes: 4096, sealAtLeast: 5 };
  const first = await openIn(home, { journal });
  await fill(first.engine);
  const before = await seenOf(first.engine);
  await first.engine[Symbol.asyncDispose]();
  assert.notEqual(readdirSync(join(home, "journal", "seen")).length, 0);
  await intoSchema(home, "there");
  const { engine } = await openNode(url(), "there");
  try {
    assert.deepEqual(await seenOf(engine), before);
    await assertKnown(engine);
    const lease = await engine.lease("cron", never);
    assert.equal(lease.epoch, 4);
    await lease[Symbol.asyncDispose]();
    await engine.append("telegram:5", [titled("on the way")], { durable: true });
    await engine.accept(inbound("late", "telegram:4", { dedupId: "telegram:bot:late" }), { events: [] });
  } finally {
    await engine[Symbol.asyncDispose]();
  }
  await intoFiles("there", other);
  const back = await openIn(other);
  try {
    const seen = (await seenOf(back.engine)) as { readonly events: readonly (readonly unknown[])[] };
    const old = before as { readonly events: readonly (readonly unknown[])[] };
    assert.deepEqual(seen.events.slice(0, 4), old.events.slice(0, 4));
    assert.equal(seen.events[4]?.length, 1);
    assert.deepEqual(
      (await back.engine.waiting("inbound", "telegram:4")).map(({ id }) => id),
      [...Array.from({ length: 28 }, (_, n) => `in_${n + 2}`), "late"],
    );
    await assertKnown(back.engine);
    assert.equal((await back.engine.accept(inbound("late", "telegram:4"), { events: [] })).status, "duplicate");
    const lease = await back.engine.lease("cron", never);
    assert.equal(lease.epoch, 5);
    const done: string[] = [];
    const consumer = consuming(back.engine, "inbound", async (delivery) => {
      done.push(delivery.work.id);
      await delivery.commit({ events: [], emit: [] });
    });
    await until("all is done", () => done.length === 29);
    await consumer.stop();
  } finally {
    await back.engine[Symbol.asyncDispose]();
  }
});

test("a move that was cut off goes on, with what has changed meanwhile, and no gateway works on half of it", async (t) => {
  const home = tempFolder(t);
  const first = await openIn(home);
  await fill(first.engine);
  await first.engine[Symbol.asyncDispose]();
  const source = await openFiles(home);
  const cut: EngineSource = {
    async *sessions() {
      let count = 0;
      for await (const session of source.sessions()) {
        if (count === 3) throw new Error("cut off");
        count += 1;
        yield session;
      }
    },
    state: () => source.state(),
    seen: () => source.seen(),
    [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
  };
  await assert.rejects(intoSchema(home, "cut", cut), /cut off/);
  await assert.rejects(openNode(url(), "cut"), /not all are there yet/);
  const second = await openIn(home);
  for (const key of ["telegram:1", "telegram:2", "telegram:4"])
    await second.engine.append(key, [titled("later")], { durable: true });
  const [deleted] = sessionsOf(home)().map(({ key }) => key);
  await second.engine.deleteSession(deleted ?? "");
  const before = await seenOf(second.engine);
  await second.engine[Symbol.asyncDispose]();
  await intoSchema(home, "cut");
  const { engine } = await openNode(url(), "cut");
  const now = await seenOf(engine);
  await engine[Symbol.asyncDispose]();
  assert.deepEqual(now, before);
});

test("a schema with something in it, or with a gateway at work, is refused", async (t) => {
  const home = tempFolder(t);
  const first = await openIn(home);
  await first.engine.append("telegram:1", [titled("here")], { durable: true });
  await first.engine[Symbol.asyncDispose]();
  const { engine } = await openNode(url(), "taken");
  await engine.append("telegram:9", [titled("there")], { durable: true });
  await assert.rejects(intoSchema(home, "taken"), /The schema taken is not empty/);
  await assert.rejects(intoFiles("taken", tempFolder(t)), /A gateway works with the schema taken/);
  await engine[Symbol.asyncDispose]();
  const again = await openNode(url(), "taken");
  await again.engine[Symbol.asyncDispose]();
  const target = tempFolder(t);
  await intoFiles("taken", target);
  const files = await openIn(target);
  assert.deepEqual(titlesOf((await files.engine.events("telegram:9", everything)).events), ["there"]);
  await files.engine[Symbol.asyncDispose]();
  await assert.rejects(openNode(url(), "taken"), /were moved to files in/);
  await assert.rejects(intoFiles("taken", tempFolder(t)), /was moved to .* before/);
});

describe("the conversations of a gateway", () => {
  async function folder(t: TestContext): Promise<string> {
    const path = await mkdtemp(join(tmpdir(), "maxclaw-moving-"));
    t.after(() => rm(path, { recursive: true, force: true, maxRetries: 3 }));
    return path;
  }

  /** The home stays. */
  async function working(options: TestGatewayOptions, use: (gateway: TestGateway) => Promise<void>): Promise<void> {
    const opened = await startGateway(options);
    try {
      await use(opened);
    } finally {
      await opened.gateway.drain(0);
      await opened.gateway[Symbol.asyncDispose]();
    }
  }

  test("go on in a database, and in files again", async (t) => {
    await using model = await startFakeOpenAI({ answer: () => ({ text: "hello" }) });
    const home = await folder(t);
    const workspace = join(home, "workspace");
    const engine = { kind: "postgres", url: url(), schema: "gateway" };
    const config = { ...openAIConfig(model.apiBase), agents: { defaults: { model: "openai/test-model", workspace } } };
    const common = { home, workspace, isTrial: false, onProgress: () => {}, signal: never };
    const database = { url: url(), schema: "gateway" };
    await working({ home, config }, async (files) => {
      assert.equal((await files.ask("one", { key: "webui:x" })).end, "complete");
      await files.ask("secret", { key: "webui:y" });
      await files.gateway.api.deleteSession("webui:y");
      await assert.rejects(moveToPostgres({ ...common, database }), /pid/);
    });
    await assert.rejects(startGateway({ home, config: { ...config, engine } }), /maxclaw engine migrate --to postgres/);
    const trial = await moveToPostgres({ ...common, database, isTrial: true });
    assert.ok(trial.events > 5);
    const moved = await moveToPostgres({ ...common, database });
    assert.equal(moved.events, trial.events);
    assert.equal(existsSync(join(home, "journal")), false);
    assert.equal(moved.aside.length, 2);
    await assert.rejects(moveToPostgres({ ...common, database }), /there is nothing to move/);
    await working({ home, config: { ...config, engine } }, async (node) => {
      const { sessions } = await node.gateway.api.listSessions({ limit: 10, offset: 0 });
      assert.deepEqual(
        sessions.map(({ key }) => key),
        ["webui:x"],
      );
      assert.equal((await node.ask("two", { key: "webui:x" })).end, "complete");
      assert.match(JSON.stringify(model.requests.at(-1)?.body), /one.*hello.*two/);
    });
    await assert.rejects(startGateway({ home, config }), /maxclaw engine migrate --to embedded/);
    await moveToFiles({ ...common, database });
    await working({ home, config }, async (files) => {
      const { sessions } = await files.gateway.api.listSessions({ limit: 10, offset: 0 });
      assert.deepEqual(
        sessions.map(({ key }) => key),
        ["webui:x"],
      );
      assert.equal((await files.ask("three", { key: "webui:x" })).end, "complete");
      assert.match(JSON.stringify(model.requests.at(-1)?.body), /one.*hello.*two.*hello.*three/);
    });
  });
});
