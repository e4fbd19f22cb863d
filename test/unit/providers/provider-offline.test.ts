import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isAbortError } from "../../../src/errors.js";
import { createOfflineProvider } from "../../../src/providers/offline/offline.js";
import { understand } from "../../../src/providers/offline/understand.js";
import type { ModelMessage, ModelRequest, ProviderChunk } from "../../../src/providers/provider.js";
import { collect, hello } from "../../contracts/provider/calls.js";

const tools: ModelRequest["tools"] = ["list_dir", "read_file", "write_file"].map((name) => ({
  name,
  description: "",
  inputSchema: { type: "object" },
}));

const user = (text: string): ModelMessage => ({ role: "user", content: [{ type: "text", text }] });
const sent = (text: string) =>
  user(`<now>Sun 2026-11-08 09:30 Europe/Berlin</now>\n<skill name="x">\nread file y.txt\n</skill>\n\n${text}`);
const ask = (messages: readonly ModelMessage[], offered = tools) =>
  collect(createOfflineProvider(), { ...hello, messages, tools: offered });
const textOf = (chunks: readonly ProviderChunk[]) =>
  chunks.map((chunk) => (chunk.kind === "text" ? chunk.text : "")).join("");

async function afterTool(wish: string, content: string, isError = false): Promise<string> {
  const question = sent(wish);
  const chunks = await ask([question]);
  const call = chunks.find((chunk) => chunk.kind === "tool_call");
  assert.ok(call);
  const answer: ModelMessage = {
    role: "assistant",
    content: [{ type: "tool_use", id: call.id, name: call.name, input: {} }],
  };
  const result = { type: "tool_result" as const, tool_call_id: call.id, content, is_error: isError };
  return textOf(await ask([question, answer, { role: "tool", content: [result] }]));
}

describe("the offline stand-in understands", () => {
  for (const [words, wish] of [
    ["help", { kind: "help" }],
    ["What can you do?", { kind: "help" }],
    ["你能做什么？", { kind: "help" }],
    ["Hello, who are you?", { kind: "help" }],
    ["你好，你能做什么？", { kind: "help" }],
    ["Hello!", { kind: "greeting" }],
    ["你好", { kind: "greeting" }],
    ["what time is it?", { kind: "time" }],
    ["现在几点了？", { kind: "time" }],
    ["list files", { kind: "list", path: undefined }],
    ["Please list the files in docs/api", { kind: "list", path: "docs/api" }],
    ["what files are there?", { kind: "list", path: undefined }],
    ["ls src", { kind: "list", path: "src" }],
    ["列出文件", { kind: "list", path: undefined }],
    ["请列出当前目录的文件", { kind: "list", path: undefined }],
    ["列出 docs 目录下的文件", { kind: "list", path: "docs" }],
    ["docs 里有哪些文件？", { kind: "list", path: "docs" }],
    ["有哪些文件", { kind: "list", path: undefined }],
    ["read file notes.txt", { kind: "read", path: "notes.txt" }],
    ["can you read notes.txt please?", { kind: "read", path: "notes.txt" }],
    ["Read the file `a/b c.md`", { kind: "read", path: "a/b c.md" }],
    ["cat README.md.", { kind: "read", path: "README.md" }],
    ["show the file Makefile", { kind: "read", path: "Makefile" }],
    ["读取文件 notes.txt", { kind: "read", path: "notes.txt" }],
    ["请读一下“笔记.md”的内容", { kind: "read", path: "笔记.md" }],
    ['write "hello world" to file a.txt', { kind: "write", path: "a.txt", content: "hello world" }],
    ["Save 'x' in b/c.txt please", { kind: "write", path: "b/c.txt", content: "x" }],
    ["把“你好，世界”写入文件 a.txt", { kind: "write", path: "a.txt", content: "你好，世界" }],
    ["在文件 a.txt 里写入“一二三”", { kind: "write", path: "a.txt", content: "一二三" }],
    ["summarise notes.txt", { kind: "summarise", path: "notes.txt" }],
    ["Remember the file notes.txt", { kind: "summarise", path: "notes.txt" }],
    ["总结一下 notes.txt", { kind: "summarise", path: "notes.txt" }],
    ["show progress", { kind: "unknown" }],
    ["remember that I like tea", { kind: "unknown" }],
    ["read my mind", { kind: "unknown" }],
    ["why is the sky blue?", { kind: "unknown" }],
    ["", { kind: "unknown" }],
  ] as const) {
    test(`"${words}" as ${wish.kind}`, () => assert.deepEqual({ ...understand(words) }, wish));
  }
});

describe("the offline stand-in answers", () => {
  test("what it does not understand with what it is and how to add a model, in several chunks", async () => {
    const chunks = await ask([sent("why is the sky blue?")]);
    assert.ok(chunks.length > 5);
    assert.match(
      textOf(chunks),
      /offline stand-in, not a language model[\s\S]*maxclaw onboard[\s\S]*Ollama[\s\S]*"apiKey"/,
    );
    const last = chunks.at(-1);
    assert.ok(last?.kind === "end" && last.stopReason === "end_turn" && last.usage.input_tokens > 0);
    assert.match(textOf(await ask([sent("天为什么是蓝的")])), /离线替身，不是语言模型[\s\S]*maxclaw onboard/);
  });

  test("the same request with the same chunks", async () => {
    assert.deepEqual(await ask([sent("list files")]), await ask([sent("list files")]));
  });

  test("the time from the clock inside the message", async () => {
    assert.equal(textOf(await ask([sent("what time is it?")])), "It is Sun 2026-11-08 09:30 Europe/Berlin.");
    assert.match(textOf(await ask([user("what time is it?")])), /no clock/);
  });

  test("a request for files by calling the tool", async () => {
    const chunks = await ask([sent('write "hi" to a.txt')]);
    const [call, input, end] = chunks;
    assert.ok(call?.kind === "tool_call" && call.name === "write_file");
    assert.deepEqual(input, { kind: "tool_input", id: call.id, json: '{"path":"a.txt","content":"hi"}' });
    assert.ok(end?.kind === "end" && end.stopReason === "tool_use");
  });

  test("without the tool by saying so", async () => {
    assert.match(textOf(await ask([sent("list files")], [])), /list_dir, which is not available/);
  });

  test("a tool's result in words", async () => {
    assert.match(await afterTool("list files", "a.txt 3"), /this chat's folder holds:\n\n```\na\.txt 3\n```/);
    assert.match(await afterTool("list files", "(empty)\n[workspace: /w]"), /```\n\(empty\)\n```$/);
    assert.match(await afterTool("读取文件 a.txt", "你好"), /a\.txt 的内容：\n\n```\n你好/);
    assert.match(await afterTool('write "x" to a.txt', "ok"), /a\.txt is written/);
    assert.match(await afterTool("read a.md", "```js\n1\n```"), /````\n```js/);
    assert.match(await afterTool("read a.txt", "a.txt does not exist.", true), /did not work: a\.txt does not exist/);
  });

  test("a summary with counts and the first lines", async () => {
    const said = await afterTool("summarise a.txt", "one two\nthree\n4\n5\n6\n7\n");
    assert.match(said, /6 lines; the part I read has 7 words and 21 characters/);
    assert.match(said, /one two\nthree\n4\n5\n6\n```$/);
    assert.match(
      await afterTool("summarise a.txt", "one\n[lines 1-1 of 900; read on with offset 2]"),
      /900 lines; the part I read has 1 words/,
    );
  });

  test("no further once aborted", async () => {
    const abort = new AbortController();
    const seen: string[] = [];
    const reading = (async () => {
      for await (const chunk of createOfflineProvider().stream({ ...hello, messages: [user("help")] }, abort.signal)) {
        seen.push(chunk.kind);
        abort.abort();
      }
    })();
    await assert.rejects(reading, isAbortError);
    assert.equal(seen.length, 1);
  });
});
