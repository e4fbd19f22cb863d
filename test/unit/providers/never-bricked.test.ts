import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import fc from "fast-check";
import { textOf } from "../../../src/events/content.js";
import type { StoredEvent } from "../../../src/events/event.js";
import type { Adjustment, Adjustments } from "../../../src/providers/adjustments.js";
import { toMessagesRequest } from "../../../src/providers/anthropic/request.js";
import { toChatRequest } from "../../../src/providers/openai/request.js";
import type { ModelRequest } from "../../../src/providers/provider.js";
import { History } from "../../../src/sessions/history/history.js";
import { builtinTools } from "../../../src/tools/builtin.js";
import { createToolRegistry } from "../../../src/tools/registry.js";
import { anyHistory, logOf, wordsGone } from "../../support/engine/histories/random-histories.js";
import { fuzzOptions } from "../../support/fuzz.js";
import { anthropicProblems } from "../../support/rules/anthropic-rules.js";
import { openAIProblems } from "../../support/rules/openai-rules.js";
import { type Json, listOf, objectOf } from "../../support/rules/request-rules.js";

/** One of the two APIs. */
interface Wire {
  readonly name: string;
  build(request: ModelRequest, known: Adjustments): Promise<unknown>;
  problemsOf(body: string): readonly string[];
  /** Each call of the request with what is told about its result. */
  callsIn(body: Json): readonly { readonly input: Json; readonly result: string }[];
}

const messagesIn = (body: Json): readonly Json[] => listOf(body.messages).map(objectOf);
const blocksIn = (message: Json | undefined): readonly Json[] => listOf(message?.content).map(objectOf);

const anthropic: Wire = {
  name: "Anthropic",
  build: toMessagesRequest,
  problemsOf: anthropicProblems,
  callsIn: (body) =>
    messagesIn(body).flatMap((message, index, all) =>
      blocksIn(message)
        .filter(({ type }) => type === "tool_use")
        .map(({ id, input }) => {
          const result = blocksIn(all[index + 1]).find((block) => block.tool_use_id === id);
          return { input: objectOf(input), result: String(result?.content) };
        }),
    ),
};

const openai: Wire = {
  name: "OpenAI",
  build: toChatRequest,
  problemsOf: openAIProblems,
  callsIn: (body) =>
    messagesIn(body).flatMap((message, index, all) =>
      listOf(message.tool_calls)
        .map(objectOf)
        .map((call) => {
          const result = all.find((other, at) => at > index && other.tool_call_id === call.id);
          return {
            input: objectOf(JSON.parse(String(objectOf(call.function).arguments))),
            result: String(result?.content),
          };
        }),
    ),
};

const adjustments: fc.Arbitrary<Adjustments> = fc
  .subarray<Adjustment>([
    "no_temperature",
    "max_completion_tokens",
    "no_stream_options",
    "no_tools",
    "reasoning_content",
    "thought_signature",
    "no_thinking_back",
  ])
  .map((all) => new Set(all));

const tools: ModelRequest["tools"] = [
  ...createToolRegistry(builtinTools).declarations(),
  // As a server of tools may describe one.
  {
    name: "mcp_notes_find",
    description: "Finds \ud83d",
    inputSchema: { type: "object", anyOf: [{ properties: { "\ud83d": { description: "half \ude00" } } }] },
  },
];

async function bodyOf(wire: Wire, history: History, turnId: string | undefined, known: Adjustments): Promise<string> {
  const messages = history.toMessages(turnId);
  const request = { model: "m", system: "Be brief. \ud83d", messages, tools, maxTokens: 100, temperature: 1.5 };
  return JSON.stringify(await wire.build(request, known));
}

/** What of an event's log a model gets to see, told by other means than the history's. */
class Expected {
  #words: { readonly seq: number; readonly word: string }[] = [];
  /** Numbers of calls that have a result. */
  readonly results = new Set<number>();
  turnId: string | undefined;

  apply(event: StoredEvent): void {
    if (event.type === "turn_execution_start") this.turnId = event.turn_id;
    else if (event.type.startsWith("turn_execution_")) this.turnId = undefined;
    if (event.type === "user_message")
      for (const word of wordsIn(textOf(event.payload.content))) this.#words.push({ seq: event.seq, word });
    if (event.type === "tool_execution_complete") {
      const number = numberIn(event.payload.output);
      if (number !== undefined) this.results.add(number);
    }
    if (event.type === "context_compressed") {
      const gone = new Set(wordsGone(event));
      this.#words = this.#words.filter(({ word }) => !gone.has(word));
    }
    if (event.type !== "session_history_changed") return;
    const { kind, to_seq = 0 } = event.payload;
    if (kind === "new" || kind === "deletion") this.#words = [];
    if (kind === "undo") this.#words = this.#words.filter(({ seq }) => seq <= to_seq);
  }

  get words(): readonly string[] {
    return this.#words.map(({ word }) => word);
  }
}

const wordsIn = (text: string): readonly string[] => text.match(/word\d+;/g) ?? [];

function numberIn(output: string): number | undefined {
  const match = /^result of (\d+) /.exec(output);
  return match === null ? undefined : Number(match[1]);
}

/** Events after which a request may look different. */
const telling =
  /^(user_message|context_compressed|assistant_message|tool_execution_complete|session_history_changed|turn_execution_\w+)$/;

for (const wire of [anthropic, openai]) {
  describe(`${wire.name}: after any history, cut at any event,`, () => {
    const property = (
      t: TestContext,
      check: (body: string, expected: Expected, isUsual: boolean) => void,
    ): Promise<void> =>
      fc.assert(
        fc.asyncProperty(anyHistory, adjustments, async (steps, known) => {
          const history = new History();
          const expected = new Expected();
          const isUsual = steps.every(({ happens }) => happens !== "strayResult" && happens !== "strangeAnswer");
          for (const event of logOf(steps).events) {
            history.apply(event);
            expected.apply(event);
            if (!telling.test(event.type)) continue;
            for (const turnId of new Set([expected.turnId, event.turn_id, undefined]))
              check(await bodyOf(wire, history, turnId, known), expected, isUsual);
          }
        }),
        fuzzOptions(t, 100),
      );

    test("the request is one that the API takes", (t) =>
      property(t, (body) => assert.deepEqual(wire.problemsOf(body), [], body)));

    test("it holds what each person said, in order, and each result beside its own call", (t) =>
      property(t, (body, expected, isUsual) => {
        assert.deepEqual(wordsIn(body), expected.words, body);
        for (const { input, result } of wire.callsIn(objectOf(JSON.parse(body)))) {
          const number = numberIn(result);
          if (number !== undefined) assert.equal(number, input.n, body);
          else if (isUsual && typeof input.n === "number") assert.ok(!expected.results.has(input.n), body);
        }
      }));
  });
}

test("thinking goes back to Anthropic exactly as one answer gave it, and no other answer's beside it", async (t) => {
  await fc.assert(
    fc.asyncProperty(anyHistory, async (steps) => {
      const history = new History();
      const expected = new Expected();
      const given = new Set<string>();
      for (const event of logOf(steps).events) {
        history.apply(event);
        expected.apply(event);
        if (event.type !== "assistant_message") continue;
        for (const part of event.payload.content)
          if (part.type === "thinking") given.add(`${part.text}|${part.signature?.replace(/^redacted:/, "")}`);
        const body = objectOf(JSON.parse(await bodyOf(anthropic, history, expected.turnId, new Set())));
        for (const message of messagesIn(body)) {
          const thoughts = blocksIn(message).filter(({ type }) => String(type).endsWith("thinking"));
          const proofs = thoughts.map((block) => String(block.signature ?? block.data));
          assert.ok(new Set(proofs.map((proof) => proof.split(".")[0])).size <= 1, JSON.stringify(message));
          for (const block of thoughts)
            if (block.type === "thinking") assert.ok(given.has(`${String(block.thinking)}|${String(block.signature)}`));
        }
      }
    }),
    fuzzOptions(t, 100),
  );
});
