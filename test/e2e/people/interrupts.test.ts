import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { defineTool } from "../../../src/tools/tool.js";
import { gate, until } from "../../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { createSnapshots } from "../../support/rules/snapshots.js";
import { group, resultsIn, startWorld } from "../../support/worlds/channels/chat-world.js";
import { runMaxclaw, startDaemon } from "../../support/worlds/daemon.js";
import { assertSound, openAIConfig, startGateway, tempHome } from "../../support/worlds/gateway.js";
import { openSocket } from "../../support/worlds/http/http-clients.js";

const hanging = { text: ["half an answer"], hang: "middle" } as const;

for (const phrase of ["stop", "STOP!!", "停", "打断。", "never mind"])
  test(`"${phrase}" ends the turn within a second, closes the model's connection and keeps the partial text`, async () => {
    await using w = await startWorld(hanging);
    w.say(42, "a long story");
    await w.gateway.waitForEvent((event) => event.type === "text_delta", "telegram:42");
    const stoppedAt = Date.now();
    w.say(42, phrase);
    await w.shown("Stopped.");
    assert.ok(Date.now() - stoppedAt < 1000);
    assert.equal(await w.model.requests[0]?.closedEarly, true);
    const events = await w.gateway.events("telegram:42");
    assertSound(events);
    const partial = events.find((event) => event.type === "assistant_message");
    assert.ok(partial?.type === "assistant_message" && partial.payload.partial);
    assert.deepEqual(partial.payload.content, [{ type: "text", text: "half an answer" }]);
    const end = events.find((event) => event.type === "turn_execution_cancelled");
    assert.equal(end?.type === "turn_execution_cancelled" && end.payload.message_ids.length, 2);
    assert.equal(w.model.requests.length, 1);
  });

test("words that only look like a stop join the running turn, and a phrase while nothing runs is a message", async () => {
  const held = gate();
  await using w = await startWorld(async (request) => {
    if (request.index > 0) return { text: `answer ${request.index}` };
    await held.opened;
    return { toolCalls: [{ id: "look", name: "list_dir", input: { path: "." } }] };
  });
  w.say(42, "work");
  await w.model.waitForRequests(1);
  for (const text of ["now", "user", "停车"]) w.say(42, text);
  await until("all are accepted", async () => (await w.gateway.gateway.api.status()).inboundWaiting === 4);
  held.open();
  await w.shown("answer 1");
  for (const text of ["now", "user", "停车"]) assert.ok(w.model.requests[1]?.bodyText.includes(text), text);
  w.say(42, "cancel");
  await w.shown("answer 2");
  assert.match(w.model.requests[2]?.userText ?? "", /\n\ncancel$/);
});

test("another person's phrase ends nothing: it waits for its own turn; an owner's does", async () => {
  await using w = await startWorld((request) => (request.index === 0 ? hanging : { text: `for ${request.index}` }));
  w.sayInGroup(42, "Ann", "work for me");
  await w.gateway.waitForEvent((event) => event.type === "text_delta", group);
  w.sayInGroup(43, "Ben", "stop");
  await w.gateway.waitForEvent(
    (event) => event.type === "user_message_queued" && event.payload.sender_id === "43",
    group,
  );
  w.sayInGroup(1, "Olga", "stop");
  await w.shown("Stopped.");
  await w.shown("for 1");
  const events = await w.gateway.events(group);
  assertSound(events);
  const idOf = (sender: string) =>
    events.flatMap((event) =>
      event.type === "user_message_queued" && event.payload.sender_id === sender ? [event.payload.message_id] : [],
    )[0];
  const ends = events.flatMap((event) =>
    event.type === "turn_execution_cancelled" || event.type === "turn_execution_complete"
      ? [event.payload.message_ids]
      : [],
  );
  assert.deepEqual(ends, [[idOf("42"), idOf("1")], [idOf("43")]]);
  assert.match(w.model.requests[1]?.userText ?? "", /stop/);
});

test("a stop reaches a tool's processes: the whole group is gone", async () => {
  let pid = 0;
  const started = gate();
  const tool = defineTool({
    name: "sleep_long",
    description: "Sleeps.",
    input: z.object({}),
    effect: "write",
    risk: "none",
    origin: "builtin",
    run: (_input, { signal }) =>
      new Promise((_resolve, reject) => {
        // A shell with a child of its own, in a group of its own.
        const child = spawn("sh", ["-c", "sleep 60 & sleep 60"], { detached: true, stdio: "ignore" });
        pid = child.pid ?? 0;
        signal.addEventListener("abort", () => process.kill(-pid, "SIGKILL"), { once: true });
        child.once("exit", () => reject(signal.reason));
        child.once("spawn", started.open);
      }),
  });
  await using w = await startWorld({ toolCalls: [{ id: "a", name: "sleep_long", input: {} }] }, { tools: [tool] });
  const message = await w.gateway.post("sleep");
  await started.opened;
  const stoppedAt = Date.now();
  await w.gateway.post("停止");
  assert.equal((await w.gateway.outcome(message)).end, "cancelled");
  assert.ok(Date.now() - stoppedAt < 1000);
  await until("the group is gone", () => {
    try {
      process.kill(-pid, 0);
      return false;
    } catch {
      return true;
    }
  });
});

for (const route of ["WebSocket", "the old WebSocket frame", "HTTP"] as const)
  test(`by ${route}, cancel stops and answers again, append joins the running turn`, async () => {
    const held = gate();
    await using w = await startWorld(async (request) => {
      if (request.userText.includes("old")) return hanging;
      if (request.userText.includes("begin")) {
        await held.opened;
        return { toolCalls: [{ id: "look", name: "list_dir", input: {} }] };
      }
      return { text: `answered ${/\w+$/.exec(request.userText)?.[0]} after ${resultsIn(request)}` };
    });
    const url = `http://${w.gateway.gateway.address}`;
    const socket = await openSocket(url);
    const key = "webui:test";
    const post = (content: string, mode: "cancel" | "append"): unknown => {
      if (route === "WebSocket") return socket.command("message_send", { session_key: key, content, mode });
      if (route === "the old WebSocket frame")
        return socket.socket.send(JSON.stringify({ type: "interrupt", session: key, mode, content }));
      const body = JSON.stringify({ sessionKey: key, content, mode });
      return fetch(`${url}/api/message`, { method: "POST", headers: { "content-type": "application/json" }, body });
    };
    const old = await w.gateway.post("old");
    await w.model.waitForRequests(1);
    void post("new", "cancel");
    assert.equal((await w.gateway.outcome(old)).end, "cancelled");
    assert.equal(await w.model.requests[0]?.closedEarly, true);
    await until("the new one is answered", async () =>
      JSON.stringify(await w.gateway.events()).includes("answered new"),
    );
    const first = await w.gateway.post("begin");
    await w.model.waitForRequests(3);
    void post("more", "append");
    await until("it is accepted", async () => (await w.gateway.gateway.api.status()).inboundWaiting === 2);
    held.open();
    assert.equal((await w.gateway.outcome(first)).response, "answered more after 0");
    assert.equal(w.model.requests.length, 4);
    assertSound(await w.gateway.events());
    const ends = (await w.gateway.gateway.api.ledger()).map(({ end }) => end);
    assert.deepEqual(ends.sort(), ["answered", "answered", "answered", "cancelled"]);
    socket.socket.terminate();
  });

test("a kill at any moment of a cancel: the old message ends once, the new one is answered, nothing is lost", async (t) => {
  await using model = await startFakeOpenAI({
    answer: (request) => (request.userText.includes("changed") ? { text: "new answer" } : hanging),
  });
  const home = await tempHome();
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase)));
  using snapshots = createSnapshots(home);
  {
    await using gateway = await startGateway({ home, onBoundary: (name) => snapshots.take(name) });
    const old = await gateway.post("old", { messageId: "message-1" });
    await gateway.waitForEvent((event) => event.type === "text_delta");
    snapshots.start();
    const changed = await gateway.post("changed", { messageId: "message-2", mode: "cancel" });
    assert.equal((await gateway.outcome(old)).end, "cancelled");
    assert.equal((await gateway.outcome(changed)).response, "new answer");
    snapshots.stop();
  }
  const points = snapshots.taken;
  assert.ok(points.length > 8);
  let checked = 0;
  for (const [index, { name, home: copy }] of points.entries()) {
    const where = `point ${index}, ${name}`;
    await using gateway = await startGateway({ home: copy });
    const known = (await gateway.gateway.api.ledger()).map(({ messageId }) => messageId);
    // Nobody was told that it was accepted: the sender sends it again under its id.
    if (!known.includes("message-2")) await gateway.post("changed", { messageId: "message-2", mode: "cancel" });
    assert.equal((await gateway.outcome("message-1")).end, "cancelled", where);
    assert.equal((await gateway.outcome("message-2")).response, "new answer", where);
    assertSound(await gateway.events());
    const ledger = (await gateway.gateway.api.ledger()).map(({ messageId, end }) => `${messageId} ${end}`);
    assert.deepEqual(ledger.sort(), ["message-1 cancelled", "message-2 answered"], where);
    checked += 1;
  }
  t.diagnostic(`${checked} points`);
});

test("kill -9 in the middle of a cancel, for real: after the start both messages have their end", async () => {
  await using model = await startFakeOpenAI({
    answer: (request) => (request.userText.includes("changed") ? { text: "new answer" } : { hang: "start" }),
  });
  const home = await tempHome();
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase)));
  const headers = { "content-type": "application/json" };
  const post = (url: string, content: string, more: object): Promise<Response> =>
    fetch(`${url}/api/message`, {
      method: "POST",
      headers,
      body: JSON.stringify({ sessionKey: "webui:k", content, ...more }),
    });
  {
    await using first = await startDaemon({ home });
    post(first.url, "old", { messageId: "message-old" }).catch(() => undefined);
    await model.waitForRequests(1);
    const changed = post(first.url, "changed", { messageId: "message-new", mode: "cancel" }).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 3));
    await first.end("SIGKILL");
    await changed;
  }
  await using second = await startDaemon({ home });
  const answer = await post(second.url, "changed", { messageId: "message-new", mode: "cancel" });
  assert.match(await answer.text(), /new answer/);
  assert.equal(await second.end("SIGTERM"), 0);
  const ledger = await runMaxclaw(["ledger", "check", "--json"], home);
  assert.equal(ledger.code, 0, ledger.stdout + ledger.stderr);
});

test("texts that plainly go on become one turn with what follows; each stays a message of its own", async () => {
  await using w = await startWorld((request) => ({ text: `turn ${request.index}` }), {
    config: { agents: { defaults: { model: "openai/test-model", quietMs: 3000 } } },
  });
  w.say(42, "please book,");
  w.say(42, "no wait:");
  w.say(42, "a table for two");
  await w.shown("turn 0");
  await until("all is over", async () => (await w.gateway.gateway.api.status()).inboundWaiting === 0);
  assert.equal(w.model.requests.length, 1);
  const text = w.model.requests[0]?.userText ?? "";
  assert.match(
    text,
    /<now>.*<\/now>\n\nplease book,\n+<now>.*<\/now>\n\nno wait:\n+<now>.*<\/now>\n\na table for two$/,
  );
  const events = await w.gateway.events("telegram:42");
  assertSound(events);
  assert.equal(events.filter((event) => event.type === "user_message_queued").length, 3);
  const starts = events.flatMap((event) =>
    event.type === "turn_execution_start" ? [event.payload.message_ids.length] : [],
  );
  assert.deepEqual(starts, [3]);
  w.say(42, "hello");
  w.say(42, "again");
  await w.shown("turn 2");
});

test("with quietAfter every, messages in quick succession become one turn; others and commands do not join", async () => {
  await using w = await startWorld((request) => ({ text: `turn ${request.index}` }), {
    config: { agents: { defaults: { model: "openai/test-model", quietMs: 400, quietAfter: "every" } } },
  });
  w.sayInGroup(42, "Ann", "one");
  w.sayInGroup(42, "Ann", "two");
  w.sayInGroup(43, "Ben", "mine");
  w.sayInGroup(42, "Ann", "three");
  await w.shown("turn 2");
  await until("all is over", async () => (await w.gateway.gateway.api.status()).inboundWaiting === 0);
  assert.equal(w.model.requests.length, 3);
  const starts = (await w.gateway.events(group)).flatMap((event) =>
    event.type === "turn_execution_start" ? [event.payload.message_ids.length] : [],
  );
  assert.deepEqual(starts, [2, 1, 1]);
  w.say(42, "go on");
  w.say(42, "/status");
  await w.shown(/maxclaw .* is ready/);
  await w.shown("turn 3");
});

test("a stop while more is waited for ends the turn before any model is asked", async () => {
  await using w = await startWorld(
    { text: "never" },
    { config: { agents: { defaults: { model: "openai/test-model", quietMs: 10_000 } } } },
  );
  w.say(42, "and then,");
  await until("it is accepted", async () => (await w.gateway.gateway.api.status()).inboundWaiting === 1);
  w.say(42, "stop");
  await w.shown("Stopped.");
  assert.equal(w.model.requests.length, 0);
  const ends = (await w.gateway.gateway.api.ledger()).map(({ end }) => end);
  assert.deepEqual(ends, ["cancelled", "cancelled"]);
});
