import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import type { GatewayEvent } from "../../../src/events/event.js";
import { digest, openSocket, readSse, type SseMessage } from "../../support/worlds/http/http-clients.js";
import { openTestServer, until } from "../../support/worlds/http/http-server.js";
import { runSteps } from "../../support/worlds/http/memory/turn.js";

const key = "webui:1";
const eventsOf = (messages: readonly SseMessage[]): readonly GatewayEvent[] =>
  messages.map((message) => JSON.parse(message.data));
const isOver = (messages: readonly SseMessage[]): boolean => messages.at(-1)?.event === "turn_execution_complete";

test("the event stream and the WebSocket tell one turn with equal stored events and equal text", async () => {
  await using served = await openTestServer();
  const { gateway, url } = served;
  const socket = await openSocket(url);
  const wildcard = await openSocket(url);
  assert.equal((await socket.command("events_subscribe", { session_key: key, from_sequence: 0 })).success, true);
  await wildcard.command("events_subscribe", { session_key: "*" });
  const response = await fetch(`${url}/api/sessions/webui%3A1/stream?from_sequence=0`);
  runSteps(gateway.turn(key, "msg_a"));
  const messages = await readSse(response, isOver);
  await until(() => socket.events.at(-1)?.type === "turn_execution_complete", "the end on the WebSocket");
  await until(() => wildcard.events.at(-1)?.type === "turn_execution_complete", "the end on *");
  assert.deepEqual(socket.events, eventsOf(messages));
  assert.deepEqual(wildcard.events, eventsOf(messages));
  assert.deepEqual(Object.values(digest(socket.events).texts), ["Let me look.", "Hello wörld"]);
  for (const [i, event] of eventsOf(messages).entries()) {
    assert.equal(messages[i]?.event, event.type);
    assert.equal(
      messages[i]?.id,
      event.seq === null ? undefined : String(event.seq),
      "only stored events move the position",
    );
  }
  socket.socket.terminate();
  wildcard.socket.terminate();
});

test("reconnecting with Last-Event-ID or from_sequence at every frame ends with the same list on both wires", async () => {
  await using served = await openTestServer();
  const { gateway, url } = served;
  const frames = gateway.turn(key, "msg_a").length;
  for (let cut = 1; cut < frames; cut += 2) {
    const session = `webui:cut-${cut}`;
    const steps = gateway.turn(session, "msg_a");
    const [whole, wire] = await Promise.all([openSocket(url), openSocket(url)]);
    await whole.command("events_subscribe", { session_key: session, from_sequence: 0 });
    await wire.command("events_subscribe", { session_key: session, from_sequence: 0 });
    const path = `${url}/api/sessions/${session}/stream?from_sequence=0`;
    const response = await fetch(path);
    for (const step of steps.slice(0, cut)) step();
    const seen = (): number => steps.slice(0, cut).length - (cut > 3 ? 1 : 0);
    await until(() => wire.events.length >= seen(), `frame ${cut}`);
    const firstHalf = eventsOf(await readSse(response, (all) => all.length >= seen()));
    wire.socket.terminate();
    const last = firstHalf.findLast((event) => event.seq !== null)?.seq ?? 0;
    const again = await openSocket(url);
    await again.command("events_subscribe", { session_key: session, from_sequence: last });
    // The header overrules the old query, as a browser's reconnect needs it.
    const secondResponse = await fetch(path, { headers: { "last-event-id": String(last) } });
    runSteps(steps.slice(cut));
    const secondHalf = eventsOf(await readSse(secondResponse, isOver));
    await until(() => again.events.at(-1)?.type === "turn_execution_complete", `the end, cut at ${cut}`);
    await until(() => whole.events.at(-1)?.type === "turn_execution_complete", `the end, cut at ${cut}`);
    const want = digest(whole.events);
    assert.deepEqual(digest([...firstHalf, ...secondHalf]), want, `SSE, cut at ${cut}`);
    assert.deepEqual(digest([...wire.events, ...again.events]), want, `WebSocket, cut at ${cut}`);
    for (const each of [whole, again]) each.socket.terminate();
  }
});

test("an event stream can be narrowed to types, keeps the line alive, and refuses a bad position", async () => {
  await using served = await openTestServer({ timings: { heartbeatMs: 20 } });
  const { gateway, url } = served;
  for (const step of gateway.turn(key, "msg_a")) step();
  const narrow = await fetch(
    `${url}/api/sessions/${key}/stream?from_sequence=0&types=turn_execution_start,turn_execution_complete`,
  );
  assert.deepEqual(
    (await readSse(narrow, (all) => all.length === 2)).map((message) => message.id),
    ["1", "9"],
  );
  const all = await fetch(`${url}/api/sessions/${key}/stream?from_sequence=7&types=`);
  assert.equal((await readSse(all, (messages) => messages.length === 2)).length, 2, "no types are all types");
  const idle = await fetch(`${url}/api/sessions/${key}/stream`);
  const reader = idle.body?.getReader();
  const first = await reader?.read();
  assert.match(new TextDecoder().decode(first?.value), /^: .*\n\n$/);
  await reader?.cancel();
  assert.equal((await fetch(`${url}/api/sessions/${key}/stream?from_sequence=-1`)).status, 400);
  assert.equal((await fetch(`${url}/api/sessions/${key}/stream`, { headers: { "last-event-id": "abc" } })).status, 400);
});

test("an event stream ends with its client and with the server, and frees its place", async () => {
  await using served = await openTestServer({ limits: { maxConnections: 1 } });
  const { url } = served;
  const path = `${url}/api/sessions/${key}/stream`;
  const first = await fetch(path);
  const refused = await fetch(path);
  assert.equal(refused.status, 503);
  assert.equal(refused.headers.get("retry-after"), "5");
  assert.equal((await fetch(`${url}/api/status`)).status, 200, "short requests still have room");
  await first.body?.cancel();
  let next = await fetch(path);
  for (let i = 0; next.status === 503 && i < 100; i++) next = await fetch(path);
  assert.equal(next.status, 200);
  served.stop.abort();
  assert.deepEqual(await readSse(next), []);
});

test("a stop waits for no connection that has never asked for anything", async () => {
  const served = await openTestServer({ timings: { graceMs: 60_000 } });
  const idle = connect({ host: "127.0.0.1", port: served.server.port });
  const gone = new Promise((resolve) => idle.once("close", resolve));
  await new Promise((resolve) => idle.once("connect", resolve));
  await fetch(`${served.url}/health`);
  const begun = Date.now();
  await served[Symbol.asyncDispose]();
  await gone;
  assert.ok(Date.now() - begun < 20_000);
});

test("a reader that stalls is cut off instead of filling memory, and gets the rest when it comes back", async () => {
  await using served = await openTestServer({ limits: { maxBufferedBytes: 300_000 } });
  const { gateway, url, server } = served;
  const stalled = connect({ host: "127.0.0.1", port: server.port });
  stalled.on("error", () => {});
  await new Promise((resolve) => stalled.once("connect", resolve));
  stalled.write(`GET /api/sessions/${key}/stream HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n\r\n`);
  await new Promise((resolve) => stalled.once("data", resolve));
  stalled.pause();
  let told = 0;
  let isCut = false;
  stalled.once("close", () => {
    isCut = true;
  });
  while (!isCut && told < 400) {
    gateway.tell(key, "session_title_generated", { title: "x".repeat(100_000), generated_by: "user" });
    told++;
    await new Promise(setImmediate);
    if (told === 300) stalled.resume();
  }
  await until(() => isCut, "the cut");
  const back = await fetch(`${url}/api/sessions/${key}/stream?from_sequence=${told - 2}`);
  assert.deepEqual(
    (await readSse(back, (all) => all.length === 2)).map((message) => message.id),
    [`${told - 1}`, `${told}`],
  );
});

test("a long past reaches a reader of ordinary speed whole, however small the buffer", async () => {
  await using served = await openTestServer({ limits: { maxBufferedBytes: 3_000_000 } });
  const { gateway, url } = served;
  for (let i = 0; i < 300; i++)
    gateway.tell(key, "session_title_generated", { title: "x".repeat(50_000), generated_by: "user" });
  const response = await fetch(`${url}/api/sessions/${key}/stream?from_sequence=0`);
  assert.equal((await readSse(response, (all) => all.length === 300)).length, 300);
  const socket = await openSocket(url);
  await socket.command("events_subscribe", { session_key: key, from_sequence: 0 });
  await until(() => socket.events.length === 300, "all events");
  socket.socket.terminate();
});
