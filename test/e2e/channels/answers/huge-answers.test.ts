import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { createAnthropicProvider } from "../../../../src/providers/anthropic/anthropic.js";
import { createOpenAIProvider } from "../../../../src/providers/openai/openai.js";
import type { Provider, ProviderChunk } from "../../../../src/providers/provider.js";
import { sizes } from "../../../../src/providers/request/sizes.js";
import { collect, failureOf, hello, noAbort } from "../../../contracts/provider/calls.js";
import { slowness } from "../../../support/cost.js";
import { until } from "../../../support/engine/engine-kit.js";
import { startFakeTelegram } from "../../../support/fakes/fake-telegram.js";
import { again, saysOpenAI, writeFlood } from "../../../support/fakes/flood.js";
import { openAIConfig, startGateway } from "../../../support/worlds/gateway.js";

/** A server that writes pieces until 100 MB are out or nobody reads any more. */
async function flood(type: string, status: number, pieces: () => Iterable<string>) {
  let sent = 0;
  let closed = (): void => {};
  const isClosed = new Promise<void>((resolve) => {
    closed = resolve;
  });
  const server = createServer((request, response) => {
    request.resume();
    response.once("close", closed);
    response.writeHead(status, { "content-type": type });
    void writeFlood(response, pieces(), (bytes) => {
      sent += bytes;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A TCP server that listens has an address with a port.
  const { port } = server.address() as AddressInfo;
  return {
    apiBase: `http://127.0.0.1:${port}/v1`,
    isClosed,
    sent: () => sent,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const block = "x".repeat(64 * 1024);
const call = (json: string, name?: string) =>
  `data: ${JSON.stringify({ choices: [{ delta: { tool_calls: [{ index: 0, id: "a", function: { name, arguments: json } }] } }] })}\n\n`;
function* calls(): Generator<string> {
  for (let index = 0; ; index += 1) yield call("{}", "now").replace('"index":0,"id":"a"', `"index":${index}`);
}
const anthropic = (text: string) =>
  `data: ${JSON.stringify({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })}\n\n`;

/** The longest time for which nothing else could run. */
async function longestStall(work: Promise<unknown>): Promise<number> {
  let longest = 0;
  let isOver = false;
  const watch = (async () => {
    while (!isOver) {
      const began = performance.now();
      await pause(5);
      longest = Math.max(longest, performance.now() - began);
    }
  })();
  await work.finally(() => {
    isOver = true;
  });
  await watch;
  return longest;
}

const openai = (apiBase: string): Provider => createOpenAIProvider({ name: "acme", apiBase });

describe("an answer without end", () => {
  for (const [what, create, pieces] of [
    ["text over OpenAI's wire", openai, () => again(saysOpenAI(block))],
    [
      "text over Anthropic's wire",
      (apiBase: string) => createAnthropicProvider({ name: "acme", apiBase }),
      () => again(anthropic(block)),
    ],
    ["thinking", openai, () => again(saysOpenAI(block).replace('"content"', '"reasoning_content"'))],
    ["thinking between tags", openai, () => again(saysOpenAI(block), saysOpenAI("<think>"))],
    ["arguments of a call", openai, () => again(call(block), call("{", "write_file"))],
    ["calls", openai, calls],
  ] as const)
    test(`${what} is cut, in little memory, and its connection ended`, async () => {
      await using server = await flood("text/event-stream", 200, pieces);
      const before = process.memoryUsage().arrayBuffers;
      const provider = create(server.apiBase);
      let length = 0;
      let last: ProviderChunk | undefined;
      const read = async (): Promise<void> => {
        for await (const chunk of provider.stream(hello, noAbort)) {
          last = chunk;
          if (chunk.kind === "text" || chunk.kind === "thinking") length += chunk.text.length;
          if (chunk.kind === "tool_input") length += chunk.json.length;
        }
      };
      const stall = await longestStall(read());
      await server.isClosed;
      assert.ok(last?.kind === "end" && last.stopReason === "max_tokens" && last.isCut === true, JSON.stringify(last));
      assert.ok(length <= sizes.answerCharacters);
      assert.ok(server.sent() < 40 * 1024 * 1024, `${server.sent()} bytes were sent`);
      assert.ok(process.memoryUsage().arrayBuffers - before < 60 * 1024 * 1024);
      assert.ok(stall < 1500 * slowness(), `nothing else ran for ${stall} ms`);
    });

  for (const [what, type, status, pieces, says] of [
    [
      "one line",
      "text/event-stream",
      200,
      () => again(block, 'data: {"choices":[{"delta":{"content":"'),
      /a line of more than 8 MB/,
    ],
    [
      "one event of many lines",
      "text/event-stream",
      200,
      () => again(`data: ${block}\n`),
      /an event of more than 8 MB/,
    ],
    [
      "one document",
      "application/json",
      200,
      () => again(block, '{"choices":[{"message":{"content":"'),
      /one document of more than 16 MB/,
    ],
    ["a refusal", "application/json", 400, () => again(block, '{"error":{"message":"'), /refused the request/],
    ["a page", "text/plain", 502, () => again(block, "<html><title>Bad Gateway</title>"), /a web page: Bad Gateway/],
  ] as const)
    test(`${what} of 100 MB fails by name, in little memory, and its connection is ended`, async () => {
      await using server = await flood(type, status, pieces);
      let message = "";
      const stall = await longestStall(
        failureOf(openai(server.apiBase)).then((error) => {
          message = error.message;
        }),
      );
      await server.isClosed;
      assert.match(message, says);
      assert.ok(message.length < 1000);
      assert.ok(server.sent() < 40 * 1024 * 1024, `${server.sent()} bytes were sent`);
      assert.ok(stall < 1500 * slowness(), `nothing else ran for ${stall} ms`);
    });

  test("a whole answer that is too long is cut as well", async () => {
    const text = "é".repeat(sizes.answerCharacters + 1000);
    await using server = await flood("application/json", 200, () => [
      JSON.stringify({ choices: [{ message: { content: text }, finish_reason: "stop" }] }),
    ]);
    const chunks = await collect(openai(server.apiBase));
    const [first, last] = chunks;
    assert.ok(first?.kind === "text" && first.text.length === sizes.answerCharacters);
    assert.ok(last?.kind === "end" && last.isCut === true);
  });
});

test("who asked reads the beginning of an endless answer and that it was cut, and its use is counted", async () => {
  await using server = await flood("text/event-stream", 200, () => again(saysOpenAI("word ".repeat(2000))));
  await using telegram = await startFakeTelegram({ token: "4242:test" });
  const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] } };
  await using gateway = await startGateway({ config: openAIConfig(server.apiBase, { channels }) });
  telegram.pushText({ chatId: 7, userId: 7, text: "tell me all" });
  const key = "telegram:7";
  await gateway.waitForEvent(({ type }) => type === "turn_execution_complete", key);
  const events = await gateway.events(key);
  const queued = events.flatMap((event) => (event.type === "outbound_delivery_changed" ? [event.payload] : []));
  assert.match(queued[0]?.content ?? "", /^word word/);
  await until("the whole answer is sent", () => telegram.sent.some(({ file }) => file !== undefined));
  const shown = telegram.sent.map(({ file }) => file?.bytes.toString("utf8") ?? "").join("");
  assert.match(shown, /\(The model's answer did not end\. maxclaw cut it after [\d,]+ characters\.\)/);
  const [answer] = events.flatMap((event) => (event.type === "assistant_message" ? [event.payload] : []));
  assert.deepEqual([answer?.stop_reason, answer?.partial], ["max_tokens", false]);
  const { guessedTokens = 0 } = await gateway.gateway.api.sessionUsage(key);
  assert.ok(guessedTokens > 400_000);
  assert.ok(gateway.gateway.api.usage(1).total.guessedTokens > 400_000);
});

test("who asked is told about a model that thinks without end", async () => {
  const thinks = saysOpenAI(block).replace('"content"', '"reasoning_content"');
  await using server = await flood("text/event-stream", 200, () => again(thinks));
  await using gateway = await startGateway({ config: openAIConfig(server.apiBase) });
  const { response } = await gateway.ask("what is one and one?");
  assert.equal(response, "The model kept thinking and gave no answer. Please ask again or put it differently.");
});
