import assert from "node:assert/strict";
import { test } from "node:test";
import { startFakeTelegram } from "../../../support/fakes/fake-telegram.js";
import { assertSound, startWithModel } from "../../../support/worlds/gateway.js";
import type { RecordedRequest, ScriptedAnswer } from "../../../support/worlds/model-script.js";

const isSummary = ({ bodyText }: RecordedRequest): boolean => bodyText.includes("You keep the memory of a long chat");
/** As a model would: a summary holds the facts of what it was given, an earlier summary included. */
const summaryOf = ({ userText }: RecordedRequest): string => [...new Set(userText.match(/FACT-\d+=\w+/g))].join("\n");
const filler = "This answer goes on and on about nothing in particular. ".repeat(20);
const small = { agents: { defaults: { model: "openai/test-model", contextWindow: 4000, maxTokens: 500 } } };

const forgetful = (request: RecordedRequest): ScriptedAnswer =>
  isSummary(request) ? { text: summaryOf(request), usage: { input: 100, output: 10 } } : { text: filler, usage: false };

async function start(answer: (request: RecordedRequest) => ScriptedAnswer, more: Record<string, unknown> = {}) {
  const scripted = await startWithModel(answer, { ...small, ...more });
  return {
    ...scripted,
    last: () => scripted.model.requests.filter((request) => !isSummary(request)).at(-1)?.bodyText ?? "",
  };
}

test("facts from before and after a compaction are known however long the conversation grows, also after a restart", async () => {
  await using t = await start(forgetful);
  for (let n = 1; n <= 30; n++) await t.gateway.ask(`FACT-${n}=secret${n} and please remember it`);
  const events = await t.gateway.events();
  assertSound(events);
  const compressed = events.filter(({ type }) => type === "context_compressed");
  assert.ok(compressed.length >= 2, "the conversation was too long more than once");
  assert.ok(Math.max(...t.model.requests.map(({ bodyText }) => bodyText.length)) < 4 * 4000);
  for (const { payload } of compressed) assert.ok("final_message_count" in payload && payload.final_message_count > 1);

  const said = events.filter(({ type }) => type === "user_message").length;
  assert.equal(said, 30, "the originals stay in the log");
  await using again = await t.gateway.restart();
  await again.ask("what do you know?");
  for (let n = 1; n <= 30; n++) assert.match(t.last(), new RegExp(`FACT-${n}=secret${n}\\b`));
});

test("a request that the provider finds too long is made smaller and sent again, and the person gets an answer", async () => {
  const answer = (request: RecordedRequest): ScriptedAnswer => {
    if (isSummary(request)) return { text: summaryOf(request) };
    return request.bodyText.length > 9000
      ? {
          status: 400,
          body: { error: { message: "maximum context length exceeded", code: "context_length_exceeded" } },
        }
      : { text: filler };
  };
  // The config promises more than the model can take.
  const wrong = { agents: { defaults: { model: "openai/test-model", contextWindow: 100_000 } } };
  await using t = await start(answer, wrong);
  for (let n = 1; n <= 12; n++) assert.equal((await t.gateway.ask(`FACT-${n}=secret${n}`)).end, "complete");
  assert.match(t.last(), /FACT-1=secret1[\s\S]*FACT-12=secret12/);
  assertSound(await t.gateway.events());
});

test("/compact summarises at once what was said before the last message, says what it saves, and refuses where that is little", async () => {
  const roomy = { agents: { defaults: { model: "openai/test-model", contextWindow: 100_000 } } };
  await using t = await start(forgetful, roomy);
  const compact = async () => (await t.gateway.ask("/compact")).response;
  assert.equal(await compact(), "There is nothing to summarise yet.");
  await t.gateway.ask("FACT-0=secret0");
  assert.equal(await compact(), "There is nothing to summarise yet.", "the last message stays anyway");
  for (let n = 1; n <= 4; n++) await t.gateway.ask(`FACT-${n}=secret${n} and please remember it`);
  assert.equal(t.model.requests.filter(isSummary).length, 0);
  const said = /^I have summarised 8 older messages: about ([\d,]+) tokens have become (\d+)\./.exec(await compact());
  assert.ok(Number(said?.[1]?.replace(",", "")) > 700 && Number(said?.[2]) < 100, said?.[0]);

  await t.gateway.ask("what do you know?");
  assert.match(t.last(), /<summary>[\s\S]*FACT-0=secret0[\s\S]*FACT-3=secret3[\s\S]*<\/summary>/);
  assert.equal(t.last().split(filler.trim()).length - 1, 1, "the last answer of before is as it was");
  const events = await t.gateway.events();
  assertSound(events);
  const [compressed, ...more] = events.filter(({ type }) => type === "context_compressed");
  assert.deepEqual([more.length, compressed?.payload && "usage" in compressed.payload], [0, true]);
  await t.gateway.ask("one more");
  await t.gateway.ask("/new");
  assert.equal(await compact(), "There is nothing to summarise yet.");
  await using again = await t.gateway.restart();
  assert.match((await again.ask("/help")).response, /^\/compact – /m);
});

test("/compact keeps to the budget, and says so where a model cannot write the summary", async () => {
  const answer = (request: RecordedRequest): ScriptedAnswer => {
    if (isSummary(request)) return { status: 400, body: { error: { message: "no" } } };
    return { text: filler, usage: { input: request.userText.includes("FACT-5") ? 50_000 : 600, output: 300 } };
  };
  const roomy = { agents: { defaults: { model: "openai/test-model", contextWindow: 100_000 } } };
  await using t = await start(answer, { ...roomy, budgets: { day: { tokens: 50_000 } } });
  const compact = async () => (await t.gateway.ask("/compact")).response ?? "";
  for (let n = 1; n <= 3; n++) await t.gateway.ask(`FACT-${n}=secret${n}`);
  assert.match(await compact(), /^No model gave a summary, so I keep how each message began\. /);
  for (let n = 4; n <= 5; n++) await t.gateway.ask(`FACT-${n}=secret${n}`);
  assert.match(await compact(), /^The budget of this assistant for today /);
});

test("one huge turn shortens its own older results instead of failing", async () => {
  const calls = (request: RecordedRequest): ScriptedAnswer => {
    if (isSummary(request)) return { text: "nothing yet" };
    const results = request.bodyText.match(/"role":"tool"/g)?.length ?? 0;
    const input = { path: "big.txt", content: "x".repeat(4000) };
    if (results === 0)
      return { toolCalls: [{ id: "w", name: "write_file", input: { ...input, content: "y ".repeat(2000) } }] };
    if (results < 8)
      return {
        toolCalls: [{ id: `r${results}`, name: "read_file", input: { path: "big.txt", limit: 1000 + results } }],
      };
    return { text: "done" };
  };
  await using t = await start(calls);
  assert.equal((await t.gateway.ask("read it eight times")).response, "done");
  const events = await t.gateway.events();
  assertSound(events);
  const strategies = events.flatMap((event) => (event.type === "context_compressed" ? [event.payload.strategy] : []));
  assert.ok(strategies.includes("results"), strategies.join());
  assert.match(t.last(), /\[Shortened to save room\.\]/);
});

test("without a model that can summarise, the beginnings of the messages are kept", async () => {
  const answer = (request: RecordedRequest): ScriptedAnswer =>
    isSummary(request) ? { status: 400, body: { error: { message: "no" } } } : { text: filler, usage: false };
  await using t = await start(answer);
  for (let n = 1; n <= 20; n++) await t.gateway.ask(`FACT-${n}=secret${n}`);
  const strategies = (await t.gateway.events()).flatMap((event) =>
    event.type === "context_compressed" ? [event.payload.strategy] : [],
  );
  assert.deepEqual([...new Set(strategies)], ["digest"]);
  assert.match(t.last(), /FACT-12=secret12/);
});

test("people in a chat are told once that the conversation was summarised", async () => {
  await using telegram = await startFakeTelegram({ token: "4242:compaction" });
  const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] } };
  await using t = await start(forgetful, { channels });
  for (let n = 1; n <= 8; n++) {
    const sent = telegram.sent.length;
    telegram.pushText({ chatId: 7, userId: 7, text: `message ${n}` });
    await telegram.waitForSent(sent + 1);
  }
  await t.gateway.waitForEvent(
    (event) =>
      event.type === "outbound_delivery_changed" && event.payload.status === "sent" && telegram.sent.length >= 9,
    "telegram:7",
  );
  const events = await t.gateway.events("telegram:7");
  const compressed = events.filter(({ type }) => type === "context_compressed").length;
  const told = telegram.sent.filter(({ text }) => text.includes("summary of its older part")).length;
  assert.ok(compressed > 0);
  assert.equal(told, compressed);
});
