import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../../src/config/load.js";
import type { StoredEvent } from "../../../src/events/event.js";
import { sessionStates } from "../../../src/events/folds/session-state.js";
import { openGateway } from "../../../src/gateway.js";
import { gate, until } from "../../support/engine/engine-kit.js";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { assertSound, startGateway, startWithModel } from "../../support/worlds/gateway.js";
import { openSocket } from "../../support/worlds/http/http-clients.js";
import { postJson } from "../../support/worlds/http/http-server.js";

/** A gateway whose model hangs on "hold" until its gate opens, fails on "fail", and else says "ok". */
async function start(more: Record<string, unknown> = {}) {
  const held = gate();
  const scripted = await startWithModel(async ({ userText }) => {
    if (userText.endsWith("hold")) await held.opened;
    return userText.endsWith("fail") ? { status: 400 } : { text: "ok" };
  }, more);
  return {
    ...scripted,
    held,
    [Symbol.asyncDispose]: async () => {
      held.open();
      await scripted[Symbol.asyncDispose]();
    },
  };
}
type Started = Awaited<ReturnType<typeof start>>;

const states = [...sessionStates, "deleted"] as const;
type State = (typeof states)[number];

/** Brings a session into a state, over HTTP where there is a way. */
async function enter({ gateway, url }: Started, key: string, state: State): Promise<void> {
  const session = `${url}/api/sessions/${key}`;
  const ok = async (answer: Promise<Response>): Promise<void> => assert.ok((await answer).ok, state);
  if (state === "created") return ok(postJson(`${url}/api/sessions`, { key }));
  if (state === "error") return void (await gateway.ask("fail", { key }));
  if (state === "active" || state === "aborted") {
    await gateway.post("hold", { key });
    await gateway.waitForEvent((event) => event.type === "message_stream_start", key);
    if (state === "aborted") await ok(postJson(`${session}/abort`, {}));
    return;
  }
  await gateway.ask("hello", { key });
  if (state === "completed") await ok(postJson(`${session}/complete`, {}));
  if (state === "deleted") await ok(fetch(session, { method: "DELETE" }));
}

const message = (url: string, key: string, content: string): Promise<Response> =>
  postJson(`${url}/api/message`, { sessionKey: key, content });

const actions = {
  send: (url, key) => message(url, key, "hello"),
  new: (url, key) => message(url, key, "/new"),
  undo: (url, key) => message(url, key, "/undo"),
  stop: (url, key) => postJson(`${url}/api/sessions/${key}/stop`, {}),
  abort: (url, key) => fetch(`${url}/api/sessions/${key}/abort`, { method: "POST" }),
  complete: (url, key) => fetch(`${url}/api/sessions/${key}/complete`, { method: "POST" }),
  rename: (url, key) => postJson(`${url}/api/sessions/${key}/rename`, { title: "Title" }),
  fork: (url, key) => fetch(`${url}/api/sessions/${key}/fork`, { method: "POST" }),
  delete: (url, key) => fetch(`${url}/api/sessions/${key}`, { method: "DELETE" }),
} as const satisfies Record<string, (url: string, key: string) => Promise<Response>>;
type Action = keyof typeof actions;

/** Status and the state that follows; what is refused with 409 leaves the state. */
type Outcome = readonly [status: number, after: State];
const stays =
  (status: number): ((state: State) => Outcome) =>
  (state) => [state === "deleted" ? 404 : status, state];
const expected: Readonly<Record<Action, (state: State) => Outcome>> = {
  send: (state) => (state === "completed" || state === "aborted" ? [409, state] : [200, "idle"]),
  new: (state) => [200, state === "created" || state === "deleted" ? "created" : "idle"],
  undo: (state) => {
    if (state === "completed" || state === "aborted") return [409, state];
    if (state === "created" || state === "deleted") return [200, "created"];
    return [200, state === "error" ? "error" : "idle"];
  },
  stop: (state) => (state === "active" ? [200, "idle"] : stays(200)(state)),
  abort: (state) => (state === "active" ? [200, "aborted"] : stays(409)(state)),
  complete: (state) => (state === "idle" ? [200, "completed"] : stays(409)(state)),
  rename: stays(200),
  fork: stays(201),
  delete: (state) => [state === "deleted" ? 404 : 200, "deleted"],
};

// The names of the table above, which Object.keys does not tell.
for (const action of Object.keys(actions) as Action[])
  test(`${action} in every state: done, or refused with 409 and the state's name`, async () => {
    await using t = await start();
    await Promise.all(
      states.map(async (state) => {
        const key = `webui:${action}-${state}`;
        await enter(t, key, state);
        const [status, after] = expected[action](state);
        const answering = actions[action](t.url, key);
        // These wait for the turn that runs.
        if (state === "active" && ["send", "new", "undo"].includes(action)) {
          await until(`${action} waits`, async () => (await t.gateway.events(key)).filter(isQueued).length === 2);
          t.held.open();
        }
        const answer = await answering;
        const body = (await answer.json()) as { readonly error?: string; readonly state?: string };
        assert.equal(answer.status, status, `${action} while ${state}: ${JSON.stringify(body)}`);
        if (status === 409) {
          assert.equal(body.state, state);
          assert.match(body.error ?? "", new RegExp(`is ${state}\\b`));
        }
        if (after === "deleted") return assert.equal((await fetch(`${t.url}/api/sessions/${key}`)).status, 404);
        const found = async (): Promise<string> => (await t.api.sessionStatus(key, { includeRecovery: false })).state;
        // A stop is answered before the turn has written its end.
        await until(`${key} becomes ${after}`, async () => (await found()) === after);
        const events = await t.gateway.events(key);
        if (state !== "deleted") assertSound(events);
        assertTransitions(events);
      }),
    );
  });

function isQueued(event: StoredEvent): boolean {
  return event.type === "user_message_queued";
}

const legal: Readonly<Record<string, readonly string[]>> = {
  none: ["created"],
  created: ["active"],
  active: ["idle", "error", "aborted"],
  idle: ["active", "completed"],
  error: ["active", "idle"],
  completed: ["active", "idle"],
  aborted: ["active", "idle"],
};

/** Each change of state begins where the one before ended, and is one that the lifecycle knows. */
function assertTransitions(events: readonly StoredEvent[]): void {
  let state = events.find((event) => event.type === "session_state_changed")?.payload.from ?? "none";
  assert.ok(state === "none" || state === "created", state);
  for (const event of events) {
    if (event.type !== "session_state_changed") continue;
    assert.equal(event.payload.from, state);
    assert.ok(legal[state]?.includes(event.payload.to), `${state} → ${event.payload.to}`);
    state = event.payload.to;
  }
}

test("an aborted session cancels what waited in it; a message that comes later begins a fresh conversation", async () => {
  await using telegram = await startFakeTelegram({ token: "4242:test" });
  const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] } };
  await using t = await start({ channels });
  const key = "telegram:7";
  telegram.pushText({ chatId: 7, userId: 7, text: "My cat is Momo." });
  await telegram.waitForSent(1);
  telegram.pushText({ chatId: 7, userId: 7, text: "hold" });
  await t.model.waitForRequests(2);
  telegram.pushText({ chatId: 7, userId: 7, text: "/status" });
  await until("it waits", async () => (await t.gateway.events(key)).filter(isQueued).length === 3);
  await t.api.abortSession(key);
  await until("all have ended", async () => ends(await t.gateway.events(key)).length === 3);
  assert.deepEqual(ends(await t.gateway.events(key)), [
    "turn_execution_complete",
    "turn_execution_cancelled abort",
    "turn_execution_cancelled abort",
  ]);
  const last = (await t.api.sessionStatus(key, { includeRecovery: false })).lastSequence;

  telegram.pushText({ chatId: 7, userId: 7, text: "What is my cat called?" });
  const sent = await telegram.waitForSent(4);
  assert.deepEqual(
    sent.map(({ text }) => text),
    ["ok", "Stopped.", "Stopped.", "ok"],
  );
  await until(
    "it is at rest",
    async () => (await t.api.sessionStatus(key, { includeRecovery: false })).state === "idle",
  );
  const events = await t.gateway.events(key);
  assertSound(events);
  assertTransitions(events);
  assert.ok(
    events.some(
      (event) => event.seq > last && event.type === "session_history_changed" && event.payload.kind === "new",
    ),
  );
  assert.doesNotMatch(t.model.requests.at(-1)?.bodyText ?? "", /Momo/);
  const older = readFileSync(join(t.gateway.workspace, ".sessions/.kept/telegram_7/memory/HISTORY.md"), "utf8");
  assert.match(older, /UTC · telegram:7\n\n\[.*\] user: My cat is Momo\.\n\[.*\] assistant: ok\n/);
  assert.doesNotMatch(older, /status|What is my cat called/);
  assert.equal((await t.api.getSession(key)).messages.at(0)?.content, "My cat is Momo.", "people still see it");
});

function ends(events: readonly StoredEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.type === "turn_execution_cancelled") return [`${event.type} ${event.payload.reason}`];
    return event.type === "turn_execution_complete" || event.type === "turn_execution_failed" ? [event.type] : [];
  });
}

test("a message that is sent again after its session was completed is still the same message", async () => {
  await using t = await start();
  const messageId = "client-message-1";
  assert.equal((await t.gateway.ask("hello", { messageId })).response, "ok");
  await t.api.completeSession("webui:test");
  assert.equal((await t.gateway.ask("hello", { messageId })).response, "ok");
  await assert.rejects(t.gateway.ask("hello", { messageId: "client-message-2" }), /is completed/);
});

test("a turn that no process works on can be aborted too, and is not taken up again", async () => {
  await using t = await start();
  const first = await t.gateway.post("hold");
  await t.model.waitForRequests(1);
  await t.gateway.gateway.drain(0);
  await t.gateway.gateway[Symbol.asyncDispose]();
  const { home, log } = t.gateway;
  const config = await loadConfig({ home, env: { HOME: home } });
  const idle = { config, home, log, version: "0.0.0-test", http: { port: 0 }, runs: { work: false } };
  {
    await using looking = await openGateway(idle);
    assert.equal((await looking.api.sessionStatus("webui:test", { includeRecovery: false })).state, "active");
    await looking.api.abortSession("webui:test");
    await assert.rejects(looking.api.abortSession("webui:test"), /is aborted/);
  }
  await using again = await startGateway({ home });
  assert.equal((await again.outcome(first)).end, "cancelled");
  const events = await again.events();
  assertSound(events);
  assert.deepEqual(ends(events), ["turn_execution_cancelled abort"]);
  assert.equal(t.model.requests.length, 1);
});

test("deleting a session takes its unsent replies and the sessions that it spawned along, and nothing else", async () => {
  await using telegram = await startFakeTelegram({ token: "4242:test" });
  const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] } };
  await using t = await start({ channels });
  telegram.failNext({ method: "sendMessage", status: 500, times: 100 });
  telegram.pushText({ chatId: 9, userId: 9, text: "hello" });
  await until("the reply waits", async () => (await t.api.status()).outboundWaiting === 1);
  await t.gateway.ask("task", { key: "telegram:9:spawn:1" });
  await t.gateway.ask("thread", { key: "telegram:9:1" });
  await t.api.deleteSession("telegram:9");
  const keys = async (api: typeof t.api): Promise<readonly string[]> =>
    (await api.listSessions({ limit: 10, offset: 0 })).sessions.map((each) => each.key);
  assert.deepEqual([(await t.api.status()).outboundWaiting, await keys(t.api)], [0, ["telegram:9:1"]]);
  await using again = await t.gateway.restart();
  const { api } = again.gateway;
  assert.deepEqual([(await api.status()).outboundWaiting, await keys(api)], [0, ["telegram:9:1"]]);
  assert.equal((await again.ask("a new life", { key: "telegram:9" })).response, "ok");
  const { firstSequence } = await api.sessionStatus("telegram:9", { includeRecovery: false });
  assert.ok(firstSequence > 5);
  assert.doesNotMatch(t.model.requests.at(-1)?.bodyText ?? "", /hello/);
});

test("the same over WebSocket: abort, complete and fork, refused with the state's name where they make no sense", async () => {
  await using t = await start();
  const client = await openSocket(t.url);
  const key = "webui:socket";
  await t.gateway.post("hold", { key });
  await t.model.waitForRequests(1);
  const early = await client.command("session_complete", { session_key: key });
  assert.deepEqual([early.success, early.code], [false, "wrong_state"]);
  assert.match(early.error ?? "", /webui:socket is active/);
  assert.deepEqual((await client.command("session_abort", { session_key: key })).data, {
    session_key: key,
    state: "aborted",
  });
  assert.match((await client.command("session_abort", { session_key: key })).error ?? "", /is aborted/);
  assert.match((await client.command("message_send", { session_key: key, content: "x" })).error ?? "", /is aborted/);
  const fork = (await client.command("session_fork", { session_key: key, at: 2 })).data as Record<string, unknown>;
  assert.deepEqual(fork.forked_from, { session_key: key, seq: 2 });
  assert.equal((await t.gateway.ask("hello", { key: String(fork.session_key) })).response, "ok");
  const completed = await client.command("session_complete", { session_key: fork.session_key });
  assert.deepEqual(completed.data, { session_key: fork.session_key, state: "completed" });
  client.socket.terminate();
});
