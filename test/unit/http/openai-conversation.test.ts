import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ConversationReader } from "../../../src/http/openai/conversation.js";
import { fuzzOptions } from "../../support/fuzz.js";

const text = fc.string({
  unit: fc.constantFrom("a", "é", "✓", "😀", '"', "\\", "{", "}", "[", "]", ",", ":", "\n", "role"),
});
const message = fc.record({
  role: fc.constantFrom("user", "user", "assistant", "tool", "system", "developer"),
  content: fc.oneof(text, fc.array(fc.record({ type: fc.constant("text"), text }), { maxLength: 3 })),
  extra: fc.oneof(fc.constant(null), fc.constant({ role: "assistant", messages: ["x", { role: "tool" }] })),
});
/** The keys of a message in any order: a role may come after a long content. */
const shuffled = fc
  .tuple(message, fc.shuffledSubarray(["role", "content", "extra"], { minLength: 3 }))
  .map(([one, keys]) => Object.fromEntries(keys.map((key) => [key, Reflect.get(one, key)])));

test("whatever the history and wherever it is cut, what counts is what a whole reading finds", (t) => {
  const body = fc.record({ model: text, messages: fc.array(shuffled, { maxLength: 8 }), user: text });
  fc.assert(
    fc.property(body, fc.nat({ max: 3 }), fc.integer({ min: 1, max: 9 }), (given, indent, step) => {
      const bytes = Buffer.from(JSON.stringify(given, undefined, indent));
      const reader = new ConversationReader(10_000);
      for (let at = 0; at < bytes.length; at += step) reader.take(bytes.subarray(at, at + step));
      const { rest, messages = "" } = reader.end();
      assert.deepEqual(JSON.parse(rest), JSON.parse(JSON.stringify({ ...given, messages: null })));
      const own: typeof given.messages = JSON.parse(JSON.stringify(given.messages)).filter(
        ({ role }: { readonly role: string }) => role !== "system" && role !== "developer",
      );
      const said = own.slice(own.findLastIndex(({ role }) => role !== "user") + 1);
      const roles = own.length > 0 ? ["assistant"] : given.messages.length > 0 ? ["system"] : [];
      assert.deepEqual(JSON.parse(messages), said.length > 0 ? said : roles.map((role) => ({ role })));
    }),
    fuzzOptions(t, 500),
  );
});

test("a message of the history may be larger than what is kept, also where its role comes last", () => {
  const long = "x".repeat(5000);
  const bytes = Buffer.from(
    JSON.stringify({
      messages: [
        { content: long, role: "user" },
        { content: long, role: "assistant" },
        { role: "user", content: "now" },
      ],
    }),
  );
  const reader = new ConversationReader(1000);
  for (let at = 0; at < bytes.length; at += 100) reader.take(bytes.subarray(at, at + 100));
  assert.equal(reader.end().messages, '[{"role":"user","content":"now"}]');
});
