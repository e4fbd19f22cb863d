import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ClientError, createClient } from "../../../src/client/node.js";
import type { GatewayEvent, StoredEvent } from "../../../src/events/event.js";
import { until } from "../../support/fakes/web-frames.js";
import { startGateway, startWithModel, type TestGatewayOptions } from "../../support/worlds/gateway.js";
import { refusedUpgrade } from "../../support/worlds/http/http-clients.js";
import type { AnswerScript } from "../../support/worlds/model-script.js";
import { hangingTool } from "../../support/worlds/tools/hanging-tool.js";

const key = "webui:replay";

interface Page {
  readonly events: readonly StoredEvent[];
  readonly has_more: boolean;
}

interface WireStatus {
  readonly is_running: boolean;
  readonly last_sequence: number;
  readonly current_message_id?: string;
  readonly recovery: {
    readonly can_recover: boolean;
    readonly stream_exists: boolean;
    readonly recovery_source: string;
    readonly missed_events_count: number;
  };
}

async function start(answer: AnswerScript, more: Record<string, unknown> = {}, tools?: TestGatewayOptions["tools"]) {
  const scripted = await startWithModel(answer, more, { tools });
  const { url } = scripted;
  // What the assertions read of it is what they check.
  const get = async <T>(path: string): Promise<T> => (await (await fetch(url + path)).json()) as T;
  return {
    ...scripted,
    page: (from: number, limit: number, of = key): Promise<Page> =>
      get(`/api/sessions/${of}/events?from_sequence=${from}&limit=${limit}`),
    status: (from = 0, of = key): Promise<WireStatus> =>
      get(`/api/sessions/${of}/status?include_recovery=true&from_sequence=${from}`),
  };
}

test("pages have exactly the events that are there, and has_more is exact, also while events come", async () => {
  await using t = await start({ text: "ok" });
  await t.gateway.ask("hello", { key });
  let isWriting = true;
  const writing = (async () => {
    for (let n = 0; n < 60; n++) await t.api.renameSession(key, `title ${n}`);
    isWriting = false;
  })();
  const readAll = async (limit: number): Promise<void> => {
    for (let from = 0, wasMore = false, isLast = false; !isLast; ) {
      isLast = !isWriting;
      const before = (await t.status()).last_sequence;
      const { events, has_more } = await t.page(from, limit);
      const expected = Array.from({ length: events.length }, (_, index) => from + index + 1);
      assert.deepEqual(
        events.map(({ seq }) => seq),
        expected,
      );
      const reached = events.at(-1)?.seq ?? from;
      assert.ok(events.length > 0 || !wasMore, "has_more promised more");
      assert.ok(has_more ? events.length === limit : reached >= before, "has_more says all there is");
      wasMore = has_more;
      from = reached;
      isLast &&= !has_more;
    }
  };
  await Promise.all([writing, readAll(1), readAll(7), readAll(10_000)]);
  const all = await t.page(0, 10_000);
  const last = all.events.length;
  for (const [from, limit, count, more] of [
    [0, last, last, false],
    [0, last - 1, last - 1, true],
    [last - 1, 1, 1, false],
    [last - 2, 1, 1, true],
    [last, 1, 0, false],
    [last + 7, 1, 0, false],
  ] as const) {
    const { events, has_more } = await t.page(from, limit);
    assert.deepEqual([events.length, has_more], [count, more], `from ${from}, limit ${limit} of ${last}`);
  }
  assert.equal((await t.page(0, 10_000, "system")).events[0]?.type, "gateway_state_changed");
  for (const query of ["from_sequence=-1", "from_sequence=1.5", "limit=0", "limit=10001", "limit=", "from_sequence=x"])
    assert.equal((await fetch(`${t.url}/api/sessions/${key}/events?${query}`)).status, 400, query);
  assert.equal((await fetch(`${t.url}/api/sessions/webui:nobody/events`)).status, 404);
  assert.equal((await fetch(`${t.url}/api/sessions/nothing/stream`)).status, 400, "what is not a key is not a session");
});

test("the status says where a client that was away gets the rest from, and how much that is", async () => {
  let isToolRunning = false;
  const slow = hangingTool("read", () => {
    isToolRunning = true;
  });
  await using t = await start(
    [
      { text: "ok" },
      { text: ["so", " far"], hang: "middle" },
      { toolCalls: [{ id: "call_1", name: "slow", input: {} }] },
    ],
    {},
    [slow],
  );
  assert.equal((await fetch(`${t.url}/api/sessions/${key}/status?include_recovery=true`)).status, 404);
  const empty = join(t.gateway.workspace, ".sessions", "webui_empty.json");
  await writeFile(empty, JSON.stringify({ key: "webui:empty", messages: [] }));
  const none = { can_recover: false, stream_exists: false, recovery_source: "none", missed_events_count: 0 };
  assert.deepEqual((await t.status(0, "webui:empty")).recovery, none);

  await t.gateway.ask("hello", { key });
  const rest = await t.status();
  const journal = { can_recover: true, stream_exists: false, recovery_source: "journal" };
  assert.deepEqual(rest.recovery, { ...journal, missed_events_count: rest.last_sequence });
  for (const [from, missed] of [
    [rest.last_sequence - 3, 3],
    [rest.last_sequence, 0],
    [rest.last_sequence + 9, 0],
  ] as const)
    assert.deepEqual((await t.status(from)).recovery, { ...journal, missed_events_count: missed });

  const posted = await t.gateway.post("stream", { key });
  await t.gateway.waitForEvent((event) => event.type === "text_delta" && event.payload.text.endsWith("far"), key);
  const streaming = await t.status(rest.last_sequence);
  assert.equal(streaming.is_running, true);
  assert.match(streaming.current_message_id ?? "", /^msg_/);
  const missed = streaming.last_sequence - rest.last_sequence;
  const stream = { can_recover: true, stream_exists: true, recovery_source: "stream", missed_events_count: missed };
  assert.deepEqual(streaming.recovery, stream);
  await t.api.stopTurn(key);
  await t.gateway.outcome(posted, key);

  const held = await t.gateway.post("use the tool", { key });
  await until(() => isToolRunning);
  const working = await t.status(streaming.last_sequence);
  assert.deepEqual([working.is_running, working.recovery.recovery_source], [true, "journal"]);
  assert.equal(working.current_message_id, undefined);
  await t.api.stopTurn(key);
  await t.gateway.outcome(held, key);

  t.model.setAnswer({ text: "again" });
  await t.api.deleteSession(key);
  assert.equal((await fetch(`${t.url}/api/sessions/${key}/status`)).status, 404);
  await t.gateway.ask("a new life", { key });
  const { events, has_more } = await t.page(0, 10_000);
  assert.ok((events[0]?.seq ?? 0) > working.last_sequence, "the numbers go on");
  assert.equal(has_more, false);
  assert.equal((await t.status()).recovery.missed_events_count, events.length, "what was deleted cannot be missed");
});

test("the typed commands of the client say what the gateway did", async () => {
  await using t = await start({ text: "the answer" });
  const client = createClient({ url: t.url });
  try {
    const opened = await client.openSession({ sessionKey: key, title: "One" });
    assert.deepEqual(opened, { sessionKey: key, reused: false });
    assert.equal((await client.openSession({ sessionKey: key })).reused, true);
    assert.match((await client.openSession()).sessionKey, /^webui:[0-9a-f]{8}$/);

    const over = new Promise<void>((resolve) => {
      client.subscribe(key, (event) => event.payload.stop_reason === "end_turn" && resolve(), {
        types: ["turn_execution_complete"],
      });
    });
    const sent = await client.sendMessage({ sessionKey: key, content: "hello" });
    assert.equal(sent.status, "accepted");
    const again = await client.sendMessage({ sessionKey: key, content: "hello", messageId: sent.messageId });
    assert.deepEqual(again, { ...sent, status: "duplicate" });
    await over;
    const status = await client.sessionStatus(key, { includeRecovery: true });
    assert.deepEqual([status.agentState, status.isRunning], ["idle", false]);
    assert.equal(status.recovery?.missedEventsCount, status.lastSequence);
    assert.equal((await client.sessionStatus(key)).recovery, undefined);
    assert.deepEqual(await client.cancelTurn(key), { stopped: false });
    await client.setTitle(key, "Two");
    const { sessions, total } = await client.listSessions({ channel: "webui", limit: 1 });
    assert.equal(total, 2);
    const [first] = sessions;
    assert.deepEqual([first?.key, first?.title, first?.lastMessage], [key, "Two", "the answer"]);
    await client.deleteSession(key);
    await assert.rejects(client.deleteSession(key), (error) => {
      assert.ok(error instanceof ClientError);
      assert.deepEqual([error.kind, error.code], ["refused", "not_found"]);
      return true;
    });
  } finally {
    client.close();
  }
});

test("a client learns that a power cut took the end of a log, and follows what comes in its place", async () => {
  await using t = await start({ text: "ok" });
  await t.gateway.ask("one", { key });
  const { port } = new URL(t.url);
  const client = createClient({ url: t.url, timing: { retryMinMs: 20, retryMaxMs: 100 } });
  const told: string[] = [];
  try {
    const onEvent = (event: GatewayEvent): unknown => event.seq !== null && told.push(`${event.seq} ${event.event_id}`);
    client.subscribe(key, onEvent, { fromSequence: 0, onRewind: (last) => told.push(`back to ${last}`) });
    const { last_sequence } = await t.status();
    await until(() => told.length === last_sequence);
    await t.gateway.gateway.drain(1000);
    await t.gateway.gateway[Symbol.asyncDispose]();
    const path = join(t.gateway.workspace, ".sessions", "webui_replay.events.jsonl");
    const lines = (await readFile(path, "utf8")).split("\n").slice(0, -1);
    const kept = lines.length - 3;
    await writeFile(path, `${lines.slice(0, kept).join("\n")}\n`);
    // The document had not been written either; where it was, the numbers go on behind what it shows.
    await rm(path.replace(".events.jsonl", ".json"));
    const before = told.slice(0, kept);

    // What is left of the log tells about turns without an end.
    await using again = await startGateway({ home: t.gateway.home, port: Number(port), isRuled: false });
    await until(() => told.includes(`back to ${kept}`));
    await again.ask("two", { key });
    const log = await again.events(key);
    await until(() => told.at(-1) === `${log.length} ${log.at(-1)?.event_id}`);
    const rest = told.slice(told.indexOf(`back to ${kept}`) + 1);
    assert.deepEqual(
      [...before, ...rest],
      log.map(({ seq, event_id }) => `${seq} ${event_id}`),
    );
  } finally {
    client.close();
  }
});

test("with a token the gateway's own events, and everything else, are for those who have it", async () => {
  const token = "t0ken-of-the-owner";
  await using t = await start({ text: "ok" }, { gateway: { token } });
  assert.equal(await refusedUpgrade(`${t.url}/ws`), 401);
  for (const path of ["system/stream", "system/events", `${key}/stream`])
    assert.equal((await fetch(`${t.url}/api/sessions/${path}`)).status, 401, path);
  const stranger = createClient({ url: t.url, token: "wrong" });
  const errors: string[] = [];
  stranger.onError((error) => errors.push(error.message));
  const owner = createClient({ url: t.url, token });
  try {
    const system: GatewayEvent[] = [];
    const chats: GatewayEvent[] = [];
    owner.subscribe("system", (event) => system.push(event), { fromSequence: 0 });
    owner.subscribe("*", (event) => chats.push(event), { types: ["user_message", "turn_execution_complete"] });
    await until(() => system.some(({ type }) => type === "gateway_state_changed"));
    await owner.command("ping", {});
    await t.gateway.ask("hello", { key });
    await until(() => chats.length === 2);
    assert.deepEqual(
      chats.map(({ type, session_key }) => `${type} ${session_key}`),
      [`user_message ${key}`, `turn_execution_complete ${key}`],
    );
    assert.ok(system.every(({ session_key }) => session_key.startsWith("system:")));
    await until(() => errors.some((message) => message.includes("401")));
    assert.notEqual(stranger.state, "open");
  } finally {
    stranger.close();
    owner.close();
  }
});
