import assert from "node:assert/strict";
import { createServer as createTcpServer } from "node:net";
import { describe, test } from "node:test";
import { startFakeAnthropic } from "../../../support/fakes/models/fake-anthropic.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { freePort } from "../../../support/fakes/network/free-port.js";
import { startGateway } from "../../../support/worlds/gateway.js";

/** `apiBase` stands for the fake server; the other providers are as a Go config has them. */
async function answerOf(model: string, providers: Record<string, object>, mine: string) {
  const startFake = mine === "anthropic" ? startFakeAnthropic : startFakeOpenAI;
  await using server = await startFake({ answer: { text: "hello" } });
  const own = { [mine]: { apiKey: "k", ...providers[mine], apiBase: server.apiBase } };
  await using gateway = await startGateway({
    config: { agents: { defaults: { model } }, providers: { ...providers, ...own } },
    modelRetryMs: 1,
  });
  const { response } = await gateway.ask("hi");
  const { provider, providerReason = "" } = await gateway.gateway.api.status();
  return { response, provider, providerReason, asked: server.requests[0]?.body.model };
}

const key = { apiKey: "other" };

describe("a Go config with a bare model name", () => {
  for (const [model, mine, others, asked, why] of [
    ["qwen-max", "dashscope", {}, "qwen-max", /points at it/],
    ["glm-4.5", "zhipu", {}, "glm-4.5", /points at it/],
    ["zai/glm-4.5", "zhipu", {}, "glm-4.5", /another name/],
    ["deepseek-chat", "deepseek", {}, "deepseek-chat", /points at it/],
    ["claude-sonnet-4-5", "anthropic", {}, "claude-sonnet-4-5", /points at it/],
    ["gpt-5.1", "openai", {}, "gpt-5.1", /points at it/],
    ["meta-llama/Llama-3.1-8B-Instruct", "vllm", {}, "meta-llama/Llama-3.1-8B-Instruct", /takes any name/],
    ["kimi-k2", "moonshot", { openai: key, deepseek: key }, "kimi-k2", /points at it/],
    ["MiniMax-M2", "minimax", { anthropic: key }, "MiniMax-M2", /points at it/],
    ["gemini-2.5-pro", "gemini", { openrouter: { apiKey: "other" } }, "gemini-2.5-pro", /points at it/],
    ["claude-sonnet-4-5", "openrouter", {}, "claude-sonnet-4-5", /no other provider/],
    ["google/gemini-2.5-pro", "openrouter", { gemini: key }, "google/gemini-2.5-pro", /no other provider/],
    ["google/gemini-2.5-pro", "gemini", {}, "gemini-2.5-pro", /another name/],
    ["meta-llama/Llama-3.1-8B-Instruct", "vllm", { openrouter: key }, "meta-llama/Llama-3.1-8B-Instruct", /any name/],
    ["my-finetune", "groq", {}, "my-finetune", /only provider with a key/],
    ["openai/gpt-oss-120b", "groq", {}, "openai/gpt-oss-120b", /only provider with a key/],
    ["openai/gpt-oss-20b", "mine", {}, "openai/gpt-oss-20b", /only provider with a key/],
    ["openai/gpt-oss-20b", "vllm", { anthropic: key }, "openai/gpt-oss-20b", /takes any name/],
    ["my-finetune", "groq", { ollama: { apiBase: "http://127.0.0.1:9" } }, "my-finetune", /only provider with a key/],
    ["meta-llama/llama-3.1-8b-instruct", "vllm", {}, "meta-llama/llama-3.1-8b-instruct", /only provider with a key/],
    ["Qwen/Qwen3-8B", "mine", {}, "Qwen/Qwen3-8B", /only provider with a key/],
    ["qwen3:8b", "ollama", { dashscope: key }, "qwen3:8b", /points at it/],
    ["OpenAI/gpt-5.1", "openai", {}, "gpt-5.1", /names it/],
    ["GLM-4.5", "mine", { zhipu: key, mine: { models: [{ id: "glm-4.5" }] } }, "glm-4.5", /list of models/],
    ["deepseek-chat", "mine", { mine: { models: [] } }, "deepseek-chat", /only provider with a key/],
  ] as const)
    test(`${model} is answered by ${mine}${Object.keys(others).length === 0 ? "" : ` beside ${Object.keys(others)}`}`, async () => {
      const told = await answerOf(model, others, mine);
      assert.deepEqual([told.response, told.provider, told.asked], ["hello", mine, asked]);
      assert.match(told.providerReason, why);
    });

  test("that fits nobody among several says what to write", async () => {
    await using gateway = await startGateway({
      config: { agents: { defaults: { model: "my-finetune" } }, providers: { openai: key, deepseek: key } },
    });
    assert.match(
      (await gateway.gateway.api.status()).problems.join(),
      /Write it with its provider, e\.g\. openai\/my-finetune/,
    );
  });
});

describe("a model that cannot be reached is told as that", () => {
  const failure = async (apiBase: string) => {
    await using gateway = await startGateway({
      config: {
        agents: { defaults: { model: "vllm/m" } },
        providers: { vllm: { apiBase, timeouts: { firstByte: 0.3 } } },
      },
      modelRetryMs: 1,
    });
    const outcome = await gateway.ask("hi");
    assert.equal(outcome.end, "failed");
    assert.doesNotMatch(outcome.response, /Something went wrong/);
    return outcome.response;
  };

  test("where nothing listens", async () => {
    const told = await failure(`http://127.0.0.1:${await freePort()}/v1`);
    assert.match(
      told,
      /cannot reach the model: nothing answers at the address of vllm\..* [Cc]heck that it runs.*providers\.vllm\.apiBase/,
    );
  });

  test("where the name leads nowhere", async () => {
    assert.match(
      await failure("http://no-such-host.invalid/v1"),
      /the server of vllm was not found.*providers\.vllm\.apiBase/,
    );
  });

  test("where something else than TLS answers", async () => {
    await using server = await startFakeOpenAI({ answer: { text: "hi" } });
    const told = await failure(server.apiBase.replace("http:", "https:"));
    assert.match(told, /the certificate of vllm was not accepted/);
  });

  test("where nobody answers in time", async () => {
    await using server = await startFakeOpenAI({ answer: { hang: "start" } });
    assert.match(await failure(server.apiBase), /did not answer in time \(provider vllm\)/);
  });

  test("where every connection is cut", async () => {
    const server = createTcpServer((socket) => socket.destroy());
    const port = await freePort();
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    try {
      assert.match(
        await failure(`http://127.0.0.1:${port}/v1`),
        /the connection to vllm was cut\. I will try it again by myself/,
      );
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  test("where a page for people answers", async () => {
    await using server = await startFakeOpenAI({
      answer: { status: 200, body: "<html>hi</html>", headers: { "content-type": "text/html" } },
    });
    assert.match(
      await failure(server.apiBase),
      /could not read the answer of the model \(provider vllm\).*providers\.vllm\.apiBase/,
    );
  });
});
