import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { defineTool } from "../../../src/tools/tool.js";
import { gate } from "../../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { assertSound, openAIConfig, startGateway } from "../../support/worlds/gateway.js";

test("calls that only read are told each as it ends, and the model reads them in the order in which it made them", async () => {
  const slow = gate();
  const look = defineTool({
    name: "look",
    description: "Looks.",
    input: z.object({ at: z.string() }),
    effect: "read",
    risk: "none",
    origin: "builtin",
    async run({ at }) {
      if (at === "slow") await slow.opened;
      return { text: `saw ${at}`, isError: false, summary: `looked at ${at}` };
    },
  });
  const calls = ["slow", "quick", "other"].map((at) => ({ id: `call_${at}`, name: "look", input: { at } }));
  await using model = await startFakeOpenAI({ answer: [{ toolCalls: calls }, { text: "done" }] });
  await using gateway = await startGateway({ config: openAIConfig(model.apiBase), tools: [look] });
  const id = await gateway.post("look");
  const toldOf = (at: string) =>
    gateway.waitForEvent((event) => event.type === "tool_execution_complete" && event.payload.output === `saw ${at}`);
  await Promise.all([toldOf("quick"), toldOf("other")]);
  slow.open();
  await gateway.outcome(id);
  const events = await gateway.events();
  assertSound(events);
  const ends = events.flatMap((event) => (event.type === "tool_execution_complete" ? [event.payload.output] : []));
  assert.equal(ends.at(-1), "saw slow");
  const results = [...(model.requests[1]?.bodyText ?? "").matchAll(/"saw (\w+)"/g)].map((match) => match[1]);
  assert.deepEqual(results, ["slow", "quick", "other"]);
});
