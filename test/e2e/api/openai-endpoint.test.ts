import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import OpenAI, { type APIError } from "openai";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { openAIConfig, startGateway, startWithModel } from "../../support/worlds/gateway.js";
import type { AnswerScript } from "../../support/worlds/model-script.js";

async function start(answer: AnswerScript, more: Record<string, unknown> = {}) {
  const scripted = await startWithModel(answer, more);
  const clientOf = (apiKey: string) => new OpenAI({ baseURL: `${scripted.url}/v1`, apiKey, maxRetries: 0 });
  return {
    ...scripted,
    clientOf,
    client: clientOf("none"),
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
    messages: [
      { role: "system", content: "x" },
      user("old"),
      { role: "assistant", content: "y" },
      user("One more thing:"),
      user("who am I?"),
    ],
  });
  assert.equal(second.choices[0]?.message.content, "You are Ann.");
  const said = (await t.gateway.gateway.api.getSession("openai:default")).messages.map(({ content }) => content);
  assert.deepEqual(said, ["I am Ann", "Hello Ann.", "One more thing:\n\nwho am I?", "You are Ann."]);
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

test("an answer that is not streamed is the text of the last message, as everywhere else", async () => {
  await using t = await start([
    { text: "Let me look.", toolCalls: [{ id: "c", name: "list_dir", input: {} }] },
    { text: "It is empty." },
  ]);
  const body = { model: "maxclaw", messages: [user("what is there?")] };
  const { data: whole, response } = await t.client.chat.completions.create(body).withResponse();
  assert.equal(whole.choices[0]?.message.content, "It is empty.");
  assert.equal(response.headers.get("x-should-retry"), "false", "its message is taken: again would be once more");
});

const diesOnce: AnswerScript = [{ text: ["half an ", "answ", "er"], cutAfter: 3 }, { text: "A whole answer." }];

test("an attempt that the model has given up is not part of the answer", async () => {
  await using t = await start(diesOnce);
  const whole = await t.client.chat.completions.create({ model: "maxclaw", messages: [user("hi")] });
  assert.equal(whole.choices[0]?.message.content, "A whole answer.");
});

test("in a stream, which takes nothing back, the next attempt is a new paragraph", async () => {
  await using t = await start(diesOnce);
  let text = "";
  const body = { model: "maxclaw", messages: [user("hi")] };
  for await (const { choices } of await t.client.chat.completions.create({ ...body, stream: true }))
    text += choices[0]?.delta.content ?? "";
  assert.equal(text, "half an answ\n\nA whole answer.");
});

const cut = "Once upon\n\n(The answer was cut at the model's limit of 50 tokens.)";

test("an answer that was cut says so, wherever it is read", async () => {
  const limits = { agents: { defaults: { model: "openai/test-model", maxTokens: 50 } } };
  await using t = await start({ text: ["Once ", "upon"], stopReason: "max_tokens" }, limits);
  const body = { model: "maxclaw", messages: [user("a story")] };
  const whole = await t.client.chat.completions.create(body);
  assert.deepEqual([whole.choices[0]?.message.content, whole.choices[0]?.finish_reason], [cut, "length"]);
  let streamed = "";
  for await (const { choices } of await t.client.chat.completions.create({ ...body, stream: true }))
    streamed += choices[0]?.delta.content ?? "";
  assert.equal(streamed, cut);

  const url = `http://${t.gateway.gateway.address}/api/message`;
  const message = JSON.stringify({ content: "a story", messageId: "story-0001" });
  const post = async (path: string): Promise<string> => {
    const answer = await fetch(url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: message,
    });
    return await answer.text();
  };
  assert.equal(JSON.parse(await post("")).response, cut);
  assert.equal(JSON.parse(await post("")).response, cut, "also when it is asked for again");
  const frames = (await post("?stream=1")).split("\n").flatMap((line) => /^data: (\{.*)/.exec(line)?.[1] ?? []);
  assert.equal(frames.map((frame) => JSON.parse(frame).delta ?? "").join(""), cut, "a terminal shows these");
  assert.equal(JSON.parse(frames.at(-1) ?? "{}").response, cut);
  const heard = t.model.requests.map(({ bodyText }) => bodyText).join();
  assert.ok(!heard.includes("cut at the model"), "the model does not read it");
});

// A question that nobody sees is waited for very long.
test("a question to the person ends the answer, is asked again until it is answered, and the turn then goes on", {
  timeout: 20_000,
}, async () => {
  let path = "";
  await using t = await start(({ bodyText }) => {
    const content = ["tea", "milk"][bodyText.split('"role":"tool"').length - 1];
    return content === undefined
      ? { text: "It is ordered." }
      : { toolCalls: [{ id: `c-${content}`, name: "write_file", input: { path, content } }] };
  });
  path = join(t.gateway.workspace, "order.txt");
  const ask = async (content: string, stream = false): Promise<string> => {
    const body = { model: "maxclaw", messages: [user(content)] };
    if (!stream) return (await t.client.chat.completions.create(body)).choices[0]?.message.content ?? "";
    let text = "";
    for await (const { choices } of await t.client.chat.completions.create({ ...body, stream: true }))
      text += choices[0]?.delta.content ?? "";
    return text;
  };
  const question = await ask("order something", true);
  assert.match(question, /order\.txt[\s\S]*"content": "tea"[\s\S]*\n1\. [\s\S]*\n2\. /);
  assert.equal(await ask("why?"), question);
  assert.match(await ask("1"), /"content": "milk"/);
  assert.equal(await ask("1", true), "It is ordered.");
  assert.equal(await readFile(path, "utf8"), "milk");
  assert.deepEqual(t.gateway.gateway.api.listQuestions(), []);
});

test("who goes away before the end has stopped the turn, unless the request can be repeated for its answer", async () => {
  await using t = await start({ text: ["Once ", "upon ", "a time"], chunkDelayMs: 400 });
  const leaveAfterFirst = async (headers: Record<string, string>, session: string): Promise<void> => {
    const body = { model: "maxclaw", messages: [user("a story")], user: session };
    const stream = await t.client.chat.completions.create({ ...body, stream: true }, { headers });
    for await (const { choices } of stream) if (choices[0]?.delta.content) break;
  };
  const endOf = async (session: string): Promise<string> => {
    const ends = async () =>
      (await t.gateway.events(`openai:${session}`)).flatMap(
        ({ type }) => /^turn_execution_(c.*|failed)/.exec(type)?.[1] ?? [],
      );
    await until("the turn ends", async () => (await ends()).length > 0);
    return (await ends()).join();
  };
  await leaveAfterFirst({}, "gone");
  assert.equal(await endOf("gone"), "cancelled");
  await leaveAfterFirst({ "Idempotency-Key": "story-number-1" }, "back");
  assert.equal(await endOf("back"), "complete");
});

test("an answer that cannot go on says so, and does not look whole", async () => {
  await using model = await startFakeOpenAI({ answer: { text: ["Once ", "upon"], hang: "middle" } });
  const gateway = await startGateway({ config: openAIConfig(model.apiBase) });
  const client = new OpenAI({ baseURL: `http://${gateway.gateway.address}/v1`, apiKey: "none", maxRetries: 0 });
  const stream = await client.chat.completions.create({ model: "maxclaw", messages: [user("hi")], stream: true });
  let stopped: PromiseLike<void> | undefined;
  const reading = (async () => {
    for await (const { choices } of stream) if (choices[0]?.delta.content) stopped ??= gateway[Symbol.asyncDispose]();
  })();
  await assert.rejects(reading, /The gateway is stopping/);
  await stopped;
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
  const continued = t.client.chat.completions.create({
    model: "maxclaw",
    messages: [user("hi"), { role: "assistant", content: "and" }],
  });
  await assert.rejects(
    continued,
    (error: APIError) => error.status === 400 && /must be the user's/.test(error.message),
  );
  await assert.rejects(t.client.models.retrieve("gpt-4o"), (error: APIError) => error.code === "model_not_found");
  await assert.rejects(t.client.embeddings.create({ model: "x", input: "y" }), (error: APIError) => {
    assert.deepEqual([error.status, error.code, error.type], [404, "not_found", "invalid_request_error"]);
    return /\/v1\/embeddings/.test(error.message);
  });
  assert.equal(t.model.requests.length, 2);
});

test("the token of the gateway is the key of the client", async () => {
  await using t = await start({ text: "ok" }, { gateway: { token: "s3cret-token" } });
  await assert.rejects(
    t.client.models.list(),
    (error: APIError) => error.status === 401 && error.code === "unauthorized",
  );
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
