import assert from "node:assert/strict";
import { test } from "node:test";
import { checkAfterCrash, runChild } from "../../support/engine/engine-crash.js";
import { tempFolder } from "../../support/engine/engine-kit.js";
import { seedOf } from "../../support/engine/torture-options.js";
import { createRandom } from "../../support/random.js";

test("nothing accepted is lost over a series of kills at random moments of one home", async (t) => {
  const home = tempFolder(t);
  const random = createRandom(seedOf(t));
  for (let round = 0; round < 6; round += 1) {
    const killAfterLines = 1 + Math.floor(random() * 500);
    const crash = await runChild(home, { killAfterLines, messages: 400 });
    t.diagnostic(
      `killed after ${killAfterLines} lines: ${crash.accepted.length} accepted, ${crash.committed.length} committed`,
    );
    await checkAfterCrash(home, crash);
  }
});

test("a run that nobody kills ends with everything answered", async (t) => {
  const home = tempFolder(t);
  const run = await runChild(home, { messages: 200 });
  assert.deepEqual([run.signal, run.accepted.length, run.committed.length], [null, 200, 200]);
  await checkAfterCrash(home, run);
});
