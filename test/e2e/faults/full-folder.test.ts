import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { callThenDone, startWorld } from "../../support/worlds/channels/chat-world.js";

const oneMegabyte = { tools: { exec: { maxFolderMegabytes: 1 } } };

/** Two megabytes of files in the chat's own folder. */
function fill(home: string): string {
  const folder = join(home, "workspace", ".sessions", "telegram_1");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "big.bin"), Buffer.alloc(2 * 1024 * 1024, 1));
  return folder;
}

test("a chat whose folder is full gets no more files: not by tools, not by messages, not as copies for people", async () => {
  await using w = await startWorld(
    (request) => {
      if (request.userText.includes("write"))
        return callThenDone("write_file", { path: "new.txt", content: "x" })(request);
      if (request.userText.includes("send")) return callThenDone("send_file", { path: "big.bin" })(request);
      return { text: "seen" };
    },
    { config: oneMegabyte },
  );
  const folder = fill(w.home);
  w.say(1, "write it");
  await w.shown(
    /new\.txt was not written: this chat's folder holds more than its limit of 1\.0 MB\. Delete files first\./,
  );
  assert.ok(!existsSync(join(folder, "new.txt")));
  w.say(1, "send it");
  await w.shown(/big\.bin was not sent: This chat's folder holds/);
  w.telegram.pushMessage({
    chat: { id: 1, type: "private", first_name: "Olga" },
    from: { id: 1, is_bot: false, first_name: "Olga" },
    caption: "look",
    document: {
      file_id: w.telegram.keepFile(Buffer.from("1")),
      file_size: 1,
      mime_type: "text/plain",
      file_name: "a.txt",
    },
  });
  await w.shown(/I have left out a\.txt: this chat's folder holds/);
  assert.ok(!existsSync(join(w.home, "workspace/.sessions/.kept/telegram_1/received")));
});
