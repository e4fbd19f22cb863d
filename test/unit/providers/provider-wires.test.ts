import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createAnthropicProvider } from "../../../src/providers/anthropic/anthropic.js";
import { createOpenAIProvider } from "../../../src/providers/openai/openai.js";
import { collect } from "../../contracts/provider.js";
import { startFakeAnthropic } from "../../support/fakes/models/fake-anthropic.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { fuzzOptions } from "../../support/fuzz.js";
import type { ScriptedAnswer } from "../../support/worlds/model-script.js";

const pieces = fc.array(fc.string({ minLength: 1, maxLength: 8, unit: "grapheme" }), { maxLength: 4 });
const calls = fc
  .array(
    fc.record({
      name: fc.constantFrom("read_file", "list_dir", "now"),
      jsonPieces: fc.constantFrom([], ["{}"], ['{"a":', "1}"], ['{"te', 'xt":"\\u4e16', '界"}']),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((list) => list.map((call, n) => ({ ...call, id: `call_${n}` })));
const tokens = fc.nat({ max: 100_000 });

const answers: fc.Arbitrary<ScriptedAnswer> = fc.record(
  {
    thinking: pieces,
    text: pieces,
    toolCalls: calls,
    interleaved: fc.boolean(),
    stopReason: fc.constantFrom("max_tokens", "refusal"),
    usage: fc.oneof(fc.constant(false as const), fc.record({ input: tokens, output: tokens, cacheRead: tokens })),
    unknownFrames: fc.boolean(),
  },
  { requiredKeys: [] },
);

test("the same answer over both wires gives the same chunks", async (t) => {
  await using openaiServer = await startFakeOpenAI({ answer: {} });
  await using anthropicServer = await startFakeAnthropic({ answer: {} });
  const openai = createOpenAIProvider({ name: "a", apiKey: "k", apiBase: openaiServer.apiBase });
  const anthropic = createAnthropicProvider({ name: "b", apiKey: "k", apiBase: anthropicServer.apiBase });
  await fc.assert(
    fc.asyncProperty(answers, async (answer) => {
      openaiServer.setAnswer(answer);
      anthropicServer.setAnswer(answer);
      const [one, other] = await Promise.all([collect(openai), collect(anthropic)]);
      assert.deepEqual(one, other);
      assert.equal(one.at(-1)?.kind, "end");
    }),
    fuzzOptions(t, 60),
  );
});
