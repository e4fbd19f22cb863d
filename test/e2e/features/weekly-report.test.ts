import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { makePdf } from "../../support/documents.js";
import { lastResult, startWorld } from "../../support/worlds/channels/chat-world.js";
import { assertSound } from "../../support/worlds/gateway.js";

const page = (text: string): string => `BT /F1 12 Tf 72 720 Td (${text}) Tj ET`;
const words = "查看并总结我的周报.pdf";
const summary = "本周：导入完成，3 个缺陷已修复；下周：上线。";

/** What a person came for: a file sent in a chat, read by a tool, and summed up in their language. */
test("周报.pdf is sent on Telegram, read by read_file, summed up in two model calls, and all of it is in the session", async () => {
  await using w = await startWorld((request) => {
    if (request.index > 0) return { text: summary };
    const path = /<file name="周报\.pdf"[^>]* path="([^"]+)"/.exec(request.userText)?.[1] ?? "no file";
    return { toolCalls: [{ id: "call_1", name: "read_file", input: { path } }] };
  });
  const bytes = makePdf([page("Import finished. 3 bugs fixed."), page("Next week: release.")]);
  w.telegram.pushMessage({
    chat: { id: 42, type: "private", first_name: "Ann" },
    from: { id: 42, is_bot: false, first_name: "Ann" },
    caption: words,
    document: {
      file_id: w.telegram.keepFile(bytes),
      file_size: bytes.length,
      mime_type: "application/pdf",
      file_name: "周报.pdf",
    },
  });
  await w.shown(summary);

  assert.equal(w.model.requests.length, 2);
  assert.match(w.model.requests[0]?.userText ?? "", new RegExp(words));
  const result = lastResult(w.model.requests[1]);
  assert.match(result, /Import finished\. 3 bugs fixed\.[\s\S]*Next week: release\./);
  assert.match(result, /untrusted/, "what others may have written is marked as such");
  const events = await w.gateway.events("telegram:42");
  assertSound(events);

  await w.gateway.gateway.drain(5000);
  await w.gateway.gateway[Symbol.asyncDispose]();
  const file = join(w.gateway.workspace, ".sessions", "telegram_42.json");
  const { key, messages } = JSON.parse(await readFile(file, "utf8"));
  assert.equal(key, "telegram:42");
  assert.deepEqual(
    messages.map(({ role }: { role: string }) => role),
    ["user", "assistant"],
  );
  assert.match(messages[0].content, new RegExp(words));
  assert.equal(messages[1].content, summary);
  assert.match(JSON.stringify(messages[1].timeline), /read_file/);
});
