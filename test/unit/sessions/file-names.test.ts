import assert from "node:assert/strict";
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import {
  createSessionFiles,
  goFileName,
  hashedFileName,
  keyOfLogName,
  logSuffix,
  sessionFileName,
} from "../../../src/sessions/file-names.js";
import { fuzzOptions } from "../../support/fuzz.js";

async function tempDir(): Promise<string> {
  return await mkdtemp(join(tmpdir(), "maxclaw-names-"));
}

test("names are readable and safe", () => {
  assert.equal(sessionFileName("telegram:42"), "telegram_42");
  assert.equal(sessionFileName("telegram:-100123:7"), "telegram_-100123%3a7");
  assert.equal(sessionFileName("email:Ann@b.c"), "email_%41nn%40b.c");
  assert.equal(sessionFileName("webui:.hidden"), "webui_%2ehidden");
  assert.equal(sessionFileName("webui:../../etc"), "webui_%2e.%2f..%2fetc");
  // A document from elsewhere may name anything as its key.
  assert.equal(sessionFileName("../../etc:1"), "%2e.%2f..%2fetc_1");
  assert.match(hashedFileName("../../etc:1"), /^%2e\.%2f\.\.%2fetc_1~[0-9a-f]{16}$/);
  assert.match(sessionFileName("webui:a.json"), /^webui_a~[0-9a-f]{16}$/);
});

test("two keys never share a name, and no name is longer than 150 bytes", (t) => {
  const key = fc.string({ minLength: 1, maxLength: 300, unit: "grapheme" }).map((text) => `webui:${text}`);
  fc.assert(
    fc.property(key, key, (a, b) => {
      assert.ok(Buffer.byteLength(sessionFileName(a)) <= 150);
      assert.match(sessionFileName(a), /^[a-z0-9._~%-]+$/);
      if (a !== b) assert.notEqual(sessionFileName(a), sessionFileName(b));
    }),
    fuzzOptions(t, 100),
  );
});

test("a file of the Go maxclaw goes on under its own name", async () => {
  const dir = await tempDir();
  await writeFile(join(dir, "email_a_b_c.json"), JSON.stringify({ key: "email:a@b.c", messages: [] }));
  assert.equal(basename(createSessionFiles(dir).documentPath("email:a@b.c")), "email_a_b_c.json");
  assert.equal(goFileName("email:a@b.c"), "email_a_b_c");
});

test("a name that holds another session is left alone", async () => {
  const dir = await tempDir();
  await writeFile(join(dir, "webui_x.json"), `{"title":"first","key":"other:x"}`);
  const files = createSessionFiles(dir);
  assert.equal(basename(files.documentPath("webui:x")), `${hashedFileName("webui:x")}.json`);
});

test("the log decides when the document cannot be read", async () => {
  const dir = await tempDir();
  await writeFile(join(dir, "webui_x.json"), "{broken");
  await writeFile(join(dir, "webui_x.events.jsonl"), `00000000 {"session_key":"webui:x","seq":1}\n`);
  assert.equal(basename(createSessionFiles(dir).logPath("webui:x")), "webui_x.events.jsonl");
});

test("a log whose bytes cannot be read names nobody, and its session keeps its name", async () => {
  const dir = await tempDir();
  const files = createSessionFiles(dir);
  // Reading fails behind a successful open, as it does on a bad disk.
  await mkdir(join(dir, "telegram_42.events.jsonl"));
  assert.equal(basename(files.logPath("telegram:42")), "telegram_42.events.jsonl");
});

test("the key is read back from the usual name of a log, and from no other name", (t) => {
  const chat = fc.string({ minLength: 1, maxLength: 60, unit: "grapheme" });
  const channel = fc.constantFrom("telegram", "discord", "Web", "email");
  fc.assert(
    fc.property(channel, chat, (name, text) => {
      const key = `${name}:${text}`;
      const file = sessionFileName(key);
      const found = keyOfLogName(`${file}${logSuffix}`);
      assert.ok(found === key || found === undefined);
      if (/^(telegram|email)$/.test(name) && !file.includes("~") && text.isWellFormed?.() !== false)
        assert.equal(found, key);
    }),
    fuzzOptions(t, 200),
  );
  assert.equal(keyOfLogName("telegram_42.json"), undefined);
  assert.equal(keyOfLogName(`${hashedFileName("telegram:42")}${logSuffix}`), undefined);
  assert.equal(keyOfLogName(`telegram_%${logSuffix}`), undefined);
});
