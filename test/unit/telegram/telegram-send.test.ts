import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { createTelegramChannel } from "../../../src/channels/telegram/telegram.js";
import { silentLog } from "../../../src/log.js";
import { tempFolder, until } from "../../support/engine/engine-kit.js";
import { type FakeTelegram, startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { failureOf, never, reply, textsOf } from "../../support/worlds/channels/channel-kit.js";

const token = "4242:send-secret";
const unparsable = {
  method: "sendMessage",
  status: 400,
  description: "Bad Request: can't parse entities: Unsupported start tag at byte offset 3",
};

const open = (telegram: FakeTelegram, sendTimeoutMs = 20_000) =>
  createTelegramChannel(
    { token, apiRoot: telegram.url, log: silentLog },
    { cursor: async () => undefined, sendTimeoutMs },
  );

test("Markdown is shown as Telegram's HTML", async () => {
  await using telegram = await startFakeTelegram({ token });
  const receipt = await open(telegram).send(reply("42", "**bold** <b>not</b> `a<b`"), never);
  const [sent] = telegram.sent;
  assert.equal(sent?.raw, "<b>bold</b> &lt;b&gt;not&lt;/b&gt; <code>a&lt;b</code>");
  assert.equal(sent.text, "bold <b>not</b> a<b");
  assert.equal(sent.parseMode, "HTML");
  assert.equal(receipt.platformMessageId, String(sent.messageId));
});

test("HTML that Telegram cannot parse is sent again as plain text, in the same place", async () => {
  await using telegram = await startFakeTelegram({ token });
  telegram.failNext(unparsable);
  await open(telegram).send(reply("-5", "see [docs](https://example.org)", { thread: "9", replyTo: "77" }), never);
  assert.deepEqual(
    telegram.sent.map(({ text, parseMode, thread, replyTo }) => [text, parseMode, thread, replyTo]),
    [["see docs (https://example.org)", undefined, "9", "77"]],
  );
});

test("the plain text of a piece that would grow too long loses its addresses, but no word", async () => {
  await using telegram = await startFakeTelegram({ token });
  const channel = open(telegram);
  const links = Array.from({ length: 200 }, (_, n) => `[word${n}](https://example.org/${"x".repeat(30)}/${n})`);
  const [piece, ...more] = channel.split(`${links.join(" ")} 😀 the end`);
  assert.ok(piece !== undefined && more.length === 0 && piece.length > 4096);
  telegram.failNext(unparsable);
  await channel.send(reply("42", piece), never);
  const text = telegram.sent[0]?.text ?? "";
  for (const word of ["word0", "word199", "😀 the end"]) assert.ok(text.includes(word), `${word} is shown`);
});

test("replies go to their message and topic; ids of other platforms are left out", async () => {
  await using telegram = await startFakeTelegram({ token });
  const channel = open(telegram);
  await channel.send(reply("-5", "a", { thread: "9", replyTo: "77" }), never);
  await channel.send(reply("-5", "b", { thread: "main", replyTo: "msg_1" }), never);
  assert.deepEqual(
    telegram.sent.map(({ chatId, thread, replyTo }) => [chatId, thread, replyTo]),
    [
      ["-5", "9", "77"],
      ["-5", undefined, undefined],
    ],
  );
});

test("a group that became a supergroup gets its reply under the new id", async () => {
  await using telegram = await startFakeTelegram({ token });
  const moved = {
    ok: false,
    error_code: 400,
    description: "Bad Request: group chat was upgraded to a supergroup chat",
    parameters: { migrate_to_chat_id: -100500 },
  };
  telegram.failNext({ method: "sendMessage", status: 400, body: JSON.stringify(moved) });
  await open(telegram).send(reply("-5", "hi"), never);
  assert.deepEqual(
    telegram.sent.map(({ chatId, text }) => [chatId, text]),
    [["-100500", "hi"]],
  );
});

test("a file goes out in the way in which people expect it, with its bytes and its place", async (t) => {
  await using telegram = await startFakeTelegram({ token });
  const folder = tempFolder(t);
  const channel = open(telegram);
  const cases = [
    ["cat.png", "image/png", "sendPhoto", "a cat"],
    ["torn.png", "image/png", "sendDocument", "no image at all"],
    ["note.ogg", "audio/ogg", "sendVoice", "OggS"],
    ["unwanted.ogg", "audio/ogg", "sendDocument", "OggS"],
    ["a.pdf", "application/pdf", "sendDocument", "%PDF"],
  ] as const;
  for (const [filename, mimeType, method, content] of cases) {
    const path = join(folder, filename);
    await writeFile(path, content);
    if (filename === "unwanted.ogg")
      telegram.failNext({ method: "sendVoice", status: 400, description: "Bad Request: VOICE_MESSAGES_FORBIDDEN" });
    const attachments = [{ path, filename, mimeType, sizeBytes: content.length }];
    await channel.send(reply("42", "", { attachments, thread: "5", replyTo: "9" }), never);
    const sent = telegram.sent.at(-1);
    assert.deepEqual([sent?.file?.filename, sent?.file?.method], [filename, method]);
    assert.equal(sent?.file?.bytes.toString(), content);
    assert.deepEqual([sent?.thread, sent?.replyTo], ["5", "9"]);
  }
  const gone = { path: join(folder, "gone"), filename: "gone.txt", mimeType: "text/plain", sizeBytes: 1 };
  const failure = await failureOf(channel.send(reply("42", "", { attachments: [gone] }), never));
  assert.deepEqual([failure.outcome, failure.retryable], ["refused", false]);
});

test("every failure says whether the message may have arrived, and none shows the token", async () => {
  await using telegram = await startFakeTelegram({ token });
  const channel = open(telegram);
  const method = "sendMessage";
  const cases: readonly (readonly [string, () => void, "refused" | "unknown", boolean, number | undefined])[] = [
    ["429", () => telegram.failNext({ method, status: 429, retryAfter: 7 }), "refused", true, 7000],
    ["403", () => telegram.failNext({ method, status: 403 }), "refused", false, undefined],
    ["400", () => telegram.failNext({ method, status: 400 }), "refused", false, undefined],
    ["413", () => telegram.failNext({ method, status: 413 }), "refused", false, undefined],
    ["401", () => telegram.failNext({ method, status: 401 }), "refused", true, undefined],
    ["404", () => telegram.failNext({ method, status: 404, description: "Not Found" }), "refused", true, undefined],
    ["a proxy's 403", () => telegram.failNext({ method, status: 403, description: "No" }), "refused", true, undefined],
    ["500", () => telegram.failNext({ method, status: 500 }), "refused", true, undefined],
    [
      "a proxy's page",
      () => telegram.failNext({ method, status: 502, body: "<h1>Bad</h1>" }),
      "unknown",
      true,
      undefined,
    ],
    ["cut after", () => telegram.cutNext({ method, when: "after" }), "unknown", true, undefined],
    ["cut before", () => telegram.cutNext({ method, when: "before" }), "unknown", true, undefined],
  ];
  for (const [name, arrange, outcome, retryable, retryAfterMs] of cases) {
    arrange();
    const failure = await failureOf(channel.send(reply("42", "x"), never));
    assert.deepEqual(
      [failure.outcome, failure.retryable, failure.retryAfterMs],
      [outcome, retryable, retryAfterMs],
      name,
    );
    assert.doesNotMatch(textsOf(failure), /send-secret/, name);
  }
  telegram.hangNext({ method, carriedOut: true });
  const hung = await failureOf(open(telegram, 150).send(reply("42", "x"), never));
  assert.deepEqual([hung.outcome, hung.retryable], ["unknown", true]);
  assert.equal(telegram.calls(method), cases.length + 1, "a send is never repeated by itself");
  await telegram.stop();
  const gone = await failureOf(channel.send(reply("42", "x"), never));
  assert.deepEqual([gone.outcome, gone.retryable], ["refused", true]);
  assert.doesNotMatch(textsOf(gone), /send-secret/);
});

test("a send that is aborted under way may have arrived; one that was aborted before has not left", async () => {
  await using telegram = await startFakeTelegram({ token });
  const channel = open(telegram);
  const before = await failureOf(channel.send(reply("42", "x"), AbortSignal.abort()));
  assert.deepEqual([before.outcome, telegram.calls("sendMessage")], ["refused", 0]);
  const stop = new AbortController();
  telegram.hangNext({ method: "sendMessage", carriedOut: true });
  const sending = failureOf(channel.send(reply("42", "x"), stop.signal));
  await telegram.waitForSent(1);
  stop.abort();
  assert.equal((await sending).outcome, "unknown");
});

test("typing is shown in the chat and its topic", async () => {
  await using telegram = await startFakeTelegram({ token });
  const channel = open(telegram);
  await channel.showTyping?.("42", undefined, never);
  await channel.showTyping?.("-5", "9", never);
  await until("both are shown", () => telegram.typing.length === 2);
  assert.deepEqual(
    telegram.typing.map(({ chatId, thread, action }) => [chatId, thread, action]),
    [
      ["42", undefined, "typing"],
      ["-5", "9", "typing"],
    ],
  );
});

test("many sends at once cause no warning", async (t) => {
  await using telegram = await startFakeTelegram({ token });
  const channel = open(telegram);
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on("warning", onWarning);
  t.after(() => process.off("warning", onWarning));
  const stop = new AbortController();
  await Promise.all(Array.from({ length: 60 }, (_, n) => channel.send(reply(String(n + 1), "x"), stop.signal)));
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(warnings, []);
});
