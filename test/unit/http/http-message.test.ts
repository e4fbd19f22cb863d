import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { RequestError } from "../../../src/errors.js";
import { noUsage } from "../../../src/events/content.js";
import type { AnswerFrame } from "../../../src/http/answer-projection.js";
import { runSteps } from "../../support/worlds/http/http-api.js";
import { readSse, type SseMessage } from "../../support/worlds/http/http-clients.js";
import { openTestServer, postJson, until } from "../../support/worlds/http/http-server.js";

const key = "webui:1";
const framesOf = (messages: readonly SseMessage[]): readonly AnswerFrame[] =>
  messages.filter((message) => message.data !== "[DONE]").map((message) => JSON.parse(message.data));
const textOf = (frames: readonly AnswerFrame[]): string => frames.map((frame) => frame.delta ?? "").join("");

test("a posted message is answered when its turn ends, with the defaults of the web page", async () => {
  await using served = await openTestServer();
  const answer = await postJson(`${served.url}/api/message`, { content: "hi" });
  const body = (await answer.json()) as Record<string, unknown>;
  assert.equal(answer.status, 200);
  assert.deepEqual([body.response, body.sessionKey, body.end], ["Hello wörld", "webui:default", "complete"]);
  assert.match(String(body.messageId), /^msg_/);
});

test("everything that a message may carry reaches the gateway", async () => {
  await using served = await openTestServer();
  const body = {
    sessionKey: key,
    content: "hi",
    channel: "webui",
    chatId: "7",
    selectedSkills: ["weather"],
    attachments: [{ id: "u1", path: "/w/.uploads/a.png", size: 7, url: "/api/uploads/a.png" }],
    messageId: "msg_mine_1",
    unknown: true,
  };
  await postJson(`${served.url}/api/message`, body);
  assert.deepEqual(served.gateway.sent, [
    {
      sessionKey: key,
      content: "hi",
      channel: "webui",
      chatId: "7",
      selectedSkills: ["weather"],
      attachments: [{ path: "/w/.uploads/a.png", filename: "a.png", mimeType: "image/png", sizeBytes: 7 }],
      messageId: "msg_mine_1",
    },
  ]);
});

test("posting again with the same id gives the same answer and no second turn", async () => {
  await using served = await openTestServer();
  const { url, gateway } = served;
  const answers: unknown[] = [];
  const post = (body: object, headers: Record<string, string>): Promise<Response> =>
    postJson(`${url}/api/message`, { sessionKey: key, content: "hi", ...body }, headers);
  answers.push(await (await post({}, { "idempotency-key": "my-id-0001" })).json());
  answers.push(await (await post({ messageId: "my-id-0001" }, {})).json());
  answers.push(await (await post({ messageId: "my-id-0001" }, { "idempotency-key": "my-id-0001" })).json());
  assert.deepEqual(answers[1], answers[0]);
  assert.deepEqual(answers[2], answers[0]);
  assert.equal(gateway.logs.get(key)?.filter((event) => event.type === "turn_execution_start").length, 1);
  assert.equal((await post({ messageId: "other-id" }, { "idempotency-key": "my-id-0001" })).status, 400);
  const streamed = await readSse(await post({ messageId: "my-id-0001", stream: true }, {}));
  const frames = framesOf(streamed);
  assert.equal(frames.at(-1)?.response, "Hello wörld");
  assert.equal(textOf(frames), "Let me look.Hello wörld", "a repeated post streams the old turn");
});

test("the answer stream has the documented frames, ends with [DONE], and its deltas are the text", async () => {
  await using served = await openTestServer();
  for (const ask of [
    () => postJson(`${served.url}/api/message`, { sessionKey: key, content: "hi", stream: true }),
    () => postJson(`${served.url}/api/message?stream=1`, { sessionKey: key, content: "hi" }),
    () => postJson(`${served.url}/api/message`, { sessionKey: key, content: "hi" }, { accept: "text/event-stream" }),
  ]) {
    const answer = await ask();
    assert.match(answer.headers.get("content-type") ?? "", /^text\/event-stream/);
    const messages = await readSse(answer);
    assert.equal(messages.at(-1)?.data, "[DONE]");
    const frames = framesOf(messages);
    assert.deepEqual(
      messages.slice(0, -1).map((message) => message.event),
      frames.map((frame) => frame.type),
    );
    assert.equal(textOf(frames), "Let me look.Hello wörld");
    assert.ok(frames.every((frame) => frame.type !== "content_delta" || frame.iteration !== undefined));
    const start = frames.find((frame) => frame.type === "tool_start");
    assert.deepEqual([start?.toolName, start?.iteration, start?.toolArgs?.length], ["read_file", 1, 600]);
    const result = frames.find((frame) => frame.type === "tool_result");
    assert.deepEqual([result?.toolId, result?.summary, result?.toolResult?.length], [start?.toolId, "read a", 2000]);
    const final = frames.at(-1);
    assert.deepEqual(
      [final?.type, final?.response, final?.done, final?.sessionKey],
      ["final", "Hello wörld", true, key],
    );
  }
});

test("the answer stream follows the turn that took the message, and no other", async () => {
  await using served = await openTestServer();
  const { gateway, url } = served;
  gateway.onSend = (session, messageId) => {
    for (const step of gateway.turn(session, "msg_of_another", ["not yours"])) step();
    gateway.tell(
      session,
      "skill_matched",
      {
        skills: [{ name: "weather", source: "bundled", chars: 10, truncated: false }],
        missing: [],
        selector: "auto",
      },
      { turn_id: "turn_x" },
    );
    // The message joins a turn that runs already.
    gateway.tell(
      session,
      "turn_execution_start",
      { message_ids: ["msg_earlier"], queued_ms: 0, attempt: 1 },
      { turn_id: "turn_y" },
    );
    gateway.tell(session, "user_message", { message_id: messageId, content: [], iteration: 2 }, { turn_id: "turn_y" });
    gateway.tell(
      session,
      "skill_matched",
      {
        skills: [{ name: "weather", source: "bundled", chars: 10, truncated: false }],
        missing: [],
        selector: "weather",
      },
      { turn_id: "turn_y" },
    );
    gateway.tell(
      session,
      "turn_execution_failed",
      {
        message_ids: ["msg_earlier", messageId],
        code: "AUTH_FAILED",
        category: "driver",
        message: "The model refused the key.",
        recoverable: false,
        usage: noUsage,
        duration_ms: 1,
      },
      { turn_id: "turn_y" },
    );
  };
  const messages = await readSse(
    await postJson(`${url}/api/message`, { sessionKey: key, content: "hi", stream: true }),
  );
  const frames = framesOf(messages);
  assert.deepEqual(
    frames.map((frame) => frame.type),
    ["status", "skill_start", "skill_result", "error"],
  );
  assert.deepEqual([frames.at(-1)?.error, frames.at(-1)?.done], ["The model refused the key.", true]);
  assert.equal(frames[1]?.skillName, "weather");
  assert.equal(messages.at(-1)?.data, "[DONE]");
  const plain = await postJson(`${url}/api/message`, { sessionKey: key, content: "hi" });
  const body = (await plain.json()) as Record<string, unknown>;
  assert.deepEqual([plain.status, body.end, body.response], [200, "failed", "The model refused the key."]);
});

test("text that was streamed before the client joined, or twice, is told once", async () => {
  await using served = await openTestServer();
  const { gateway, url } = served;
  gateway.onSend = (session, messageId) => {
    const steps = gateway.turn(session, messageId, ["one ", "two ", "three"]);
    for (const step of steps.slice(0, 19)) step();
    runSteps([
      () => {
        gateway.tell(session, "message_stream_start", { message_id: "msg_never_streamed", model: "m", iteration: 3 });
      },
      ...steps.slice(19),
    ]);
  };
  const frames = framesOf(
    await readSse(await postJson(`${url}/api/message`, { sessionKey: key, content: "hi", stream: true })),
  );
  assert.equal(textOf(frames), "Let me look.one two three");
});

test("an error before the turn is an ordinary JSON error, also when a stream was asked for", async () => {
  await using served = await openTestServer();
  served.gateway.refuseSend = new RequestError("busy", { status: 429, code: "BUFFER_FULL" });
  const answer = await postJson(`${served.url}/api/message`, { content: "hi", stream: true });
  assert.equal(answer.status, 429);
  assert.equal(answer.headers.get("retry-after"), "1");
  assert.deepEqual(await answer.json(), { error: "busy", code: "BUFFER_FULL" });
});

test("a client that goes away does not end its turn", async () => {
  await using served = await openTestServer();
  const { gateway, server } = served;
  for (const query of ["", "?stream=1"]) {
    let goOn: () => void = () => {};
    gateway.onSend = (session, messageId) => {
      goOn = () => runSteps(gateway.turn(session, messageId));
    };
    const before = gateway.sent.length;
    const headers = { "content-type": "application/json" };
    const client = request({
      port: server.port,
      host: "127.0.0.1",
      method: "POST",
      path: `/api/message${query}`,
      headers,
    });
    client.on("error", () => {});
    client.end(JSON.stringify({ sessionKey: key, content: "hi" }));
    await until(() => gateway.sent.length > before, "the message");
    client.destroy();
    goOn();
    await until(() => gateway.logs.get(key)?.at(-1)?.type === "turn_execution_complete", "the end of the turn");
  }
});

test("a stop of the server ends the waiting with a plain answer, and the stream with [DONE]", async () => {
  await using served = await openTestServer();
  const { gateway, url } = served;
  gateway.onSend = () => {};
  const plain = postJson(`${url}/api/message`, { sessionKey: key, content: "hi" });
  const streamed = await postJson(`${url}/api/message`, { sessionKey: key, content: "hi", stream: true });
  await until(() => gateway.sent.length === 2, "both messages");
  served.stop.abort();
  const answer = await plain;
  assert.deepEqual([answer.status, ((await answer.json()) as Record<string, unknown>).code], [503, "closed"]);
  const messages = await readSse(streamed);
  assert.deepEqual(
    framesOf(messages).map((frame) => frame.type),
    ["status", "error"],
  );
  assert.equal(messages.at(-1)?.data, "[DONE]");
});
