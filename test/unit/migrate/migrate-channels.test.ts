import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { migrate } from "../../../src/offline/migrate.js";
import { tempHome } from "../../support/worlds/gateway.js";
import { writeFiles } from "../../support/worlds/old-homes.js";

const openid = "0123456789ABCDEF0123456789ABCDEF";
const person = "ou_7d8a6e6df7621556ce0d21922b676706";
const group = "oc_5ad11d72b830411d72b836c20";

/** What an old home becomes: its channels, and what is to be looked at. */
async function migrated(folder: string, files: Record<string, unknown>) {
  const homedir = await tempHome();
  await writeFiles(join(homedir, folder), files as Parameters<typeof writeFiles>[1]);
  const home = join(homedir, "new");
  const target = { home, workspace: join(home, "workspace"), configFile: join(home, "config.json") };
  const found = await migrate({
    target,
    homedir,
    from: undefined,
    kind: undefined,
    isApplied: true,
    now: Date.now(),
  });
  const { channels = {} } = JSON.parse(await readFile(join(home, "config.json"), "utf8"));
  return { channels, found: JSON.stringify(found), home };
}

test("nanobot's channels come as they were: secrets by our names, groups and people that were allowed", async () => {
  const { channels, found } = await migrated(".nanobot", {
    "config.json": {
      channels: {
        qq: { enabled: true, appId: "1020", secret: "qq-secret", allowFrom: [openid], msgFormat: "plain" },
        slack: {
          enabled: true,
          bot_token: "xoxb-1",
          app_token: "xapp-1",
          group_policy: "allowlist",
          group_allow_from: ["C012AB3CD"],
          dm: { policy: "allowlist", allow_from: ["U012AB3CD"] },
        },
        matrix: {
          enabled: true,
          homeserver: "https://matrix.org",
          userId: "@max:matrix.org",
          password: "matrix-secret",
          deviceId: "D",
          e2eeEnabled: true,
          groupPolicy: "open",
          groupAllowFrom: ["!a:b"],
          allowFrom: ["@ann:example.org"],
        },
        feishu: {
          enabled: true,
          domain: "lark",
          instances: [
            { name: "off", enabled: false, appId: "cli_0", appSecret: "s0" },
            { name: "work", appId: "cli_1", appSecret: "s1", allowFrom: [person] },
          ],
        },
        whatsapp: { enabled: true, bridgeUrl: "ws://localhost:3001", bridgeToken: "t", allowFrom: ["491701"] },
      },
    },
  });
  assert.deepEqual(channels, {
    qq: { enabled: true, appId: "1020", appSecret: "qq-secret", allowFrom: [openid] },
    slack: {
      enabled: true,
      botToken: "xoxb-1",
      appToken: "xapp-1",
      allowFrom: ["U012AB3CD"],
      allowGroups: ["C012AB3CD"],
    },
    matrix: {
      enabled: true,
      homeserver: "https://matrix.org",
      userId: "@max:matrix.org",
      password: "matrix-secret",
      allowFrom: ["@ann:example.org"],
    },
    feishu: { enabled: true, appId: "cli_1", appSecret: "s1", allowFrom: [person], domain: "lark" },
    "feishu-off": { enabled: false, appId: "cli_0", appSecret: "s0", domain: "lark" },
    whatsapp: { enabled: true, bridgeUrl: "ws://localhost:3001", bridgeToken: "t", allowFrom: ["491701"] },
  });
  assert.match(found, /channels\.matrix.*keys of its device stay behind/);
});

test("OpenClaw's channels come as they were, QQ by its other name, and a login that cannot move is said", async () => {
  const { channels, found, home } = await migrated(".openclaw", {
    "openclaw.json": {
      channels: {
        qqbot: {
          appId: "1020",
          clientSecret: { source: "env", id: "QQ_SECRET" },
          allowFrom: [`qqbot:c2c:${openid}`],
          groupPolicy: "allowlist",
          groups: { "*": { requireMention: true }, [openid]: {} },
        },
        slack: {
          botToken: "xoxb-1",
          appToken: "xapp-1",
          dm: { allowFrom: ["U012AB3CD"] },
          groupPolicy: "allowlist",
          channels: { C012AB3CD: { allow: true }, C0NOTHERE: { allow: false } },
        },
        matrix: {
          homeserver: "https://matrix.org",
          userId: "@max:matrix.org",
          password: "matrix-secret",
          encryption: true,
          groupPolicy: "allowlist",
          groupAllowFrom: ["@ann:example.org"],
          groups: { "!abc:example.org": { allow: true }, "#name:example.org": { allow: true } },
        },
        feishu: {
          domain: "lark",
          connectionMode: "webhook",
          accounts: { main: { appId: "cli_1", appSecret: "s1" } },
          groupPolicy: "allowlist",
          groupAllowFrom: [group],
        },
        whatsapp: { dmPolicy: "allowlist", allowFrom: ["+491701"] },
      },
    },
    "cron/jobs.json": {
      jobs: [
        {
          id: "j1",
          name: "tea",
          enabled: true,
          schedule: { kind: "cron", expr: "0 9 * * *" },
          payload: { kind: "agentTurn", message: "tea" },
          delivery: { channel: "qqbot", to: `qqbot:group:${openid}` },
        },
      ],
    },
  });
  assert.deepEqual(channels, {
    qq: { enabled: true, appId: "1020", appSecret: `\${QQ_SECRET}`, allowFrom: [openid] },
    slack: {
      enabled: true,
      botToken: "xoxb-1",
      appToken: "xapp-1",
      allowFrom: ["U012AB3CD"],
      allowGroups: ["C012AB3CD"],
    },
    matrix: {
      enabled: true,
      homeserver: "https://matrix.org",
      userId: "@max:matrix.org",
      password: "matrix-secret",
      allowFrom: [],
      allowGroups: ["!abc:example.org"],
    },
    feishu: {
      enabled: true,
      appId: "cli_1",
      appSecret: "s1",
      allowFrom: [],
      receiveBy: "webhook",
      domain: "lark",
      allowGroups: [group],
    },
    whatsapp: { enabled: false, allowFrom: ["+491701"] },
  });
  assert.match(found, /channels\.whatsapp.*link the phone again/);
  assert.match(found, /channels\.matrix.*keys of its device stay behind/);
  const [file = ""] = await readdir(join(home, "workspace/.cron"));
  const jobs = JSON.parse(await readFile(join(home, "workspace/.cron", file), "utf8"));
  assert.deepEqual(jobs.j1.payload, { message: "tea", channels: ["qq"], to: `group-${openid}` });
});
