import assert from "node:assert/strict";
import { test } from "node:test";
import { PutAway } from "../../../src/web/frame/banners/put-away.js";

test("what was put away stays away until its words change, and comes back once it had gone", () => {
  const kept = new Map<string, string>();
  const storage = {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => void kept.set(name, value),
  };
  const disk = "The disk is full.";
  const lost = "Telegram is disconnected: refused";
  const putAway = new PutAway(storage);
  assert.deepEqual(putAway.openOf([disk, lost]), [disk, lost]);
  putAway.add(disk);
  assert.deepEqual(putAway.openOf([disk, lost]), [lost]);
  putAway.add(lost);

  const reloaded = new PutAway(storage);
  assert.deepEqual(reloaded.openOf([disk, lost]), []);
  assert.deepEqual(reloaded.openOf([disk, `${lost} again`]), [`${lost} again`], "another reason");
  assert.deepEqual(reloaded.openOf([disk, lost]), [lost], "it had gone meanwhile");
  assert.doesNotMatch([...kept.values()].join(), /disk|Telegram/, "a browser keeps none of the words");
});
