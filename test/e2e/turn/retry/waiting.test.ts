import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { textOf } from "../../../../src/events/content.js";
import type { GatewayEvent } from "../../../../src/events/event.js";
import { until } from "../../../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { startDaemon } from "../../../support/worlds/daemon.js";
import { openAIConfig, startGateway, type TestGateway, tempHome } from "../../../support/worlds/gateway.js";
import type { FakeModelServer, RecordedRequest, ScriptedAnswer } from "../../../support/worlds/model-script.js";

const key = "webui:test";

/** A provider that is down, until it is not. */
class Provider {
  isDown = true;
  /** Also while it is down. */
  lists = false;
  readonly asked: string[] = [];
  readonly answered: string[] = [];
  readonly checks: string[] = [];

  readonly answer = ({ method, path, userText }: RecordedRequest): ScriptedAnswer => {
    if (method === "GET") this.checks.push(path);
    else this.asked.push(userText.split("\n\n").at(-1) ?? "");
    if (!this.isDown && method !== "GET") this.answered.push(userText.split("\n\n").at(-1) ?? "");
    if (this.isDown && !(this.lists && method === "GET"))
      return { status: 503, body: { error: { message: "down for now" } } };
    return method === "GET" ? { body: { data: [{ id: "test-model" }] } } : { text: "Here is your answer." };
  };
}

async function open(provider: Provider, more: { readonly now?: () => number } = {}) {
  const model = await startFakeOpenAI({ answer: provider.answer });
  const gateway = await startGateway({
    config: openAIConfig(model.apiBase),
    modelRetryMs: 1,
    providerCheckMs: 20,
    ...more,
  });
  return { model, gateway };
}

test("a turn that failed because the provider was down is tried again by itself, once, when the provider answers", async () => {
  const provider = new Provider();
  const { model, gateway } = await open(provider);
  await using _model = model;
  await using _gateway = gateway;
  await gateway.gateway.api.createSession({ key });
  assert.equal((await gateway.ask("which colour?")).end, "failed");
  const failed = await gateway.waitForEvent(isWaiting);
  assert.ok(failed.type === "turn_execution_failed" && Date.parse(failed.payload.retry_until ?? "") > Date.now());
  await until("it is asked", () => provider.checks.length >= 2);
  const before = provider.asked.length;
  provider.isDown = false;
  await gateway.waitForEvent(isAnswer);
  assert.equal(provider.asked.length, before + 1);
  assert.equal((await gateway.events()).filter(({ type }) => type === "turn_execution_start").length, 2);
});

test("a provider that lists its models and answers nothing else spends no try: the next true answer has it tried again", async () => {
  const provider = new Provider();
  provider.lists = true;
  const { model, gateway } = await open(provider);
  await using _model = model;
  await using _gateway = gateway;
  await gateway.ask("which colour?");
  await gateway.waitForEvent(isWaiting);
  const before = provider.asked.length;
  await until("it is looked at", () => provider.checks.length >= 3);
  assert.equal(provider.asked.length, before, "the turn still has its try");
  assert.equal(await waitingIn(gateway), 1);
  provider.isDown = false;
  await gateway.ask("are you there?", { key: "webui:other" });
  await gateway.waitForEvent(isAnswer);
});

test("it waits through an end of the gateway and a new start", async () => {
  const provider = new Provider();
  const { model, gateway: first } = await open(provider);
  await using _model = model;
  await first.ask("which colour?");
  await first.waitForEvent(isWaiting);
  await using second = await first.restart();
  provider.isDown = false;
  await second.waitForEvent(isAnswer);
});

test("where the provider was taken out of the config the stand-in answers, and the log does not say that the provider does", async () => {
  const provider = new Provider();
  const { model, gateway: first } = await open(provider);
  await using _model = model;
  await first.ask("which colour?");
  await first.waitForEvent(isWaiting);
  await using second = await first.restart({ memory: { titles: "first" } });
  const answer = await second.waitForEvent(({ type }) => type === "assistant_message");
  assert.equal(answer.source, "provider:offline");
  const told = () => second.log.lines.map(({ message }) => message).filter((line) => line.includes("is tried again"));
  await until("the log has it", () => told().length > 0);
  assert.deepEqual(told(), ["Whether openai answers is not known: a turn that had failed is tried again"]);
});

for (const [what, act, answered] of [
  // It failed as well, and waits in its place.
  [
    "another message of the person",
    async (gateway: TestGateway) => void (await gateway.ask("never mind")),
    ["never mind"],
  ],
  ["/stop", async (gateway: TestGateway) => void (await gateway.ask("/stop")), []],
  ["/undo", async (gateway: TestGateway) => void (await gateway.ask("/undo")), []],
  ["the end of the session", (gateway: TestGateway) => gateway.gateway.api.deleteSession(key), []],
] as const)
  test(`it is not tried again by itself after ${what}`, async () => {
    const provider = new Provider();
    const { model, gateway } = await open(provider);
    await using _model = model;
    await using _gateway = gateway;
    await gateway.ask("which colour?");
    await gateway.waitForEvent(isWaiting);
    await act(gateway);
    // Only a provider that was seen to be away since the failure is known to be back when it answers.
    const before = provider.checks.length;
    if (answered.length > 0) await until("it is asked while it is down", () => provider.checks.length > before);
    provider.isDown = false;
    // What comes later in another chat is answered: with that the provider is known to be back.
    await gateway.ask("hello", { key: "webui:other" });
    await gateway.ask("hello again", { key: "webui:other" });
    await until("nothing waits any more", async () => (await waitingIn(gateway)) === 0);
    assert.deepEqual(
      provider.answered.filter((text) => !text.startsWith("hello")),
      answered,
    );
  });

test("a provider that refuses the key, and a request that does not fit, wait for nothing", async () => {
  await using model = await startFakeOpenAI({
    answer: [
      { status: 401, body: { error: { message: "invalid api key" } } },
      { status: 400, body: { error: { message: "no such thing" } } },
    ],
  });
  await using gateway = await startGateway({
    config: openAIConfig(model.apiBase),
    modelRetryMs: 1,
    providerCheckMs: 20,
  });
  for (const text of ["one", "two"]) await gateway.ask(text);
  const ends = (await gateway.events()).flatMap((event) =>
    event.type === "turn_execution_failed" ? [event.payload.retry] : [],
  );
  assert.deepEqual(ends, ["offered", "offered"]);
});

test("another answer of the provider, with which its circuit closes, has all that waits tried again at once", async () => {
  const provider = new Provider();
  const model = await startFakeOpenAI({ answer: provider.answer });
  await using _model = model;
  let now = Date.now();
  // No check of its own within the time of this test.
  await using gateway = await startGateway({
    config: openAIConfig(model.apiBase),
    modelRetryMs: 1,
    providerCheckMs: 600_000,
    now: () => now,
  });
  for (const chat of ["webui:a", "webui:b"]) {
    await gateway.ask("which colour?", { key: chat });
    await gateway.waitForEvent(isWaiting, chat);
  }
  provider.isDown = false;
  now += 60_000;
  await gateway.ask("are you there?", { key: "webui:c" });
  for (const chat of ["webui:a", "webui:b"]) await gateway.waitForEvent(isAnswer, chat);
  assert.deepEqual(provider.checks, []);
});

test("a real gateway that is killed while a turn waits tries it again, once, in its next life", {
  timeout: 60_000,
}, async () => {
  const provider = new Provider();
  const model: FakeModelServer = await startFakeOpenAI({ answer: provider.answer });
  await using _model = model;
  const home = await tempHome();
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase)));
  {
    await using first = await startDaemon({ home });
    const answer = await post(first.url, "which colour?");
    assert.match(answer, /try it again by myself/);
    await first.end("SIGKILL");
  }
  provider.isDown = false;
  const before = provider.asked.length;
  {
    await using second = await startDaemon({ home });
    await until("it is answered", async () => (await messagesOf(second.url)).includes("Here is your answer."), 20_000);
    await second.end("SIGKILL");
  }
  await using third = await startDaemon({ home });
  assert.equal(await post(third.url, "thanks"), "Here is your answer.");
  assert.deepEqual(provider.asked.slice(before), ["which colour?", "thanks"]);
  assert.deepEqual(await messagesOf(third.url), [
    "which colour?",
    "error",
    "Here is your answer.",
    "thanks",
    "Here is your answer.",
  ]);
});

function isWaiting(event: GatewayEvent): boolean {
  return event.type === "turn_execution_failed" && event.payload.retry === "waits";
}

function isAnswer(event: GatewayEvent): boolean {
  return event.type === "assistant_message" && textOf(event.payload.content) === "Here is your answer.";
}

/** How many failed turns of the chats wait, of those whose last message is their failure. */
async function waitingIn({ gateway: { api }, events }: TestGateway): Promise<number> {
  const { sessions } = await api.listSessions({ limit: 100, offset: 0 });
  const logs = await Promise.all(sessions.map(({ key: one }) => events(one)));
  return logs.filter((log) => {
    const last = log.findLast(({ type }) => type === "user_message_queued" || type.startsWith("turn_execution_"));
    return (
      last !== undefined &&
      (isWaiting(last) || last.type === "user_message_queued" || last.type === "turn_execution_start")
    );
  }).length;
}

async function post(url: string, content: string): Promise<string> {
  const response = await fetch(`${url}/api/message`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ sessionKey: key, content }),
  });
  const body: unknown = await response.json();
  return typeof body === "object" && body !== null && "response" in body ? String(body.response) : "";
}

async function messagesOf(url: string): Promise<readonly string[]> {
  const response = await fetch(`${url}/api/sessions/${encodeURIComponent(key)}`);
  const body: unknown = await response.json();
  const messages = typeof body === "object" && body !== null && "messages" in body ? body.messages : [];
  return Array.isArray(messages)
    ? messages.map(({ role, content }: { readonly role: string; readonly content: string }) =>
        role === "error" ? role : content,
      )
    : [];
}
