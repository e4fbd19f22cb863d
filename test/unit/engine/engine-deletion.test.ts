import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Engine } from "../../../src/engine/engine.js";
import { inbound, openIn, queued, tempFolder, until } from "../../support/engine/engine-kit.js";

/** Of all segments. */
function journalOf(home: string): string {
  const folder = join(home, "journal");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".log"))
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("");
}

test("what is deleted while the journal is written again for another deletion leaves the journal as well", async (t) => {
  const home = tempFolder(t);
  const engines: Engine[] = [];
  const deletions: Promise<void>[] = [];
  const { engine } = await openIn(home, {
    journal: { forgetMs: 20 },
    onBoundary(name) {
      // The new segment holds the message that waits here already.
      if (name !== "rotate:checkpoint-written" || deletions.length > 0) return;
      deletions.push(...engines.map((each) => each.deleteSession("webui:second")));
    },
  });
  engines.push(engine);
  for (const [id, key] of [
    ["msg_first", "webui:first"],
    ["msg_second", "webui:second"],
  ] as const)
    await engine.accept(inbound(id, key), { events: [queued(id)] });
  await engine.deleteSession("webui:first");
  await until("the second is deleted as well", () => deletions.length === 1);
  await Promise.all(deletions);
  await until("the journal tells about neither", () => !/text of msg_(first|second)/.test(journalOf(home)));
  await engine[Symbol.asyncDispose]();
  assert.doesNotMatch(journalOf(home), /text of/);
});
