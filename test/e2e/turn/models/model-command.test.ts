import assert from "node:assert/strict";
import { test } from "node:test";
import { startFakeTelegram } from "../../../support/fakes/fake-telegram.js";
import { startFakeAnthropic } from "../../../support/fakes/models/fake-anthropic.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { assertSound, startGateway } from "../../../support/worlds/gateway.js";

async function start(more: Record<string, unknown> = {}) {
  const one = await startFakeOpenAI({ answer: ({ body }) => ({ text: `${String(body.model)} answers` }) });
  const two = await startFakeAnthropic({ answer: ({ body }) => ({ text: `${String(body.model)} answers` }) });
  const gateway = await startGateway({
    config: {
      agents: { defaults: { model: "one/small" } },
      providers: {
        one: {
          apiKey: "key-of-one",
          apiBase: one.apiBase,
          models: ["small", "large", { id: "hidden", enabled: false }],
        },
        two: {
          apiKey: "key-of-two",
          apiBase: two.apiBase,
          apiFormat: "anthropic",
          models: [{ id: "claude-opus-5-5", thinking: "high" }, "claude-haiku-4-5"],
        },
      },
      ...more,
    },
  });
  return {
    one,
    two,
    gateway,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await one[Symbol.asyncDispose]();
      await two[Symbol.asyncDispose]();
    },
  };
}

test("/model shows what answers and what could, changes it for one session, lasts over a restart, and goes back", async () => {
  await using t = await start();
  const shown = (await t.gateway.ask("/model")).response;
  assert.match(
    shown,
    /^Default: one\/small\n\nKnown models:\n- one\/small\n- one\/large\n- two\/claude-opus-5-5\n- two\/claude-haiku-4-5\n/,
  );
  assert.ok(!shown.includes("hidden"));

  assert.match(
    (await t.gateway.ask("/model two/claude-opus-5-5")).response,
    /From the next message on two\/claude-opus-5-5 answers/,
  );
  assert.equal((await t.gateway.ask("hi")).response, "claude-opus-5-5 answers");
  assert.equal((await t.gateway.ask("hi", { key: "webui:other" })).response, "small answers");
  assert.deepEqual(
    t.two.requests[0]?.body.thinking,
    { type: "adaptive", display: "summarized" },
    "by the model's own entry",
  );
  const { api } = t.gateway.gateway;
  assert.equal((await api.getSession("webui:test")).metadata.model, "two/claude-opus-5-5");

  await using again = await t.gateway.restart();
  assert.equal((await again.ask("still?")).response, "claude-opus-5-5 answers");
  assert.match((await again.ask("/model default")).response, /one\/small/);
  assert.equal((await again.ask("and now?")).response, "small answers");
  const events = await again.events();
  assertSound(events);
  assert.deepEqual(
    events.flatMap((event) => (event.type === "settings_changed" ? [event.payload] : [])),
    [
      { scope: "session", key: "model", to: "two/claude-opus-5-5" },
      { scope: "session", key: "model", from: "two/claude-opus-5-5", to: "" },
    ],
  );
  assert.ok(!t.one.requests.some(({ bodyText }) => bodyText.includes("/model")), "commands are not shown to models");
});

test("a part of a known name is enough, a name that fits nothing changes nothing and says what to do", async () => {
  await using t = await start();
  await t.gateway.ask("/model HAIKU");
  assert.equal((await t.gateway.ask("hi")).response, "claude-haiku-4-5 answers");
  assert.match((await t.gateway.ask("/model claude")).response, /No configured provider has the model claude/);
  assert.match((await t.gateway.ask("/model one/hidden")).response, /switched off/);
  assert.match((await t.gateway.ask("/model one/small two/x")).response, /Write it like this/);
  assert.equal((await t.gateway.ask("hi")).response, "claude-haiku-4-5 answers");
});

test("/model thinking= says how much to think, alone or with a model, until it is taken back", async () => {
  await using t = await start();
  assert.match(
    (await t.gateway.ask("/model haiku thinking=3000")).response,
    /haiku-4-5 answers here\..*up to 3000 tokens|up to 3000 tokens.*haiku-4-5/,
  );
  await t.gateway.ask("hi");
  assert.deepEqual(t.two.requests.at(-1)?.body.thinking, { type: "enabled", budget_tokens: 3000 });
  assert.match(
    (await t.gateway.ask("/model")).response,
    /This conversation: two\/claude-haiku-4-5\nDefault: one\/small\nThinking: 3000/,
  );
  await using again = await t.gateway.restart();
  await again.ask("/model one/large");
  await again.ask("hi");
  assert.equal(t.one.requests.at(-1)?.body.reasoning_effort, "medium", "it goes with the session, whatever the model");
  assert.match((await again.ask("/model thinking=deep")).response, /off, low, medium, high, default, or a number/);
  await again.ask("/model thinking=default");
  await again.ask("hi");
  assert.ok(!("reasoning_effort" in (t.one.requests.at(-1)?.body ?? {})));
  await again.ask("/model thinking=off");
  await again.ask("hi");
  assert.equal(t.one.requests.at(-1)?.body.reasoning_effort, "none");
});

test("only owners change the model; everybody may look", async () => {
  await using telegram = await startFakeTelegram({ token: "4242:test" });
  const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["7", "8"] } };
  await using _t = await start({ channels, owners: ["telegram:8"] });
  telegram.pushText({ chatId: 7, userId: 7, text: "/model one/large" });
  telegram.pushText({ chatId: 7, userId: 7, text: "/model" });
  telegram.pushText({ chatId: 7, userId: 7, text: "hi" });
  await telegram.waitForSent(3);
  telegram.pushText({ chatId: 8, userId: 8, text: "/model one/large" });
  telegram.pushText({ chatId: 8, userId: 8, text: "hi" });
  await telegram.waitForSent(5);
  const texts = telegram.sent.map(({ text }) => text);
  assert.match(texts[0] ?? "", /Only an owner/);
  assert.match(texts[1] ?? "", /Default: one\/small/);
  assert.equal(texts[2], "small answers");
  assert.equal(texts[4], "large answers");
});

test("a session whose model has left the config is answered by the default", async () => {
  await using t = await start();
  await t.gateway.ask("/model two/claude-haiku-4-5");
  await using again = await t.gateway.restart({
    agents: { defaults: { model: "one/small" } },
    providers: { one: { apiKey: "key-of-one", apiBase: t.one.apiBase } },
  });
  assert.equal((await again.ask("hi")).response, "small answers");
  assert.match((await again.ask("/model")).response, /This conversation: none\. .*two\/claude-haiku-4-5/);
  assert.ok(again.log.lines.some(({ level, message }) => level === "warn" && message.includes("two/claude-haiku-4-5")));
});
