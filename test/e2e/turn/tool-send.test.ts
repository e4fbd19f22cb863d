import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { defineTool } from "../../../src/tools/tool.js";
import { until } from "../../support/engine/engine-kit.js";
import { callThenDone, startWorld } from "../../support/worlds/channels/chat-world.js";

test("a call that runs again after a restart shows what it had sent only once, and then the rest", async () => {
  let runs = 0;
  const tool = defineTool({
    name: "report",
    description: "Reports.",
    input: z.object({}),
    effect: "idempotent",
    risk: "none",
    origin: "builtin",
    async run(_input, { files: { workspace }, chat: { send }, signal }) {
      runs += 1;
      const path = join(workspace, "report.txt");
      await writeFile(path, "all of it");
      const attachments = [{ path, filename: "report.txt", mimeType: "text/plain", sizeBytes: 9 }];
      await send({ content: "First part.", attachments });
      if (runs === 1) await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      await send({ content: "Second part.", attachments: [] });
      return { text: "reported", isError: false, summary: "reported" };
    },
  });
  await using w = await startWorld(callThenDone("report", {}), { tools: [tool] });
  w.say(1, "report");
  await until("the first part is shown", () => w.telegram.sent.length === 2, 10_000);
  w.gateway = await w.gateway.restart();
  await w.shown("done: reported");
  assert.equal(runs, 2);
  assert.deepEqual(
    w.telegram.sent.map(({ text, file }) => file?.filename ?? text),
    ["First part.", "report.txt", "Second part.", "done: reported"],
  );
});
