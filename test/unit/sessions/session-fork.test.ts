import assert from "node:assert/strict";
import { test } from "node:test";
import { RunningTurns } from "../../../src/agent/turn/running-turns.js";
import { createLifecycle } from "../../../src/api/sessions/lifecycle.js";
import { tempFolder, titled } from "../../support/engine/engine-kit.js";
import { openStore } from "../../support/engine/histories/session-store.js";

test("a log that is too long for one transaction is not copied, and it is said up to where it can be", async (t) => {
  await using opened = await openStore(tempFolder(t));
  const { engine, store: sessions } = opened;
  const lifecycle = createLifecycle({
    engine,
    sessions,
    running: new RunningTurns(),
    isFreshStart: () => false,
    maxForkBytes: 5000,
  });
  for (let n = 0; n < 10; n += 1) await engine.append("webui:one", [titled("x".repeat(1000))], { durable: false });
  const refused = await lifecycle.fork("webui:one", undefined).then(
    () => undefined,
    (error: Error) => error.message,
  );
  assert.match(refused ?? "", /^webui:one is longer than 5000 bytes up to event 10: fork it at 3 or before$/);
  assert.equal((await sessions.list()).length, 1, "nothing is left of the attempt");
  const { key } = await lifecycle.fork("webui:one", 3);
  assert.equal(await engine.lastSequence(key), 4);
});
