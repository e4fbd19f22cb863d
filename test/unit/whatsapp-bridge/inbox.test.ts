import assert from "node:assert/strict";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { BridgeInbox } from "../../../bridges/whatsapp/src/keep/inbox.js";
import { tempFolder } from "../../support/engine/engine-kit.js";

test("a message that could not be written down is taken when it comes again", async (t) => {
  const folder = join(tempFolder(t), "inbox");
  const inbox = await BridgeInbox.open(folder);
  const { signal } = new AbortController();
  const arrived = {
    message: { id: "A1", sender: "49151@s.whatsapp.net", content: "hello", isGroup: false, fromMe: false },
  };
  await rm(folder, { recursive: true });
  await assert.rejects(inbox.add(arrived, signal));
  assert.equal(inbox.count, 0);
  await mkdir(folder);
  assert.equal((await inbox.add(arrived, signal))?.message.content, "hello");
  assert.equal(await inbox.add(arrived, signal), undefined);
  assert.equal((await BridgeInbox.open(folder)).count, 1);
});
