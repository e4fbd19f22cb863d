import assert from "node:assert/strict";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { openEmbeddedEngine } from "../../../src/engine/embedded/open.js";
import type { StoredEvent } from "../../../src/events/event.js";
import { silentLog } from "../../../src/log.js";
import { logPaths, verifyEvents } from "../../../src/offline/events.js";
import { findTurn } from "../../../src/replay/find-turn.js";
import { readRecordedTurn } from "../../../src/replay/recorded-turn.js";
import { compiledFile } from "../../support/project.js";
import { startGateway, startWithModel, type TestGateway } from "../../support/worlds/gateway.js";

const key = "webui:test";
const never = new AbortController().signal;

/** Leaves out the details of all turns, as the gateway does it with old ones. Gives the bytes before and after. */
async function dropAll({ home, workspace }: TestGateway): Promise<readonly [number, number]> {
  const logPath = logPaths({ home, workspace });
  const path = logPath(key);
  const before = statSync(path).size;
  const engine = await openEmbeddedEngine({
    home,
    logs: { pathOf: logPath, all: () => [path] },
    publish: () => {},
    instanceId: "gw_test",
    log: silentLog,
  });
  const report = await engine.thinLogs({ sinceMs: 0, beforeMs: Date.now() + 86_400_000 }, never);
  await engine[Symbol.asyncDispose]();
  assert.equal(report.failed, 0);
  return [before, statSync(path).size];
}

/** What a client is told that has seen everything up to a number. */
async function toldAfter({ gateway }: TestGateway, fromSequence: number, last: number): Promise<readonly number[]> {
  const seqs: number[] = [];
  await new Promise<void>((resolve) => {
    const subscription = gateway.api.subscribe(key, { fromSequence }, ({ seq }) => {
      if (seq !== null) seqs.push(seq);
      if (seq === last) queueMicrotask(resolve);
    });
    if (fromSequence >= last) subscription.caughtUp.then(resolve, resolve);
  });
  return seqs;
}

test("a session whose details are gone is shown, resumed, asked, copied and undone as before", async () => {
  await using t = await startWithModel(({ index }) =>
    index === 0
      ? { thinking: "I think.", text: "Let me look.", toolCalls: [{ id: "a", name: "list_dir", input: { path: "." } }] }
      : { thinking: "Hm.", text: `answer ${index}` },
  );
  await t.gateway.ask("first");
  await t.gateway.ask("second");
  const all = await t.gateway.events();
  const document = await t.api.getSession(key);
  const config = { agents: { defaults: { model: "openai/test-model" } }, memory: { titles: "first" } };
  const given = { ...config, providers: { openai: { apiKey: "sk-test-key", apiBase: t.model.apiBase } } };
  await t.gateway.gateway.drain(0);
  await t.gateway.gateway[Symbol.asyncDispose]();
  const { home } = t.gateway;
  const older = await olderProgram();
  older.assertHomeFormat(home);
  const [before, after] = await dropAll(t.gateway);
  assert.throws(
    () => older.assertHomeFormat(home),
    /format\.json says that this home has format 2; .* up to 1\..*newer version/,
  );
  assert.ok(after < before * 0.75, `${after} of ${before} bytes are left`);

  await using again = await startGateway({ home, config: given, isRuled: false });
  const { api } = again.gateway;
  assert.deepEqual(withoutThinking(await api.getSession(key)), withoutThinking(document));
  const left = await again.events();
  assert.deepEqual(
    left.map(({ seq }) => seq),
    all.filter(({ type }) => !isDetail(type)).map(({ seq }) => seq),
  );
  const last = all.at(-1)?.seq ?? 0;
  for (const { seq } of all) assert.deepEqual(await toldAfter(again, seq, last), seqsAfter(left, seq));

  const [turnId = ""] = left.flatMap(({ turn_id }) => turn_id ?? []);
  const found = await findTurn(home, join(again.workspace, ".sessions"), turnId);
  assert.ok(found !== undefined);
  assert.throws(() => readRecordedTurn(found, turnId), /lacks events before \d+, whose details were left out/);

  const detail = all.find(({ type }) => isDetail(type))?.seq;
  for (const at of [detail, last]) {
    const fork = await api.forkSession(key, at);
    const copy = await again.events(fork.key);
    assert.deepEqual(
      copy.map(({ seq }) => seq),
      copy.map((_, index) => index + 1),
    );
  }
  await again.ask("third");
  assert.match(JSON.stringify(t.model.requests.at(-1)?.body), /first.*answer 1.*second.*answer 2.*third/s);
  await again.ask("/undo");
  await again.ask("/undo");
  await again.ask("fourth");
  const body = JSON.stringify(t.model.requests.at(-1)?.body);
  assert.match(body, /first.*answer 1.*fourth/s);
  assert.doesNotMatch(body, /answer 2/);
  const { problems } = await verifyEvents(again, undefined, { signal: never });
  assert.deepEqual(problems, []);
});

test("a home whose details all stay can be opened by an older program", async () => {
  await using t = await startWithModel(() => ({ text: "fine" }));
  await t.gateway.ask("first");
  await t.gateway.gateway.drain(0);
  await t.gateway.gateway[Symbol.asyncDispose]();
  const { home, workspace } = t.gateway;
  const logPath = logPaths({ home, workspace });
  const engine = await openEmbeddedEngine({
    ...{ home, logs: { pathOf: logPath, all: () => [logPath(key)] } },
    ...{ publish: () => {}, instanceId: "gw_test", log: silentLog },
  });
  await engine.thinLogs({ sinceMs: 0, beforeMs: 1 }, never);
  await engine[Symbol.asyncDispose]();
  (await olderProgram()).assertHomeFormat(home);
});

/** What a program checks that is from before details could be left out. */
async function olderProgram(): Promise<{ assertHomeFormat(home: string): void }> {
  const own = compiledFile("src/engine/embedded/home-format.js");
  const text = readFileSync(own, "utf8");
  const older = text.replace("homeFormat = 2", "homeFormat = 1");
  assert.notEqual(older, text);
  const path = own.replace(/\.js$/, `.older-${process.pid}.mjs`);
  writeFileSync(path, older);
  try {
    return await import(pathToFileURL(path).href);
  } finally {
    rmSync(path);
  }
}

function withoutThinking(document: object): unknown {
  return JSON.parse(JSON.stringify(document), (_key, value: unknown) =>
    Array.isArray(value) ? value.filter((part) => part?.type !== "thinking") : value,
  );
}

function seqsAfter(events: readonly StoredEvent[], after: number): readonly number[] {
  return events.map(({ seq }) => seq).filter((seq) => seq > after);
}

function isDetail(type: string): boolean {
  return type === "agent_state_changed" || type === "turn_iteration_start";
}
