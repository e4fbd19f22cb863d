import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI, { type APIError } from "openai";
import { startFakeOpenAI } from "../support/fake-openai.js";
import { openAIConfig, startGateway } from "../support/gateway.js";
import type { AnswerScript } from "../support/model-script.js";

async function start(answer: AnswerScript, more: Record<string, unknown> = {}) {
  const model = await startFakeOpenAI({ answer });
  const gateway = await startGateway({ config: openAIConfig(model.apiBase, more) });
  const clientOf = (apiKey: string) =>
    new OpenAI({ baseURL: `http://${gateway.gateway.address}/v1`, apiKey, maxRetries: 0 });
  return {
    model,
    gateway,
    clientOf,
    client: clientOf("none"),
    [Symbol.asyncDispose]: async () => {
      await gateway[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

const user = (content: string) => ({ role: "user" as const, content });

test("an OpenAI client talks to the assistant, which remembers by itself", async () => {
  await using t = await start([
    { text: "Hello Ann.", usage: { input: 20, output: 4, cacheRead: 6 } },
    { text: "You are Ann." },
  ]);
  assert.deepEqual(
    (await t.client.models.list()).data.map(({ id }) => id),
    ["maxclaw"],
  );
  const first = await t.client.chat.completions.create({ model: "maxclaw", messages: [user("I am Ann")] });
  assert.equal(first.choices[0]?.message.content, "Hello Ann.");
  assert.equal(first.choices[0]?.finish_reason, "stop");
  assert.deepEqual([first.usage?.prompt_tokens, first.usage?.completion_tokens], [26, 4]);
  const second = await t.client.chat.completions.create({
    model: "maxclaw",
    messages: [{ role: "system", content: "x" }, user("old"), { role: "assistant", content: "y" }, user("who am I?")],
  });
  assert.equal(second.choices[0]?.message.content, "You are Ann.");
  const said = (await t.gateway.gateway.api.getSession("openai:default")).messages.map(({ content }) => content);
  assert.deepEqual(said, ["I am Ann", "Hello Ann.", "who am I?", "You are Ann."]);
});

test("a streamed answer has the same text, in pieces, with what was said before a tool", async () => {
  await using t = await start([
    { text: ["Let me ", "look."], toolCalls: [{ id: "c", name: "list_dir", input: {} }] },
    { text: ["It is ", "empty."] },
  ]);
  const stream = await t.client.chat.completions.create({
    model: "maxclaw",
    messages: [user("what is there?")],
    user: "ann",
    stream: true,
    stream_options: { include_usage: true },
  });
  const pieces: string[] = [];
  let finish: string | null | undefined;
  let total = 0;
  for await (const chunk of stream) {
    const [choice] = chunk.choices;
    if (choice?.delta.content) pieces.push(choice.delta.content);
    finish = choice?.finish_reason ?? finish;
    total = chunk.usage?.total_tokens ?? total;
  }
  assert.equal(pieces.join(""), "Let me look.\n\nIt is empty.");
  assert.ok(pieces.length >= 3);
  assert.deepEqual([finish, total], ["stop", 30]);
  assert.equal((await t.gateway.gateway.api.getSession("openai:ann")).messages[0]?.content, "what is there?");
});

test("a header picks any conversation; a failure is said as in a chat; wrong requests get OpenAI's kind of error", async () => {
  await using t = await start([{ text: "ok" }, { status: 401, body: { error: { message: "no" } } }]);
  const headers = { "X-Maxclaw-Session": "webui:0000beef" };
  await t.client.chat.completions.create({ model: "maxclaw", messages: [user("hi")] }, { headers });
  assert.equal((await t.gateway.gateway.api.getSession("webui:0000beef")).messages.length, 2);
  const failed = await t.client.chat.completions.create({ model: "maxclaw", messages: [user("hi")] }, { headers });
  assert.match(failed.choices[0]?.message.content ?? "", /The model refused our key/);
  const wrong = t.client.chat.completions.create({ model: "maxclaw", messages: [{ role: "system", content: "x" }] });
  await assert.rejects(wrong, (error: APIError) => error.status === 400 && /no user message/.test(error.message));
  const image = { type: "image_url" as const, image_url: { url: "data:image/png;base64,AA==" } };
  const picture = t.client.chat.completions.create({
    model: "maxclaw",
    messages: [{ role: "user", content: [image] }],
  });
  await assert.rejects(picture, /Only text is taken here/);
  await assert.rejects(t.client.models.retrieve("gpt-4o"), (error: APIError) => error.status === 404);
});

test("the token of the gateway is the key of the client", async () => {
  await using t = await start({ text: "ok" }, { gateway: { token: "s3cret-token" } });
  await assert.rejects(t.client.models.list(), (error: APIError) => error.status === 401);
  assert.equal((await t.clientOf("s3cret-token").models.list()).data.length, 1);
});

test("a request that is repeated under one key is answered once", async () => {
  await using t = await start({ text: "once" });
  const headers = { "Idempotency-Key": "request-key-1" };
  const ask = () => t.client.chat.completions.create({ model: "maxclaw", messages: [user("hi")] }, { headers });
  assert.equal((await ask()).choices[0]?.message.content, "once");
  assert.equal((await ask()).choices[0]?.message.content, "once");
  assert.equal(t.model.requests.length, 1);
});
