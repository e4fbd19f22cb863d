import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { verifyEvents } from "../../../../src/offline/events.js";
import { repairFiles } from "../../../../src/offline/repair.js";
import { until } from "../../../support/engine/engine-kit.js";
import { startFakeTelegram } from "../../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { runMaxclaw } from "../../../support/worlds/daemon.js";
import { openAIConfig, startGateway, type TestGateway } from "../../../support/worlds/gateway.js";

const never = new AbortController().signal;
const journalOf = (home: string): string => {
  const folder = join(home, "journal");
  const [name = ""] = readdirSync(folder).filter((each) => each.endsWith(".log"));
  return join(folder, name);
};

async function stop({ gateway }: TestGateway): Promise<void> {
  await gateway.drain(2000);
  await gateway[Symbol.asyncDispose]();
}

async function problemsOf({ home, workspace }: TestGateway): Promise<readonly string[]> {
  const { problems } = await verifyEvents({ home, workspace }, undefined, { signal: never });
  return problems.map(({ message }) => message);
}

for (const { name, damage } of [
  { name: "one flipped bit", damage: (bytes: Buffer, at: number) => bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at) },
  { name: "forty zeros", damage: (bytes: Buffer, at: number) => bytes.fill(0, at, at + 40) },
])
  test(`a chat whose log had ${name} goes on, its people and the owner are told, and its events are sound`, async () => {
    await using model = await startFakeOpenAI({ answer: { text: "ok" } });
    await using telegram = await startFakeTelegram({ token: "4242:test" });
    const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] } };
    await using first = await startGateway({
      config: openAIConfig(model.apiBase, { channels, owners: ["telegram:1"] }),
    });
    telegram.pushText({ chatId: 1, userId: 1, text: "I am the owner" });
    telegram.pushText({ chatId: 9, userId: 9, text: "one" });
    await telegram.waitForSent(2);
    await stop(first);
    const path = join(first.workspace, ".sessions", "telegram_9.events.jsonl");
    const bytes = readFileSync(path);
    damage(bytes, bytes.indexOf(10) + 60);
    writeFileSync(path, bytes);
    await using again = await startGateway({ home: first.home, isRuled: false });
    telegram.pushText({ chatId: 9, userId: 9, text: "two" });
    const sent = await telegram.waitForSent(5);
    assert.equal(sent.filter(({ text }) => /was damaged/.test(text)).length, 2);
    telegram.pushText({ chatId: 9, userId: 9, text: "three" });
    await telegram.waitForSent(6);
    await stop(again);
    assert.deepEqual(await problemsOf(again), []);
  });

test("a Telegram message that was answered is not answered again after a repair of a torn or emptied journal", async () => {
  await using model = await startFakeOpenAI({ answer: { text: "ok" } });
  await using telegram = await startFakeTelegram({ token: "4242:test" });
  const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] } };
  const config = openAIConfig(model.apiBase, { channels, owners: ["telegram:9"] });
  const used = mkdtempSync(join(tmpdir(), "maxclaw-used-"));
  {
    await using gateway = await startGateway({ config });
    for (const [index, text] of ["one", "two"].entries()) {
      telegram.pushText({ chatId: 9, userId: 9, text });
      await telegram.waitForSent(index + 1);
    }
    const log = join(gateway.workspace, ".sessions", "telegram_9.events.jsonl");
    await until("the log tells that both were sent", () => {
      const names = readdirSync(join(gateway.workspace, ".sessions"));
      if (!names.includes("telegram_9.events.jsonl")) return false;
      return readFileSync(log, "utf8").split('"status":"sent"').length === 3;
    });
    cpSync(gateway.home, used, { recursive: true });
  }
  rmSync(join(used, "gateway.lock"), { force: true });
  rmSync(join(used, "workspace", ".sessions", ".lock"), { force: true });
  const bytes = readFileSync(journalOf(used));
  const inLine = (text: string): number => bytes.lastIndexOf(10, bytes.lastIndexOf(text)) + 100;
  for (const cut of [0, 50, inLine('"turn_execution_complete"'), inLine('"status":"sent"')]) {
    const home = mkdtempSync(join(tmpdir(), "maxclaw-torn-"));
    cpSync(used, home, { recursive: true });
    truncateSync(journalOf(home), cut);
    const examined = await runMaxclaw(["doctor"], home);
    assert.equal(examined.code, 1, examined.stdout);
    assert.doesNotMatch(examined.stdout, /^: /m);
    const { takenOver } = await repairFiles({ home, workspace: join(home, "workspace") });
    assert.ok(takenOver !== undefined, `cut at ${cut}`);
    const before = { asked: model.requests.length, sent: telegram.sent.length };
    await using gateway = await startGateway({ home, isRuled: false });
    telegram.pushText({ chatId: 9, userId: 9, text: "three" });
    await telegram.waitForSent(before.sent + 1);
    await stop(gateway);
    assert.equal(model.requests.length, before.asked + 1, `cut at ${cut}: asked for the new message only`);
    assert.equal(telegram.sent.length, before.sent + 1, `cut at ${cut}`);
    assert.deepEqual(await problemsOf(gateway), [], `cut at ${cut}`);
    rmSync(home, { recursive: true });
  }
  rmSync(used, { recursive: true });
});
