import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { InboxView } from "../../../../src/api/inbox/inbox-api.js";
import { until } from "../../../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { createBrowser, type FakePushService, startFakePushService } from "../../../support/fakes/push-service.js";
import { openAIConfig, startGateway, type TestGateway } from "../../../support/worlds/gateway.js";
import { answersTo } from "../../../support/worlds/http/web-answers.js";
import type { RecordedRequest, ScriptedAnswer } from "../../../support/worlds/model-script.js";

const token = "a-token-of-more-than-twenty-characters";
const secretValue = "sk-a-secret-that-nobody-may-read-1234";

interface World extends AsyncDisposable {
  readonly service: FakePushService;
  gateway: TestGateway;
  call(method: string, path: string, body?: object, own?: string): Promise<Response>;
  signIn(name: string): Promise<string>;
  ask(text: string): Promise<{ readonly requestId: string; readonly sessionKey: string }>;
}

async function openWorld(more: { readonly token?: string } = { token }): Promise<World> {
  let publicKey = "";
  const service = await startFakePushService(() => publicKey);
  const model = await startFakeOpenAI({ answer: nextAnswer });
  const config = openAIConfig(model.apiBase, {
    gateway: more.token === undefined ? {} : { token: more.token },
    providers: { openai: { apiKey: secretValue, apiBase: model.apiBase } },
    tools: { web: { fetch: { allow: [service.host] } } },
  });
  let asked = 0;
  const world: World = {
    service,
    gateway: await startGateway({ config, sendRetryMs: 1 }),
    call(method, path, body, secret) {
      const { address } = world.gateway.gateway;
      const origin = `http://${address}`;
      const identity: Record<string, string> =
        secret === undefined
          ? more.token === undefined
            ? {}
            : { authorization: `Bearer ${more.token}` }
          : { cookie: `maxclaw-${address.split(":")[1]}=${secret}`, origin };
      const headers = { ...identity, ...(body === undefined ? {} : { "content-type": "application/json" }) };
      return fetch(`${origin}/api/${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    },
    async signIn(device) {
      const answer = await world.call("POST", "login", { token, device });
      return answer.headers.get("set-cookie")?.split(";")[0]?.split("=")[1] ?? "";
    },
    async ask(text) {
      asked += 1;
      const sessionKey = `webui:push${asked}`;
      await world.gateway.post(text, { key: sessionKey });
      const event = await world.gateway.waitForEvent(({ type }) => type === "human_input_asked", sessionKey);
      return { sessionKey, requestId: event.type === "human_input_asked" ? event.payload.request_id : "" };
    },
    async [Symbol.asyncDispose]() {
      await world.gateway[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
  ({ publicKey } = Object(await (await world.call("GET", "push")).json()));
  return world;
}

function nextAnswer(request: RecordedRequest): ScriptedAnswer {
  const messages = Array.isArray(request.body.messages) ? request.body.messages : [];
  const roles = messages.map((message: { readonly role?: unknown }) => message.role);
  const round = roles.slice(roles.lastIndexOf("user")).filter((role) => role === "assistant").length;
  if (request.userText.endsWith("ask with a secret"))
    return round === 0
      ? { toolCalls: [{ name: "ask_human", input: { question: `Is ${secretValue} yours? ${"x".repeat(5000)}` } }] }
      : { text: "Thank you." };
  return answersTo(request.userText.slice(request.userText.lastIndexOf("\n\n") + 2))[round] ?? { text: "That is all." };
}

const pushesOf = ({ service }: World) => service.received.map(({ text }) => JSON.parse(text));

test("what waits is pushed to a device, short and without secrets, and a button of it answers", async () => {
  await using world = await openWorld();
  const phone = await world.signIn("Phone");
  const browser = world.service.subscribe("phone");
  const subscribed = { subscription: browser.subscription, language: "zh", quietNights: false };
  assert.equal((await world.call("POST", "push", subscribed, phone)).status, 200);
  const { mode } = await stat(join(world.gateway.home, "push-key.json"));
  assert.equal(mode & 0o777, 0o600);

  const { requestId, sessionKey } = await world.ask("ask me");
  await until("it is pushed", () => world.service.received.length === 1);
  const [pushed] = pushesOf(world);
  assert.deepEqual(pushed, {
    id: `question:${requestId}`,
    kind: "question",
    title: "ask me",
    text: "Which train shall I book?",
    sessionKey,
    requestId,
    actions: [
      { id: "1", label: "07:05, one change in Bern" },
      { id: "2", label: "08:32, direct" },
    ],
    language: "zh",
    quietNights: false,
  });
  const [received] = world.service.received;
  assert.equal(received?.urgency, "high");
  const { ttl = 0 } = received ?? {};
  assert.ok(ttl > 200 && ttl <= 300, "of no use after the question's time");
  const answer = { requestId, answer: "2" };
  assert.equal(
    (await world.call("POST", `sessions/${encodeURIComponent(sessionKey)}/answer`, answer, phone)).status,
    200,
  );

  await world.ask("ask with a secret");
  await until("the second is pushed", () => world.service.received.length === 2);
  const long = pushesOf(world)[1];
  assert.match(long.text, /^Is \*\*\* yours\? x+…$/);
  assert.equal(long.text.length, 240);
});

test("a permission can be allowed from the notification only where all of it is to be read there", async () => {
  await using world = await openWorld({});
  const browser = world.service.subscribe("desk");
  await world.call("POST", "push", { subscription: browser.subscription });
  await world.ask("write it down");
  await until("it is pushed", () => world.service.received.length === 1);
  const [pushed] = pushesOf(world);
  assert.equal(pushed.kind, "approval");
  assert.equal(
    pushed.text,
    "May I write plan.md? That is outside of this chat's own folder.\npath: ../../plan.md\ncontent: # Plan\n\nBook the train.",
  );
  assert.deepEqual(
    pushed.actions.map(({ id }: { id: string }) => id),
    ["allow_once", "deny"],
  );
  assert.equal(pushed.quietNights, true, "the default");
});

test("a device that signs out, or whose push service does not know it any more, is not told", async () => {
  await using world = await openWorld();
  const [phone, desk, tablet] = [await world.signIn("Phone"), await world.signIn("Desk"), await world.signIn("Tablet")];
  for (const [name, secret] of Object.entries({ phone, desk, tablet })) {
    const { subscription } = world.service.subscribe(name);
    assert.equal((await world.call("POST", "push", { subscription }, secret)).status, 200);
  }
  await world.call("POST", "logout", {}, phone);
  await world.ask("ask me");
  await until("two are told", () => world.service.received.length === 2);
  assert.deepEqual(world.service.received.map(({ path }) => path).sort(), ["/desk", "/tablet"]);
  world.service.answers.push(410, 201);
  await world.ask("ask me");
  await until("one is told", () => world.service.received.length === 3);
  await world.ask("ask me");
  await until("one is told again", () => world.service.received.length === 4);
  const [, , third, fourth] = world.service.received;
  assert.equal(third?.path, fourth?.path, "the other one is gone");
  assert.equal(world.service.requests(), 5);
});

test("a push service in trouble is tried again, and nothing is pushed twice, also not after a restart", async () => {
  await using world = await openWorld({});
  await world.call("POST", "push", { subscription: world.service.subscribe("desk").subscription });
  world.service.answers.push(503, 429);
  const { requestId } = await world.ask("ask me");
  await until("it is pushed", () => world.service.received.length === 1);
  assert.equal(world.service.requests(), 3);
  world.gateway = await world.gateway.restart();
  await until("it is open again", async () => {
    const { items } = Object(await (await world.call("GET", "inbox")).json()) as InboxView;
    return items.some(({ id }) => id === `question:${requestId}`);
  });
  await world.ask("ask me");
  await until("the next is pushed", () => world.service.received.length === 2);
  assert.notEqual(pushesOf(world)[1].requestId, requestId);
});

test("nothing is pushed while somebody looks, and what still waits when they leave is", async () => {
  await using world = await openWorld({});
  await world.call("POST", "push", { subscription: world.service.subscribe("desk").subscription });
  const look = (looking: boolean) => world.call("POST", "presence", { page: "one", at: "", looking });
  await look(true);
  const seen = await world.ask("ask me");
  const path = `sessions/${encodeURIComponent(seen.sessionKey)}/answer`;
  assert.equal((await world.call("POST", path, { requestId: seen.requestId, answer: "1" })).status, 200);
  const left = await world.ask("ask me");
  assert.equal(world.service.requests(), 0);
  await look(false);
  await until("what waits is pushed", () => world.service.received.length === 1);
  assert.equal(pushesOf(world)[0].requestId, left.requestId);
});

test("the gateway pushes to public addresses by https, to what its owner has opened, and to nothing else", async () => {
  await using world = await openWorld();
  const phone = await world.signIn("Phone");
  const refused = [
    "http://127.0.0.1:1/x",
    "https://127.0.0.1/x",
    "https://localhost/x",
    "https://10.0.0.1/x",
    "https://[::1]/x",
    "https://169.254.169.254/latest/meta-data",
    "http://93.184.215.14/x",
    "file:///etc/passwd",
    `http://user:pass@${world.service.host}/x`,
    "nothing",
  ];
  for (const endpoint of refused) {
    const answer = await world.call("POST", "push", { subscription: createBrowser(endpoint).subscription }, phone);
    assert.equal(answer.status, 400, endpoint);
  }
  const { subscription } = world.service.subscribe("phone");
  const broken = { ...subscription, keys: { ...subscription.keys, p256dh: "AAAA" } };
  assert.equal((await world.call("POST", "push", { subscription: broken }, phone)).status, 400);
  assert.equal((await world.call("POST", "push", { subscription })).status, 403, "a program is no device");
  assert.equal((await world.call("POST", "push", { subscription }, phone)).status, 200);
});
