import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../../src/config/load.js";
import { migrate } from "../../../src/offline/migrate.js";
import { tempHome } from "../../support/worlds/gateway.js";
import { writeFiles } from "../../support/worlds/old-homes.js";

/** A new home after the import of one old home. */
async function imported(folder: string, files: Readonly<Record<string, unknown>>) {
  const homedir = await tempHome();
  await writeFiles(join(homedir, folder), files);
  const home = join(homedir, "new");
  const target = { home, workspace: join(home, "workspace"), configFile: join(home, "config.json") };
  await migrate({ target, homedir, from: undefined, kind: undefined, isApplied: true, now: Date.now() });
  const read = (path: string): Promise<string> => readFile(join(home, path), "utf8");
  const { config, problems } = await loadConfig({ home, env: {} });
  return { home, read, channels: config.channels, written: JSON.parse(await read("config.json")).channels, problems };
}

const said = (content: string) =>
  `${JSON.stringify({ type: "message", message: { role: "user", content }, timestamp: "2026-05-01T10:00:00Z" })}\n`;

test("the accounts of OpenClaw become accounts here, with their people, conversations and jobs", async () => {
  const telegram = {
    allowFrom: ["1"],
    defaultAccount: "family",
    accounts: {
      work: { botToken: "2:work", allowFrom: ["2"] },
      family: { botToken: "1:family" },
      "Work!": { botToken: "3:other", enabled: false },
      写: { botToken: "4:written" },
    },
  };
  const key = (account: string, chat: string) => `agent:main:telegram:${account}:direct:${chat}`;
  const job = (id: string, accountId: string) => ({
    id,
    name: id,
    schedule: { kind: "every", everyMs: 60_000 },
    payload: { kind: "agentTurn", message: "Swim" },
    delivery: { mode: "announce", channel: "telegram", to: "42", accountId },
  });
  const { home, read, channels, written, problems } = await imported(".openclaw", {
    "openclaw.json": { channels: { telegram } },
    "agents/main/sessions/sessions.json": {
      [key("family", "42")]: { sessionId: "s1" },
      [key("work", "42")]: { sessionId: "s2" },
      "agent:main:main": {
        sessionId: "s3",
        deliveryContext: { channel: "telegram", to: "telegram:43", accountId: "work" },
      },
    },
    "agents/main/sessions/s1.jsonl": said("to the family"),
    "agents/main/sessions/s2.jsonl": said("to work"),
    "agents/main/sessions/s3.jsonl": said("to work as well"),
    "cron/jobs.json": { jobs: [job("j1", "family"), job("j2", "work")] },
  });
  assert.deepEqual(written, {
    telegram: { enabled: true, token: "1:family", allowFrom: ["1"] },
    "telegram-work": { enabled: true, token: "2:work", allowFrom: ["2"] },
    "telegram-3": { enabled: false, token: "3:other", allowFrom: ["1"] },
    "telegram-4": { enabled: true, token: "4:written", allowFrom: ["1"] },
  });
  assert.deepEqual(Object.keys(channels), ["telegram", "telegram-work", "telegram-4"]);
  assert.deepEqual(
    problems.filter((problem) => problem.includes("channels")),
    [],
  );
  assert.match(await read("workspace/.sessions/telegram_42.json"), /to the family/);
  assert.match(await read("workspace/.sessions/telegram-work_42.json"), /to work"/);
  assert.match(await read("workspace/.sessions/telegram-work_43.json"), /to work as well/);
  const [jobs = ""] = await readdir(join(home, "workspace/.cron"));
  const { j1, j2 } = JSON.parse(await read(`workspace/.cron/${jobs}`));
  assert.deepEqual([j1.payload.channels, j2.payload.channels], [["telegram"], ["telegram-work"]]);
});

test("the bots of a channel of nanobot become accounts here: the first one that is on has the channel's name", async () => {
  const { written, problems } = await imported(".nanobot", {
    "config.json": {
      channels: {
        telegram: {
          enabled: true,
          allowFrom: ["1"],
          instances: [
            { name: "old", token: "1:old", enabled: false },
            { name: "Family Bot", token: "2:family", allowFrom: ["2"] },
            { name: "work", token: "3:work" },
          ],
        },
      },
    },
    "workspace/AGENTS.md": "Be kind.",
  });
  assert.deepEqual(written, {
    telegram: { enabled: true, token: "2:family", allowFrom: ["2"] },
    "telegram-old": { enabled: false, token: "1:old", allowFrom: ["1"] },
    "telegram-work": { enabled: true, token: "3:work", allowFrom: ["1"] },
  });
  assert.deepEqual(
    problems.filter((problem) => problem.includes("channels")),
    [],
  );
});
