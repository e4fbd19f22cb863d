import assert from "node:assert/strict";
import { test } from "node:test";
import { createPreviews } from "../../../src/bus/previews.js";
import type { Engine } from "../../../src/engine/engine.js";
import { SessionLives } from "../../../src/events/session-lives.js";
import { silentLog } from "../../../src/log.js";
import { gate, openIn, outbound, tempFolder } from "../../support/engine/engine-kit.js";

test("nothing is shown of a reply that is frozen while the chat's waiting replies are looked for", async (t) => {
  const { engine } = await openIn(tempFolder(t));
  const asked = gate();
  const may = gate();
  const slow: Pick<Engine, "waiting" | "status"> = {
    status: () => engine.status(),
    async waiting(queue, key) {
      asked.open();
      await may.opened;
      return await engine.waiting(queue, key);
    },
  };
  const sent: string[] = [];
  const sender = {
    async send({ content }: { readonly content: string }) {
      sent.push(content);
      return { platformMessageId: "1" };
    },
    edit: async () => undefined,
  };
  const records = await engine.records.open("preview");
  const previews = createPreviews({
    engine: slow,
    records,
    channels: new Map([["telegram", sender]]),
    lives: new SessionLives(silentLog),
    log: silentLog,
  });
  const { body } = outbound("turn_1#1");
  const showing = previews.show(body, new AbortController().signal);
  await asked.opened;
  assert.equal(previews.freeze(body.id), undefined, "nothing is there");
  may.open();
  await showing;
  assert.deepEqual(sent, []);
  await engine[Symbol.asyncDispose]();
});
