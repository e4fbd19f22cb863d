import assert from "node:assert/strict";
import { inspect } from "node:util";
import { ProviderError } from "../../../src/errors.js";
import type { HttpProviderOptions } from "../../../src/providers/model-call.js";
import type { ModelRequest, Provider, ProviderChunk } from "../../../src/providers/provider.js";
import type { TimeLimits } from "../../../src/providers/wire/timeouts.js";
import type { AnswerScript, FakeModelServer } from "../../support/worlds/model-script.js";

export const testKey = "test-key-0123456789abcdef";

export const hello: ModelRequest = {
  model: "model-1",
  system: "Be brief.",
  messages: [{ role: "user", content: [{ type: "text", text: "hello" }] }],
  tools: [],
  maxTokens: 100,
  temperature: 0.7,
};

export const noAbort = new AbortController().signal;

export async function collect(provider: Provider, request = hello, signal = noAbort): Promise<ProviderChunk[]> {
  const chunks: ProviderChunk[] = [];
  for await (const chunk of provider.stream(request, signal)) chunks.push(chunk);
  return chunks;
}

export async function failureOf(provider: Provider, request = hello): Promise<ProviderError> {
  try {
    await collect(provider, request);
  } catch (error) {
    assert.ok(error instanceof ProviderError, inspect(error));
    return error;
  }
  return assert.fail("the call did not fail");
}

/** The two wires that can be faked. */
export interface WireUnderTest {
  readonly create: (options: HttpProviderOptions) => Provider;
  readonly startFake: (options: { answer: AnswerScript }) => Promise<FakeModelServer>;
}

/** A provider in front of a fake server that plays the script. */
export async function open(wire: WireUnderTest, answer: AnswerScript, limits: Partial<TimeLimits> = {}) {
  const server = await wire.startFake({ answer });
  const provider = wire.create({ name: "acme", apiKey: testKey, apiBase: server.apiBase, limits });
  return { server, provider, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** The last chunk of an answer. */
export const end = (stopReason: string, input = 10, output = 5) => ({
  kind: "end",
  stopReason,
  usage: { input_tokens: input, output_tokens: output, cache_read_tokens: 0, cache_write_tokens: 0 },
});
