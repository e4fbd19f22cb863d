import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { eachIndexLine, headOf, lineText, plainFile } from "../../../src/sessions/list/index-file.js";
import type { LineHead } from "../../../src/sessions/list/index-line.js";
import { KeyTable } from "../../../src/sessions/list/key-table.js";
import { tempFolder } from "../../support/engine/engine-kit.js";
import { fuzzOptions } from "../../support/fuzz.js";

const anyKey = fc.oneof(
  fc.tuple(fc.constantFrom("a", "my_channel", "webui"), fc.nat(30)).map(([channel, n]) => `${channel}:${n}`),
  fc.string({ unit: "grapheme", maxLength: 700 }),
);

test("a table of keys knows what a map knows, whatever is added and deleted", (t) => {
  const step = fc.record({ key: anyKey, isDeleted: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const table = new KeyTable();
      const known = new Map<string, number>();
      for (const { key, isDeleted } of steps) {
        if (isDeleted) {
          assert.equal(table.delete(key), known.get(key));
          known.delete(key);
        } else {
          const number = table.add(key);
          assert.equal(number, known.get(key) ?? number);
          assert.ok(known.has(key) || ![...known.values()].includes(number));
          known.set(key, number);
        }
        assert.equal(table.find(key), known.get(key));
      }
      assert.equal(table.size, known.size);
      assert.deepEqual(new Set(table.numbers()), new Set(known.values()));
      for (const [key, number] of known) {
        assert.equal(table.find(key), number);
        assert.equal(table.keyOf(number), key.toWellFormed());
        const file = plainFile(key);
        if (file !== undefined && /^[ -9;-~]*$/.test(file)) assert.equal(table.findFile(file, file.length - 5), number);
      }
    }),
    fuzzOptions(t, 200),
  );
});

test("a table of keys stays small while very many come and go, and finds those that stay", () => {
  const table = new KeyTable();
  for (let n = 0; n < 60_000; n++) {
    table.add(`telegram:${n}`);
    if (n >= 1000) table.delete(`telegram:${n - 1000}`);
  }
  assert.equal(table.size, 1000);
  assert.ok(table.end <= 1001);
  for (let n = 59_000; n < 60_000; n++) assert.equal(table.keyOf(table.find(`telegram:${n}`) ?? -1), `telegram:${n}`);
  assert.equal(table.find("telegram:58999"), undefined);
});

test("what a line of the index says is read from its bytes as from its JSON", async (t) => {
  const path = join(tempFolder(t), "index");
  const anyTime = fc.oneof(
    fc.date({ noInvalidDate: true, min: new Date(0), max: new Date("2200-01-01") }).map((at) => at.toISOString()),
    fc.constantFrom("2025-13-01T00:00:00.000Z", "2025-01-01T24:61:00.000Z", "2025-01-01T00:00:00Z", "yesterday", ""),
  );
  const anyLine = fc.record(
    {
      key: anyKey,
      file: fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom("a_1.json", "webui_2.json")),
      messageCount: fc.nat(),
      lastMessageAt: anyTime,
      lastSequence: fc.nat(),
      lastMessage: fc.string({ unit: "grapheme" }),
    },
    { requiredKeys: ["key", "file", "messageCount"] },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(anyLine, { maxLength: 30 }), fc.boolean(), async (made, isPlain) => {
      const lines = made.map((line) => ({ ...line, file: isPlain ? (plainFile(line.key) ?? line.file) : line.file }));
      writeFileSync(path, lines.map(lineText).join(""));
      const heads: (LineHead | undefined)[] = [];
      await eachIndexLine(path, (line) => {
        if (line.isPlain) assert.equal(line.head?.file, plainFile(line.head?.key ?? ""));
        heads.push(line.head);
      });
      const wanted = lines.map((line) => headOf(JSON.parse(lineText(line))));
      assert.deepEqual(heads, wanted);
    }),
    fuzzOptions(t, 150),
  );
});
