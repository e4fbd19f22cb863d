import assert from "node:assert/strict";
import { test } from "node:test";
import { RequestError } from "../../../src/errors.js";
import { openSocket, refusedUpgrade } from "../../support/worlds/http/http-clients.js";
import { openTestServer, until } from "../../support/worlds/http/http-server.js";

const key = "webui:1";

test("each command gets exactly one response with its id", async () => {
  await using served = await openTestServer();
  const { gateway, url } = served;
  const client = await openSocket(url);
  const data = async (type: string, payload: object = {}): Promise<unknown> => {
    const { success, data: got, error } = await client.command(type, payload);
    assert.equal(success, true, `${type}: ${error}`);
    return got;
  };
  assert.deepEqual(await data("session_open", { session_key: key, title: "t" }), { session_key: key, reused: false });
  assert.deepEqual(await data("session_open", { session_key: key }), { session_key: key, reused: true });
  assert.deepEqual(await data("session_list"), {
    sessions: [{ key, messageCount: 0, pinned: false, archived: false, unread: 0, lastSequence: 0 }],
    total: 1,
  });
  assert.deepEqual(await data("session_title_set", { session_key: key, title: "New" }), {
    session_key: key,
    title: "New",
  });
  const sent = { session_key: key, content: "hi", message_id: "msg_mine_1", selected_skills: ["none"], chat_id: "7" };
  assert.deepEqual(await data("message_send", sent), {
    message_id: "msg_mine_1",
    status: "accepted",
    session_key: key,
  });
  assert.deepEqual(await data("message_send", sent), {
    message_id: "msg_mine_1",
    status: "duplicate",
    session_key: key,
  });
  assert.deepEqual(gateway.sent[0]?.selectedSkills, ["none"]);
  assert.equal(gateway.sent[0]?.chatId, "7");
  await until(() => gateway.logs.get(key)?.at(-1)?.type === "turn_execution_complete", "the end of the turn");
  const status = (await data("session_status", {
    session_key: key,
    include_recovery: true,
    from_sequence: 4,
  })) as Record<string, unknown>;
  assert.equal(status.last_sequence, 10);
  assert.deepEqual(status.recovery, {
    can_recover: true,
    stream_exists: false,
    recovery_source: "journal",
    missed_events_count: 6,
  });
  assert.deepEqual(await data("turn_cancel", { session_key: key }), { stopped: true });
  assert.deepEqual(await data("session_delete", { session_key: key }), { session_key: key });
  const frame = client.responses[0];
  assert.deepEqual([frame?.type, frame?.id, frame?.source], ["response", "c1", "server"]);
  assert.ok(!Number.isNaN(Date.parse(frame?.timestamp ?? "")));
  assert.deepEqual(
    client.responses.map(({ id }) => id),
    client.responses.map((_, i) => `c${i + 1}`),
  );
  client.socket.terminate();
});

test("what is wrong is said, with the id where there is one, and the connection stays", async () => {
  await using served = await openTestServer();
  const client = await openSocket(served.url);
  const refused = async (text: string, id: string | undefined, error: RegExp, code = "bad_request"): Promise<void> => {
    const frame = await client.sendText(text);
    assert.equal(frame.response.success, false, text);
    assert.deepEqual([frame.id, frame.response.code], [id, code], text);
    assert.match(frame.response.error ?? "", error);
  };
  const command = (type: string, payload: unknown): string =>
    JSON.stringify({ type: "command", id: "x", command: { type, payload } });
  await refused("not json", undefined, /not valid JSON/);
  await refused("[1]", undefined, /^body: must be of the type object$/);
  await refused('{"type":"command","id":"x"}', "x", /^command: is missing$/);
  await refused('{"type":"command","command":{"type":"session_list"}}', undefined, /^id: /);
  await refused('{"type":"event","id":"x"}', "x", /^type: must be command, chat or interrupt$/);
  await refused(`{"a":${"[".repeat(100)}${"]".repeat(100)}}`, undefined, /64 levels/);
  await refused(command("no_such", {}), "x", /no command "no_such"/, "unknown_command");
  await refused(command("constructor", {}), "x", /no command/, "unknown_command");
  await refused(command("message_send", { session_key: key }), "x", /^content: /);
  await refused(command("session_title_set", { session_key: key, title: " " }), "x", /^title: /);
  await refused(command("events_subscribe", { session_key: key, from_sequence: -1 }), "x", /^from_sequence: /);
  await refused(command("session_delete", { session_key: "webui:none" }), "x", /no session/, "not_found");
  await refused(command("human_input_reply", { session_key: key }), "x", /^request_id: /);
  const reply = { session_key: key, request_id: "ask_1", answer: "1" };
  await refused(command("human_input_reply", reply), "x", /no such question/, "not_found");
  await refused(command("session_abort", { session_key: "webui:none" }), "x", /no session/, "not_found");
  await refused(command("session_fork", { session_key: key, at: "2" }), "x", /^at: /);
  const binary = new Promise((resolve) => client.socket.once("message", (data) => resolve(String(data))));
  client.socket.send(Buffer.from("{}"));
  assert.match(String(await binary), /JSON text/);
  served.gateway.refuseSend = new TypeError("a bug with a secret");
  const bug = await client.command("message_send", { session_key: key, content: "x" });
  assert.equal(bug.code, "UNKNOWN");
  assert.doesNotMatch(bug.error ?? "", /secret/);
  assert.equal((await client.command("session_list")).success, true);
  client.socket.terminate();
});

test("a command without an answer in time gets an error, and its late answer nothing more", async () => {
  await using served = await openTestServer({ timings: { commandTimeoutMs: 300 } });
  let answer: () => void = () => {};
  served.gateway.operations.stopTurn = () =>
    new Promise((resolve) => {
      answer = () => resolve({ stopped: true });
    });
  const client = await openSocket(served.url);
  const late = await client.command("turn_cancel", { session_key: key });
  assert.deepEqual([late.success, late.code], [false, "timeout"]);
  answer();
  assert.equal((await client.command("session_list")).success, true);
  assert.equal(client.responses.length, 2);
  client.socket.terminate();
});

test("who follows * and one session gets each event once, and nothing after unsubscribing", async () => {
  await using served = await openTestServer();
  const { gateway, url } = served;
  const title = (session: string): void =>
    void gateway.tell(session, "session_title_generated", { title: "t", generated_by: "user" });
  const client = await openSocket(url);
  title(key);
  await client.command("events_subscribe", { session_key: "*" });
  await client.command("events_subscribe", { session_key: key, from_sequence: 0 });
  await client.command("events_subscribe", { session_key: key, from_sequence: 0 });
  await until(() => client.events.length >= 1, "the past");
  title(key);
  title("webui:2");
  title("system:test");
  await until(() => client.events.length >= 3, "three events");
  await client.command("session_list");
  const seen = client.events.map((event) => `${event.session_key} ${event.seq}`);
  assert.deepEqual([...new Set(seen)], ["webui:1 1", "webui:1 2", "webui:2 1"]);
  assert.ok(seen.length <= 4, "a replaced subscription tells nothing more");
  const off = await client.command("events_unsubscribe", { session_key: "*" });
  assert.deepEqual(off.data, { session_key: "*", was_subscribed: true });
  await client.command("events_unsubscribe", { session_key: key });
  const before = client.events.length;
  title(key);
  title("webui:2");
  assert.deepEqual((await client.command("events_unsubscribe", { session_key: "*" })).data, {
    session_key: "*",
    was_subscribed: false,
  });
  assert.equal(client.events.length, before);
  client.socket.terminate();
});

test("a subscription's answer says where the session's log ends, and comes before its first event", async () => {
  await using served = await openTestServer();
  const { gateway, url } = served;
  const title = (): void => void gateway.tell(key, "session_title_generated", { title: "t", generated_by: "user" });
  for (let i = 0; i < 3; i++) title();
  const client = await openSocket(url);
  const order: string[] = [];
  client.socket.on("message", (data) => {
    const frame = JSON.parse(String(data));
    order.push(frame.type === "event" ? String(frame.event.seq) : frame.id);
  });
  const answer = await client.command("events_subscribe", { session_key: key, from_sequence: 1 });
  assert.deepEqual(answer.data, { session_key: key, last_sequence: 3 });
  await until(() => order.length === 3, "the past");
  // Leaving before it has begun leaves nothing behind.
  const begin = { type: "events_subscribe", payload: { session_key: key, from_sequence: 0 } };
  const end = { type: "events_unsubscribe", payload: { session_key: key } };
  for (const [id, command] of [
    ["a", begin],
    ["b", end],
  ])
    client.socket.send(JSON.stringify({ type: "command", id, command }));
  await until(() => order.includes("a") && order.includes("b"), "both answers");
  title();
  const last = await client.command("events_subscribe", { session_key: "*" });
  assert.deepEqual(last.data, { session_key: "*" });
  assert.deepEqual(order.toSorted().slice(0, 6), ["2", "3", "a", "b", "c1", "c2"]);
  assert.deepEqual(order.slice(0, 3), ["c1", "2", "3"]);
  assert.equal((await client.command("ping")).success, true);
  client.socket.terminate();
});

test("a past that cannot be read closes the connection, so that the client comes back", async () => {
  await using served = await openTestServer();
  served.gateway.api.subscribe = () => ({
    joinedAt: Promise.resolve(0),
    caughtUp: Promise.reject(new Error("disk")),
    close() {},
  });
  const client = await openSocket(served.url);
  client.socket.send(
    JSON.stringify({ type: "command", id: "1", command: { type: "events_subscribe", payload: { session_key: key } } }),
  );
  assert.equal((await client.closed).code, 1011);
});

test("the Go maxclaw's interrupt frame still works", async () => {
  await using served = await openTestServer();
  const { gateway, url } = served;
  gateway.onSend = () => {};
  gateway.tell(key, "session_title_generated", { title: "t", generated_by: "user" });
  const client = await openSocket(url);
  const send = (frame: object) => client.sendText(JSON.stringify({ type: "interrupt", session: key, ...frame }));
  assert.deepEqual((await send({ mode: "cancel" })).response, { success: true, data: { stopped: true } });
  assert.equal((await send({ mode: "append", content: "and this" })).response.success, true);
  assert.equal((await send({ mode: "cancel", content: "rather this" })).response.success, true);
  assert.equal((await send({ mode: "append" })).response.success, false);
  assert.equal((await send({ mode: "other" })).response.success, false);
  assert.deepEqual(
    gateway.sent.map(({ content, mode }) => [content, mode]),
    [
      ["and this", "append"],
      ["rather this", "cancel"],
    ],
  );
  client.socket.terminate();
});

test("a connection whose pong is late is ended, one that answers stays", async () => {
  await using served = await openTestServer({ timings: { pingIntervalMs: 25, pongTimeoutMs: 400 } });
  const [deaf, healthy] = await Promise.all([openSocket(served.url, { autoPong: false }), openSocket(served.url)]);
  let pings = 0;
  healthy.socket.on("ping", () => {
    pings++;
  });
  assert.equal((await deaf.closed).code, 1006);
  await until(() => pings >= 6, "six pings");
  assert.equal((await healthy.command("session_list")).success, true);
  healthy.socket.terminate();
});

test("a reader that stalls is told to come back, while others go on", async () => {
  await using served = await openTestServer({ limits: { maxBufferedBytes: 500_000 } });
  const { gateway, url } = served;
  const [slow, quick] = await Promise.all([openSocket(url), openSocket(url)]);
  await slow.command("events_subscribe", { session_key: key });
  await quick.command("events_subscribe", { session_key: key });
  slow.socket.pause();
  let told = 0;
  const tellMore = async (): Promise<void> => {
    gateway.tell(key, "session_title_generated", { title: "x".repeat(100_000), generated_by: "user" });
    told++;
    await until(() => quick.events.length === told, "the quick reader");
  };
  for (let i = 0; i < 150; i++) await tellMore();
  slow.socket.resume();
  const { code } = await slow.closed;
  // 1013 if its goodbye still got through within the second, else the bare end.
  assert.ok(code === 1013 || code === 1006, `${code}`);
  assert.ok(slow.events.length < told);
  await tellMore();
  const back = await openSocket(url);
  await back.command("events_subscribe", { session_key: key, from_sequence: slow.events.at(-1)?.seq ?? 0 });
  await until(() => back.events.at(-1)?.seq === told, "the rest");
  assert.equal(slow.events.length + back.events.length, told);
  for (const each of [quick, back]) each.socket.terminate();
});

test("a frame that is too large, one connection too many and a wrong path are refused", async () => {
  await using served = await openTestServer({ limits: { maxConnections: 2, maxBodyBytes: 1000 } });
  const { url } = served;
  const [big, other] = await Promise.all([openSocket(url), openSocket(url)]);
  assert.equal(await refusedUpgrade(`${url}/ws`), 503);
  big.socket.send("x".repeat(1001));
  assert.equal((await big.closed).code, 1009);
  assert.equal(await refusedUpgrade(`${url}/other`), 404);
  assert.equal(await refusedUpgrade(`${url}/api/status`), 404);
  let third: Awaited<ReturnType<typeof openSocket>> | undefined;
  for (let i = 0; third === undefined && i < 100; i++) third = await openSocket(url).catch(() => undefined);
  assert.equal((await third?.command("session_list"))?.success, true, "its place was freed");
  served.stop.abort();
  assert.deepEqual(await other.closed, { code: 1001, reason: "the gateway is stopping" });
});

test("a flood of commands is answered with busy past a limit, each with its id", async () => {
  await using served = await openTestServer();
  const waiting: (() => void)[] = [];
  served.gateway.operations.stopTurn = () => new Promise((resolve) => waiting.push(() => resolve({ stopped: false })));
  const client = await openSocket(served.url);
  const all = Array.from({ length: 70 }, () => client.command("turn_cancel", { session_key: key }));
  await until(() => client.responses.length === 6, "six refusals");
  for (const go of waiting) go();
  const codes = (await Promise.all(all)).map((response) => response.code ?? "ok");
  assert.equal(codes.filter((code) => code === "BUFFER_FULL").length, 6);
  assert.equal(codes.filter((code) => code === "ok").length, 64);
  client.socket.terminate();
});

test("a refusal of the gateway keeps its code", async () => {
  await using served = await openTestServer();
  served.gateway.refuseSend = new RequestError("Too many messages are waiting.", { status: 429, code: "BUFFER_FULL" });
  const client = await openSocket(served.url);
  assert.deepEqual(await client.command("message_send", { session_key: key, content: "x" }), {
    success: false,
    error: "Too many messages are waiting.",
    code: "BUFFER_FULL",
  });
  client.socket.terminate();
});
