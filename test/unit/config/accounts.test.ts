import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { platformNames, platformOf, titleOf } from "../../../src/channels/platforms.js";
import { accountsOn } from "../../../src/config/faults/account-name.js";
import { configOf } from "../../../src/config/load.js";
import { configSchema } from "../../../src/config/schema.js";
import { assertMayChange } from "../../../src/config/settings/guarded.js";
import { jsonSchemaOf } from "../../../src/config/settings/json-schema.js";
import { settingFrom, settingPath } from "../../../src/config/settings/one-setting.js";
import { unknownIn, viewsOf, writtenAt } from "../../../src/config/settings/overview.js";
import { assertSecretsStay } from "../../../src/config/settings/secrets-stay.js";
import { schemaAt } from "../../../src/config/shape.js";

const around = { home: mkdtempSync(join(tmpdir(), "maxclaw-accounts-")), env: {} };
const channelsOf = async (channels: object) => await configOf({ channels }, around);
const bot = (token: string, more: object = {}) => ({ enabled: true, token, ...more });

describe("the name of a further account", () => {
  it("is another one for each of several ids that others use, whatever these are", () => {
    const twice = "is there twice";
    for (const ids of [
      ["acme", "beta"],
      ["2", "??"],
      ["??", "2"],
      ["??", "3", "!", "4"],
      [twice, twice],
      ["3", twice, twice],
    ]) {
      const names = accountsOn("slack", ids);
      assert.equal(new Set(names).size, ids.length, names.join(" "));
      assert.deepEqual(
        names.map(platformOf),
        ids.map(() => "slack"),
      );
    }
    assert.deepEqual(accountsOn("slack", ["acme", "??", "3"]), ["slack-acme", "slack-4", "slack-3"]);
  });

  it("begins with its platform, the longest that fits", () => {
    assert.deepEqual(
      ["telegram-work", "slack-acme-2", "whatsapp-2", "whatsapp-business", "whatsapp-business-shop"].map(platformOf),
      ["telegram", "slack", "whatsapp", "whatsapp-business", "whatsapp-business"],
    );
    for (const name of platformNames) assert.equal(platformOf(name), name);
  });

  it("is not one of anything else: other words, colons, capital letters, ends, and what is too long", () => {
    const others = [
      "acme",
      "webui",
      "cron",
      "cli",
      "telegram:work",
      "telegram-",
      "-telegram",
      "Telegram-work",
      "telegramwork",
    ];
    for (const name of [
      ...others,
      "telegram-a--b",
      "telegram-a_b",
      "telegram-a.b",
      "__proto__",
      `slack-${"a".repeat(35)}`,
    ])
      assert.equal(platformOf(name), undefined, name);
  });

  it("is behind the platform's in its title", () => {
    assert.deepEqual(titleOf("slack-acme"), { en: "Slack (slack-acme)", zh: "Slack（slack-acme）" });
    assert.deepEqual(titleOf("slack"), { en: "Slack", zh: "Slack" });
  });
});

describe("further accounts in the config", () => {
  it("have the section of their platform, each with its own defaults and people", async () => {
    const { config, problems, secrets } = await channelsOf({
      telegram: bot("1:family-secret", { allowFrom: [1] }),
      "telegram-work": bot("2:work-secret-of-it", { allowFrom: ["2"] }),
    });
    assert.deepEqual(problems, []);
    assert.deepEqual(Object.keys(config.channels), ["telegram", "telegram-work"]);
    assert.deepEqual(config.channels["telegram-work"], {
      ...config.channels.telegram,
      token: "2:work-secret-of-it",
      allowFrom: ["2"],
    });
    assert.ok(secrets.includes("2:work-secret-of-it"));
  });

  it("do not need their platform's own section, and are off until they are switched on", async () => {
    const { config, problems } = await channelsOf({
      "slack-acme": { enabled: true, botToken: "xoxb-1", appToken: "xapp-1" },
      "slack-beta": { botToken: "xoxb-2", appToken: "xapp-2" },
    });
    assert.deepEqual([problems, Object.keys(config.channels)], [[], ["slack-acme"]]);
  });

  it("may say their platform once more", async () => {
    const acme = { platform: "slack", enabled: true, botToken: "xoxb-1", appToken: "xapp-1" };
    const { config, problems } = await channelsOf({ "slack-acme": acme });
    assert.deepEqual([problems, Object.keys(config.channels)], [[], ["slack-acme"]]);
    const wrong = await channelsOf({ "slack-acme": { ...acme, platform: "telegram" } });
    assert.deepEqual(wrong.problems, ['unknown key "channels.slack-acme.platform" is ignored']);
  });

  it("are called by a name that says their platform, and a wrong name is told with the right one", async () => {
    const meant = async (name: string, section: object = {}) => (await channelsOf({ [name]: section })).problems;
    const told = (name: string, near: string) => [
      `channels.${name} is not used: a further account is named after its platform. Call it ${near}`,
    ];
    assert.deepEqual(await meant("acme", { platform: "slack" }), told("acme", "slack-acme"));
    assert.deepEqual(await meant("Slack_Acme"), told("Slack_Acme", "slack-acme"));
    assert.deepEqual(await meant("telegram:work"), told("telegram:work", "telegram-work"));
    assert.deepEqual(await meant("telegram2"), told("telegram2", "telegram-2"));
    assert.deepEqual(await meant("webui", { platform: "slack" }), told("webui", "slack-webui"));
    assert.match(String(await meant("acme")), /^channels\.acme is not used: it is not a platform, and .*slack-acme$/);
    assert.deepEqual(await meant("telegrm"), ['unknown key "channels.telegrm" is ignored; did you mean "telegram"?']);
  });

  it("are not the platform's own section where the word behind the hyphen is missing", async () => {
    const raw = {
      channels: { telegram: { enabled: true, token: "1:a" }, "telegram-": { enabled: true, token: "2:b" } },
    };
    const { config, problems } = await configOf(raw, { home: "/nowhere", env: {} });
    assert.equal(config.channels.telegram?.token, "1:a");
    assert.match(problems.join("\n"), /channels\.telegram-/);
    assert.throws(() => settingPath("channels.telegram-.token", raw), /channels\.telegram-/);
  });

  it("are told by their own name when something is wrong or lacks", async () => {
    const { config, problems, off } = await channelsOf({
      telegram: bot("1:fine"),
      "telegram-work": { enabled: true },
      "feishu-acme": { enabled: true, appId: "cli_1", appSecret: "s", receiveBy: "webhook" },
      "discord-two": { enabled: true, token: 7 },
    });
    assert.deepEqual(Object.keys(config.channels), ["telegram"]);
    assert.match(
      problems.join("\n"),
      /channels\.telegram-work is enabled but has no token; channels\.telegram-work is off/,
    );
    assert.match(problems.join("\n"), /channels\.feishu-acme listens for messages and has no encryptKey/);
    assert.match(problems.join("\n"), /channels\.discord-two\.token: expected a text/);
    assert.doesNotMatch(problems.join("\n"), /channels\.(?:feishu|discord)\b(?!-)/);
    assert.deepEqual(off.map(({ section }) => section).sort(), [
      "channels.discord-two",
      "channels.feishu-acme",
      "channels.telegram-work",
    ]);
  });
});

describe("what two accounts share", () => {
  const same: readonly (readonly [string, object, string])[] = [
    ["telegram", { token: "1:x" }, "token"],
    ["slack", { botToken: "xoxb-1", appToken: "xapp-1" }, "botToken"],
    ["discord", { token: "d" }, "token"],
    ["matrix", { homeserver: "https://m.example", accessToken: "m" }, "accessToken"],
    ["matrix", { homeserver: "https://m.example", userId: "@a:m.example", password: "p" }, "userId"],
    [
      "email",
      { consentGranted: true, imapHost: "i", imapUsername: "a@b.example", imapPassword: "p", smtpHost: "s" },
      "imapUsername",
    ],
    ["feishu", { appId: "cli_1", appSecret: "s" }, "appId"],
    ["qq", { appId: "1", appSecret: "s" }, "appId"],
    ["websocket", { port: 4711 }, "port"],
    ["whatsapp", { bridgeUrl: "ws://127.0.0.1:3001" }, "bridgeUrl"],
    ["whatsapp-business", { phoneNumberId: "1", accessToken: "a", appSecret: "s", verifyToken: "v" }, "phoneNumberId"],
    ["xmpp", { jid: "max@x.example", password: "p" }, "jid"],
  ];

  it("is tried for every platform", () => {
    assert.deepEqual([...new Set(same.map(([platform]) => platform))].sort(), [...platformNames].sort());
  });

  for (const [platform, section, key] of same)
    it(`${platform}: the second with the same ${key} is off, both are named, and the value is not`, async () => {
      const on = { enabled: true, ...section };
      const { config, problems } = await channelsOf({ [`${platform}-b`]: on, [platform]: on });
      assert.deepEqual(Object.keys(config.channels), [platform]);
      assert.deepEqual(problems, [
        `channels.${platform}-b has the same ${key} as channels.${platform}: the platform gives each message to only one of them; channels.${platform}-b is off`,
      ]);
      const off = await channelsOf({ [platform]: { ...on, enabled: false }, [`${platform}-b`]: on });
      assert.deepEqual([off.problems, Object.keys(off.config.channels)], [[], [`${platform}-b`]]);
    });

  it("can be the app's token of Slack alone, a place to listen, or the address of a webhook", async () => {
    const slack = await channelsOf({
      slack: { enabled: true, botToken: "xoxb-1", appToken: "xapp-1" },
      "slack-b": { enabled: true, botToken: "xoxb-2", appToken: "xapp-1" },
    });
    assert.match(slack.problems.join(), /channels\.slack-b has the same appToken as channels\.slack/);
    const hook = { encryptKey: "k", receiveBy: "webhook", listenAddr: "127.0.0.1:4712" };
    const feishu = await channelsOf({
      feishu: { enabled: true, appId: "cli_1", appSecret: "s", ...hook },
      "feishu-b": { enabled: true, appId: "cli_2", appSecret: "s", ...hook },
    });
    assert.match(feishu.problems.join(), /channels\.feishu-b has the same listenAddr as channels\.feishu/);
    const pushed = (port: number) => ({ url: "https://bot.example/hook", secret: "abc", port });
    const telegram = await channelsOf({
      telegram: bot("1:x", { webhook: pushed(4713) }),
      "telegram-b": bot("2:x", { webhook: pushed(4714) }),
    });
    assert.match(telegram.problems.join(), /channels\.telegram-b has the same webhook\.url as/);
  });

  it("is fine where it is another mailbox, or another folder of the same one", async () => {
    const mail = { enabled: true, consentGranted: true, imapHost: "i", imapPassword: "p", smtpHost: "s" };
    const { problems, config } = await channelsOf({
      email: { ...mail, imapUsername: "a@b.example" },
      "email-sales": { ...mail, imapUsername: "sales@b.example" },
      "email-lists": { ...mail, imapUsername: "a@b.example", imapMailbox: "Lists" },
    });
    assert.deepEqual([problems, Object.keys(config.channels).length], [[], 3]);
  });
});

describe("settings of a further account", () => {
  const raw = { channels: { "telegram-work": { enabled: false, token: "2:x", apiRoot: "http://good.test" } } };
  const ports = { shown: raw, env: {}, secretNames: new Set<string>(), hasToken: true, takes: () => true };

  it("are set by their name, also before there is such an account, and are checked as its platform's", async () => {
    assert.deepEqual(settingPath("channels.telegram-work.token", raw), ["channels", "telegram-work", "token"]);
    assert.deepEqual(settingPath("channels.slack-acme.apptoken", {}), ["channels", "slack-acme", "appToken"]);
    assert.throws(
      () => settingPath("channels.slack-acme.token", {}),
      /The config has no key "channels\.slack-acme\.token"/,
    );
    assert.throws(() => settingPath("channels.Slack_Acme.appToken", {}), /Call it slack-acme\.$/);
    const path = ["channels", "telegram-work", "enabled"];
    assert.deepEqual(await settingFrom(raw, path, "true", around), { path, value: true });
    await assert.rejects(
      settingFrom(raw, path, "perhaps", around),
      /channels\.telegram-work\.enabled takes true or false/,
    );
  });

  it("are in the list of all settings with the platform's words, and nothing of them is unknown", () => {
    const own = viewsOf(ports).filter(({ path }) => path[1] === "telegram-work");
    const platforms = viewsOf(ports).filter(({ path }) => path[1] === "telegram");
    assert.deepEqual(
      own.map(({ path }) => path.slice(2)),
      platforms.map(({ path }) => path.slice(2)),
    );
    const token = own.find(({ path }) => path[2] === "token");
    assert.deepEqual(token?.channel?.title, { en: "Telegram (telegram-work)", zh: "Telegram（telegram-work）" });
    assert.deepEqual([token?.isSecret, token?.value, token?.source], [true, "2:x", "file"]);
    assert.deepEqual(unknownIn(raw), []);
    const nonsense = { channels: { acme: {}, "telegram-work": { nonsense: 1 } } };
    assert.deepEqual(
      unknownIn(nonsense).map(({ path }) => path.join(".")),
      ["channels.acme", "channels.telegram-work.nonsense"],
    );
  });

  it("are guarded as the platform's own are", () => {
    const refused = (path: readonly string[], value: unknown) =>
      assert.throws(() => assertMayChange([{ path, value }], false, "config.json"), /gateway\.token/);
    refused(["channels", "email-sales", "oauth", "clientId"], "x");
    refused(["channels", "email-sales"], { tlsCaFile: "/etc/passwd" });
    refused(["channels"], { "matrix-two": { homeserver: "http://evil.test" } });
    assertMayChange([{ path: ["channels", "telegram-work", "token"], value: "2:y" }], false, "config.json");
  });

  it("keep their secrets for their own address, whatever an account with a similar name says", () => {
    const evil = "http://evil.test";
    const stored = { channels: { "telegram-a-b": { token: "1:x" }, "telegram-ab": { token: "2:x", apiRoot: evil } } };
    const path = ["channels", "telegram-a-b", "apiRoot"];
    assert.throws(
      () => assertSecretsStay(stored, [{ path, value: evil }]),
      /^RequestError: channels\.telegram-a-b\.apiRoot: the secrets of channels\.telegram-a-b were given for another address/,
    );
    const unknown = { channels: { telegramab: { token: "3:x" } } };
    assert.equal(writtenAt(unknown, ["channels", "telegram-ab", "token"]), undefined);
    assert.equal(
      writtenAt({ channels: { "telegram-a-b": { token: "1:x" } } }, ["channels", "telegram-ab", "token"]),
      undefined,
    );
  });

  it("are in the JSON schema for editors", () => {
    const { properties } = jsonSchemaOf(configSchema) as { readonly properties: Record<string, object> };
    const { patternProperties } = properties.channels as {
      readonly patternProperties: Record<string, { $ref: string }>;
    };
    const platformsFor = (name: string) =>
      Object.entries(patternProperties).flatMap(([pattern, { $ref }]) =>
        new RegExp(pattern).test(name) ? [$ref.replace("#/properties/channels/properties/", "")] : [],
      );
    const names = [
      "slack-acme",
      "whatsapp-2",
      "whatsapp-business-shop",
      "whatsapp-businesslike",
      "acme",
      "slack-",
      "slack-A",
    ];
    for (const name of [...names, ...platformNames, `slack-${"a".repeat(34)}`, `slack-${"a".repeat(35)}`]) {
      const platform = platformOf(name);
      assert.deepEqual(platformsFor(name), platform === undefined || platform === name ? [] : [platform], name);
    }
    assert.ok(schemaAt(["channels", "slack-acme", "botToken"]));
    assert.equal(schemaAt(["providers", "slack-acme", "botToken"]), undefined);
  });
});
