import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { startWithModel } from "../../support/worlds/gateway.js";

/** The segments of the journal, with what was written to them so far. */
function journalOf(home: string): readonly string[] {
  const folder = join(home, "journal");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".log"))
    .map((name) => join(folder, name));
}

function bytesOf(home: string): number {
  return journalOf(home).reduce((sum, path) => sum + statSync(path).size, 0);
}

test("a plain message and its answer take at most 6 kB of the journal, and a long text comes in it once for each step that keeps it", async () => {
  await using telegram = await startFakeTelegram({ token: "4242:bytes" });
  const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] } };
  await using t = await startWithModel(() => ({ text: "Hello there!" }), { channels });
  const { home } = t.gateway;
  const say = async (text: string): Promise<void> => {
    const { length } = telegram.sent;
    telegram.pushText({ chatId: 7, userId: 7, text });
    await telegram.waitForSent(length + 1);
  };
  // The first one brings a title with it.
  for (let n = 0; n < 3; n++) await say(`Message ${n}: what do you think of this?`);
  const before = bytesOf(home);
  const messages = 20;
  for (let n = 0; n < messages; n++) await say(`Message ${n}: what do you think of this?`);
  const perMessage = (bytesOf(home) - before) / messages;
  assert.ok(perMessage > 1000 && perMessage <= 6000, `${perMessage} bytes`);
  const long = "Something that somebody tells at great length. ".repeat(60);
  await say(long);
  const journal = journalOf(home)
    .map((path) => readFileSync(path, "utf8"))
    .join("");
  // When it is accepted, as the model reads it, and nowhere else.
  assert.equal(journal.split(long.trim()).length - 1, 2);
});
