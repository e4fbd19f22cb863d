import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { damageSentence, isStillTold } from "../../../../src/engine/log-damage.js";
import { tempFolder } from "../../../support/engine/engine-kit.js";

const found = { file: "x.events.jsonl", restored: 0, eventId: "evt_1", isTold: true };

test("a damaged log is told of until its owner deletes the damaged file, and for 30 days where there is none", (t) => {
  const at = Date.parse("2026-11-22T13:00:00Z");
  const day = 86_400_000;
  const gone = { ...found, at, lost: [{ from_seq: 5, to_seq: 7 }] };
  assert.deepEqual([isStillTold(gone, at + 29 * day), isStillTold(gone, at + 30 * day)], [true, false]);
  assert.match(damageSentence("telegram:42", gone), /Lost: events 5 to 7.* This message disappears on 2026-12-22\.$/);
  const keptIn = join(tempFolder(t), "x.damaged");
  writeFileSync(keptIn, "");
  assert.equal(isStillTold({ ...gone, keptIn }, at + 99 * day), true);
  rmSync(keptIn);
  assert.equal(isStillTold({ ...gone, keptIn }, at), false);
});
