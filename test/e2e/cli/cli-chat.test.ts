import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { chat } from "../../../src/cli/chat/agent-chat.js";
import { createApiClient } from "../../../src/cli/gateway/api-client.js";
import { gate, until } from "../../support/engine/engine-kit.js";
import { lastResult } from "../../support/worlds/channels/chat-world.js";
import { startWithModel } from "../../support/worlds/gateway.js";
import type { AnswerScript } from "../../support/worlds/model-script.js";
import { cast, startOne } from "../../support/worlds/tools/sub-agents.js";

const key = "cli:default";

/** A gateway, and a terminal in which somebody talks to it. */
async function openTerminal(answer: AnswerScript) {
  const scripted = await startWithModel(answer);
  const client = createApiClient(scripted.gateway.gateway.address, undefined);
  const input = new PassThrough();
  const output = new PassThrough();
  let screen = "";
  output.on("data", (chunk: Buffer) => {
    screen += chunk.toString("utf8");
  });
  const over = chat(key, { client, reconnect: async () => client }, { input, output });
  return {
    ...scripted,
    over,
    type: (text: string) => void input.write(text),
    /** Resolves once the pattern is on the screen behind what was seen before. */
    async see(pattern: RegExp): Promise<void> {
      await until(`${pattern} is on the screen`, () => pattern.test(screen), 10_000).catch((error: unknown) => {
        throw new Error(`${String(error)}: ${JSON.stringify(screen)}`, { cause: error });
      });
      screen = screen.slice((pattern.exec(screen)?.index ?? 0) + (pattern.exec(screen)?.[0].length ?? 0));
    },
    async [Symbol.asyncDispose]() {
      input.write("\u0003\u0003");
      await over;
      await scripted[Symbol.asyncDispose]();
    },
  };
}

test("a sub-agent's question is asked in the terminal chat, and what comes from it is said there", async () => {
  const held = gate();
  await using t = await openTerminal(
    cast({
      parent: (request, done) => (request.userText.includes("go") && done === 0 ? startOne("write") : { text: "yes?" }),
      async child(request, done) {
        await held.opened;
        const path = `${t.gateway.workspace}/notes.txt`;
        return done === 0
          ? { toolCalls: [{ id: "w", name: "write_file", input: { path, content: "x" } }] }
          : { text: lastResult(request) };
      },
      told: () => ({ text: "It is written." }),
    }),
  );
  await t.see(/> /);
  t.type("go\r");
  await t.see(/yes\?\n/);
  await t.see(/> /);
  t.type("by the w");
  await t.see(/by the w/);
  held.open();
  await t.see(/\? A sub-agent asks: May I write notes\.txt\?/);
  await t.see(/1\. Allow once/);
  await t.see(/answer> /);
  t.type("/status\r");
  await t.see(/test-model/);
  t.type("perhaps\r");
  await t.see(/Please answer with 1 \(Allow once\)/);
  await t.see(/answer> /);
  t.type("1\r");
  await t.see(/Sub-task “write”: completed/);
  await t.see(/It is written\.\n/);
  await t.see(/> by the w/);
  t.type("ay\r");
  await t.see(/yes\?/);
  assert.ok(t.model.requests.at(-1)?.userText.includes("by the way"), "what was begun to be typed is still there");
});

test("a question of a sub-agent can be left open, and is not asked for once it is answered elsewhere", async () => {
  await using t = await openTerminal(
    cast({
      parent: (_, done) => (done === 0 ? startOne("ask") : { text: "yes?" }),
      child: (request, done) =>
        done < 2
          ? { toolCalls: [{ id: `a${done}`, name: "ask_human", input: { question: `Which ${done}?` } }] }
          : { text: lastResult(request) },
      told: () => ({ text: "I was told." }),
    }),
  );
  const answer = async (text: string): Promise<void> => {
    const [question] = t.gateway.gateway.api.listQuestions();
    await t.gateway.gateway.api.answerQuestion({
      sessionKey: question?.sessionKey ?? "",
      requestId: question?.requestId ?? "",
      answer: text,
    });
  };
  await t.see(/> /);
  t.type("go\r");
  await t.see(/A sub-agent asks: Which 0\?/);
  await t.see(/answer> /);
  t.type("\r");
  await t.see(/Left open\. To answer: maxclaw answer ask_\w+/);
  await answer("blue");
  await t.see(/A sub-agent asks: Which 1\?/);
  await t.see(/answer> /);
  await answer("red");
  await t.see(/I was told\./);
  await t.see(/> /);
});

test("a command typed at a question is answered at once, and the question is still there", async () => {
  const question = { question: "What shall I order?", options: ["Coffee", "Tea"] };
  await using t = await openTerminal((request) =>
    request.index === 0
      ? { toolCalls: [{ id: "ask", name: "ask_human", input: question }] }
      : { text: `done: ${lastResult(request)}` },
  );
  await t.see(/> /);
  t.type("order something\r");
  await t.see(/What shall I order\?[\s\S]*answer> /);
  t.type("/usage\r");
  await t.see(/This conversation: /);
  assert.equal(t.gateway.gateway.api.listQuestions().length, 1);
  t.type("2\r");
  await t.see(/done: Tea/);
});
