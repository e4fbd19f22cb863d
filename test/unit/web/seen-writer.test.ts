import assert from "node:assert/strict";
import { test } from "node:test";
import { SeenWriter } from "../../../src/web/offline/seen-writer.js";
import { gate } from "../../support/engine/engine-kit.js";

test("nothing is kept once what was seen is cleared, also not the rest of what is just being written", async () => {
  const [held, begun] = [gate(), gate()];
  const kept = new Set<string>();
  const writer = new SeenWriter(async () => ({
    async putChat({ key }) {
      begun.open();
      await held.opened;
      kept.add(key);
    },
    async putList() {
      kept.add("list");
    },
    async removeChat(key) {
      kept.delete(key);
    },
    async clear() {
      kept.clear();
    },
  }));
  const list = { at: 1, json: "[]" };
  const written = writer.write({ key: "webui:1", at: 1, json: "{}" }, list);
  await begun.opened;
  const cleared = writer.clear();
  const late = writer.write(undefined, list);
  held.open();
  await Promise.all([written, cleared, late]);
  assert.deepEqual([...kept], []);

  writer.begin();
  const again = writer.write({ key: "webui:2", at: 2, json: "{}" }, list);
  await Promise.all([again, writer.forget("webui:2")]);
  assert.deepEqual([...kept], ["list"], "a chat that is deleted while it is written does not stay either");
});
