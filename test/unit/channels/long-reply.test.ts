import assert from "node:assert/strict";
import { test } from "node:test";
import { cutReply } from "../../../src/bus/long-reply.js";
import { telegramLength } from "../../../src/channels/formatting/dialects/telegram-html.js";
import { splitMarkdown } from "../../../src/channels/formatting/split.js";
import { assertSoon } from "../../support/cost.js";

const telegram = {
  split: (content: string) => splitMarkdown(content, 4096, telegramLength),
  files: "apart" as const,
  maxFileBytes: 50 * 1024 * 1024,
};
const words = (length: number): string =>
  "some words of **an** answer. ".repeat(Math.ceil(length / 29)).slice(0, length);

test("what fits into ten messages is ten messages, and what does not is its beginning and a file with all of it", () => {
  const short = words(36_000);
  assert.ok(cutReply(telegram, short).file === undefined);
  assert.ok(cutReply(telegram, short).texts.join(" ").trim() === short.trim());
  const long = words(60_000);
  const { texts, file } = cutReply(telegram, long);
  assert.equal(texts.length, 4);
  assert.ok(long.startsWith(texts[0] ?? "?"));
  assert.match(texts.at(-1) ?? "", /60,000 characters.*answer\.md holds all of it/);
  assert.ok(file?.text === long);
  assert.deepEqual([file?.sizeBytes, file?.mimeType], [Buffer.byteLength(long), "text/markdown"]);
});

test("a channel that takes few messages gets no more than it says, the note and the file among them", () => {
  const few = { ...telegram, maxMessages: 4 };
  assert.equal(cutReply(few, words(15_000)).texts.length, 4);
  const { texts, file } = cutReply(few, words(20_000));
  assert.deepEqual([texts.length, file?.text?.length], [3, 20_000]);
  const { files: _files, ...bare } = few;
  assert.equal(cutReply(bare, words(20_000)).texts.length, 4);
});

test("a remark below a long answer is shown in the chat too", () => {
  const remark = "(The answer was cut at the model's limit of 100 tokens.)";
  for (const channel of [telegram, { split: telegram.split }]) {
    const { texts } = cutReply(channel, `${words(60_000)}\n\n${remark}`);
    assert.ok(texts.at(-1)?.endsWith(`\n${remark}`), texts.at(-1));
    assert.ok(!cutReply(channel, words(60_000)).texts.at(-1)?.includes("\n"));
  }
});

test("the file keeps to the platform's limit, and says that it does", () => {
  const { texts, file } = cutReply({ ...telegram, maxFileBytes: 100_001 }, "é".repeat(200_000));
  assert.ok(file?.text === "é".repeat(50_000));
  assert.match(texts.at(-1) ?? "", /as much of it as this chat takes/);
});

test("where no files can be sent the beginning says that there is more, and where any length goes all goes", () => {
  const { files: _files, ...bare } = telegram;
  const { texts, file } = cutReply(bare, words(100_000));
  assert.deepEqual([texts.length, file], [10, undefined]);
  assert.match(texts.at(-1) ?? "", /Only its beginning is shown here/);
  const mail = { split: (content: string) => [content], files: "together" as const };
  assert.ok(cutReply(mail, words(500_000)).texts[0] === words(500_000));
});

test("a text of megabytes, also in one line, costs no more time than a long one", () => {
  for (const text of [words(8_000_000), "x".repeat(8_000_000), "**".repeat(4_000_000), "> ".repeat(4_000_000)])
    assertSoon(() => assert.ok(cutReply(telegram, text).texts.length > 1), 3000, text.slice(0, 10));
});
