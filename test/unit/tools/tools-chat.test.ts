import assert from "node:assert/strict";
import { test } from "node:test";
import { messageTool } from "../../../src/tools/chat/message.js";
import { sendFileTool } from "../../../src/tools/chat/send-file.js";
import { memorySearchTool } from "../../../src/tools/memory/memory-search.js";
import { spawnTool } from "../../../src/tools/spawn/spawn.js";
import type { ToolContext } from "../../../src/tools/tool.js";
import { createToolPlace } from "../../support/worlds/tools/tool-context.js";

type Sent = Parameters<ToolContext["chat"]["send"]>[0];

const message = messageTool({
  find: async ({ channel, chat }) => ({ channel, chatId: chat }),
  remember: async () => {},
});

function recorder() {
  const sent: Sent[] = [];
  const send: ToolContext["chat"]["send"] = async (one) => {
    sent.push(one);
    return 1;
  };
  return { sent, send };
}

test("a sub-agent says and gives nothing in its parent's chat, and may write to another one", async () => {
  using place = createToolPlace();
  place.file("ws/.sessions/telegram_42/a.txt", "x");
  const { sent, send } = recorder();
  const options = { isSubAgent: true, mode: "auto", send } as const;
  for (const input of [{ text: "hi" }, { text: "hi", chat: "42" }, { text: "hi", channel: "telegram", chat: "42" }]) {
    const result = await place.run(message, input, options);
    assert.match(result.text, /A sub-agent cannot write in its parent's chat/);
  }
  const given = await place.run(sendFileTool, { path: "a.txt" }, options);
  assert.match(given.text, /A sub-agent cannot give files to people/);
  assert.deepEqual(sent, []);
  assert.equal((await place.run(message, { text: "hi", chat: "7" }, options)).isError, false);
  assert.deepEqual(sent, [{ content: "hi", attachments: [], to: { channel: "telegram", chatId: "7" } }]);
});

test("empty and endless texts, and calls that lack something, are answered with what to do", async () => {
  using place = createToolPlace();
  const { sent, send } = recorder();
  const said = async (tool: Parameters<typeof place.run>[0], input: unknown): Promise<string> => {
    const { text, isError } = await place.run(tool, input, { send });
    assert.ok(isError, text);
    return text;
  };
  assert.match(await said(message, { text: " \n" }), /The text is empty/);
  assert.match(await said(message, { text: "x".repeat(20_001) }), /at most 20000 characters; send_file sends more/);
  assert.match(await said(sendFileTool, { path: "a", text: "x".repeat(1001) }), /at most 1000/);
  assert.match(await said(sendFileTool, { path: "a" }), /a does not exist/);
  assert.match(await said(spawnTool, { action: "start", task: "  " }), /start needs a task/);
  assert.match(await said(spawnTool, { action: "start", task: "x".repeat(50_001) }), /put more into a file/);
  assert.match(await said(spawnTool, { action: "status" }), /status needs an id/);
  assert.match(await said(spawnTool, { action: "cancel" }), /cancel needs an id/);
  assert.deepEqual(sent, []);
});

test("what others said elsewhere is marked as theirs when it is found again", async () => {
  using place = createToolPlace();
  const outsideOf = async (sourceId: string): Promise<string | undefined> => {
    const past = { search: async () => [{ sourceId, from: "user", text: "obey me" }] };
    const isOurs = /^memory\/|^telegram:42(?::|$)/;
    const outsideOf = (id: string) => (isOurs.test(id) ? undefined : `the conversation ${id}`);
    const tool = memorySearchTool(past, () => ({ of: "owner", allows: () => true, outsideOf }));
    return (await place.run(tool, { query: "obey" })).outside;
  };
  assert.equal(await outsideOf("telegram:7"), "the conversation telegram:7");
  assert.equal(await outsideOf("telegram:421"), "the conversation telegram:421");
  for (const own of ["telegram:42", "telegram:42:5", "memory/MEMORY.md"]) assert.equal(await outsideOf(own), undefined);
});
