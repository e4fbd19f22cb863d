import assert from "node:assert/strict";
import { test } from "node:test";
import { tokensOfRequest } from "../../../src/agent/model/request-tokens.js";
import { tokensOf } from "../../../src/events/content-tokens.js";
import type { ModelMessage } from "../../../src/providers/provider.js";
import { formatCount, formatUsd } from "../../../src/util/text/amounts.js";
import { estimateTokens } from "../../../src/util/text/estimate-tokens.js";

test("money is shown in cents, and with as many places as it takes below one", () => {
  const shown = [0, 0.0000004, 0.00002, 0.0041, 0.01, 0.999, 12.345, 1200].map(formatUsd);
  assert.deepEqual(shown, ["$0", "$0", "$0.00002", "$0.0041", "$0.01", "$1.00", "$12.35", "$1200.00"]);
});

test("counts are grouped", () => {
  assert.deepEqual([0, 999, 1000, 1_234_567, 12.4].map(formatCount), ["0", "999", "1,000", "1,234,567", "12"]);
});

test("an estimate is near what tokenizers count: four letters for a token, nearly one for a Chinese character", () => {
  const tokensOfUser = (...content: readonly Extract<ModelMessage, { role: "user" }>["content"][number][]): number =>
    tokensOfRequest({ system: "", messages: [{ role: "user", content }], tools: [] });
  const english = tokensOfUser({ type: "text", text: "The quick brown fox jumps over the lazy dog. ".repeat(100) });
  assert.ok(english > 900 && english < 1300, String(english));
  const chinese = tokensOfUser({ type: "text", text: "今天天气很好我们去公园散步吧".repeat(100) });
  assert.ok(chinese > 900 && chinese < 1500, String(chinese));
  const image = tokensOfUser({ type: "image", mime_type: "image/png", path: "/x.png" });
  assert.ok(image >= 1000 && image < 3000, String(image));
  const call = { type: "tool_use", id: "a", name: "write", input: { text: "x".repeat(4000) } } as const;
  const result = { type: "tool_result", tool_call_id: "a", content: "y".repeat(4000), is_error: false } as const;
  const messages: ModelMessage[] = [
    { role: "assistant", content: [call] },
    { role: "tool", content: [result] },
  ];
  const tools = [{ name: "write", description: "z".repeat(4000), inputSchema: {} }];
  const all = tokensOfRequest({ system: "s".repeat(4000), messages, tools });
  assert.ok(all > 3900 && all < 4300, String(all));
});

test("one estimate serves budgets, compaction and answers that are cut", () => {
  for (const text of ["The quick brown fox", "今天天气很好", "Съешь ещё этих булок", ""]) {
    const whole = estimateTokens(text);
    const pieces = [...text].reduce((sum, letter) => sum + estimateTokens(letter), 0);
    assert.ok(Math.abs(whole - pieces) < 0.001, `${text}: ${whole} in one, ${pieces} in pieces`);
    const message: ModelMessage = { role: "user", content: [{ type: "text", text }] };
    assert.equal(tokensOfRequest({ system: "", messages: [message], tools: [] }), tokensOf(message.content) + 1);
  }
});
