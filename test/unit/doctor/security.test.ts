import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { loadConfig } from "../../../src/config/load.js";
import { securityChecks } from "../../../src/doctor/all-checks.js";
import type { World } from "../../../src/doctor/check.js";
import { runChecks, scoreOf } from "../../../src/doctor/examine.js";
import { ProviderAnswers } from "../../../src/doctor/provider-answers.js";
import { oldBrowser } from "../../../src/doctor/security/machine.js";

const strong = "5b1fd8a3c07e4429b6d0a1f3e8c2974d";
const telegramToken = "123456789:abcdefghijklmnopqrstuvwxyz012345678";

async function worldOf(config: object, more: Partial<World> = {}, hasSecretsFile = false): Promise<World> {
  const home = mkdtempSync(join(tmpdir(), "maxclaw-security-"));
  writeFileSync(join(home, "config.json"), JSON.stringify(config), { mode: 0o600 });
  if (hasSecretsFile)
    writeFileSync(join(home, "secrets.json"), JSON.stringify({ TOKEN: strong, BOT: telegramToken }), { mode: 0o600 });
  const loaded = await loadConfig({ home, env: { HOME: home } });
  return {
    ...{ home, loaded, version: "0", gateway: { state: "none" }, env: { PATH: "/usr/bin:/bin" }, asksModel: false },
    examine: async () => {
      throw new Error("not asked for");
    },
    providers: new ProviderAnswers({}, Date.now),
    service: async () => undefined,
    backupFolders: [],
    now: () => Date.parse("2026-01-01"),
    ...more,
  };
}

/** What is found besides what this machine brings along. */
async function findingsOf(config: object, more?: Partial<World>): Promise<readonly string[]> {
  const world = await worldOf(config, more);
  const found = await runChecks(securityChecks, world, { fix: false, signal: new AbortController().signal });
  return found
    .filter(({ check, level }) => check !== "machine" && level !== "ok")
    .map(({ level, found: text }) => `${level}: ${text}`);
}

const named = async (config: object, more?: Partial<World>): Promise<string> =>
  (await findingsOf(config, more)).join("\n");

describe("maxclaw security", () => {
  test("has nothing to say about a gateway that is closed, and gives it all points", async () => {
    const token = "$" + "{TOKEN}";
    const channels = { telegram: { enabled: true, token: "$" + "{BOT}" } };
    const world = await worldOf({ gateway: { token }, channels }, {}, true);
    const checks = securityChecks.filter(({ name }) => name !== "machine");
    const found = await runChecks(checks, world, { fix: false, signal: new AbortController().signal });
    assert.deepEqual(
      found.map(({ check, level }) => [check, level]),
      checks.map(({ name }) => [name, "ok"]),
    );
    assert.equal(scoreOf(found), 100);
  });

  const cases: readonly (readonly [what: string, config: object, says: RegExp])[] = [
    ["no token", {}, /^warn: There is no gateway\.token/m],
    ["a token that is short", { gateway: { token: "hunter2" } }, /^warn: gateway\.token can be guessed/m],
    ["a token of few characters", { gateway: { token: "a".repeat(40) } }, /^warn: gateway\.token can be guessed/m],
    [
      "a weak token that others can try",
      { gateway: { token: "hunter2", host: "0.0.0.0" } },
      /^fail: gateway\.token can be guessed/m,
    ],
    [
      "an open address",
      { gateway: { token: strong, host: "0.0.0.0" } },
      /^warn: The gateway can be reached by other machines \(0\.0\.0\.0\)/m,
    ],
    ["each web page", { gateway: { token: strong, allowedOrigins: ["*"] } }, /^fail: gateway\.allowedOrigins/m],
    [
      "anybody on Telegram",
      { channels: { telegram: { enabled: true, token: telegramToken, allowFrom: ["*"] } } },
      /^fail: channels\.telegram\.allowFrom is \["\*"\]/m,
    ],
    [
      "a door without a token",
      { channels: { websocket: { enabled: true } } },
      /^warn: channels\.websocket has no token: who reaches 127\.0\.0\.1:18791/m,
    ],
    [
      "mail in any name",
      {
        channels: {
          email: {
            ...{
              enabled: true,
              consentGranted: true,
              imapHost: "h",
              imapUsername: "u@h",
              imapPassword: "p",
              smtpHost: "h",
            },
            ...{ smtpUsername: "u@h", smtpPassword: "p", verifySender: "off" },
          },
        },
      },
      /^fail: channels\.email\.verifySender is off/m,
    ],
    [
      "a rule for everybody",
      { policy: { rules: [{ tool: "exec", verdict: "allow" }] } },
      /^fail: policy\.rules\[0\] allows each command to everybody/m,
    ],
    ["secrets in the file", { gateway: { token: strong } }, /^warn: .*config\.json holds a secret/m],
    ["a short key", { providers: { openai: { apiKey: "sk-good" } } }, /^warn: .*config\.json holds a secret/m],
    [
      "the token of a channel that is off",
      { channels: { telegram: { enabled: false, token: telegramToken } } },
      /^warn: .*config\.json holds a secret/m,
    ],
    [
      "a key on an open way",
      { providers: { far: { apiKey: "sk-abcdefghijklmnop", apiBase: "http://models.example.org/v1" } } },
      /^fail: providers\.far\.apiBase begins with http:\/\//m,
    ],
    [
      "headers on an open way",
      {
        tools: {
          mcpServers: { far: { url: "http://mcp.example.org/mcp", headers: { Authorization: "Bearer abcdefghijk" } } },
        },
      },
      /^fail: tools\.mcpServers\.far sends its headers over http/m,
    ],
    ["auto mode", { agents: { defaults: { executionMode: "auto" } } }, /^warn: .*"auto": tools ask nobody$/m],
    [
      "auto mode without a sandbox",
      { agents: { defaults: { executionMode: "auto" } }, tools: { exec: { sandbox: "off" } } },
      /^fail: .*"auto": tools ask nobody, and commands have no sandbox/m,
    ],
    ["no sandbox", { tools: { exec: { sandbox: "off" } } }, /^warn: tools\.exec\.sandbox is off/m],
    ["tools everywhere", { tools: { restrictToWorkspace: false } }, /^warn: tools\.restrictToWorkspace is off/m],
    [
      "the own network",
      { tools: { web: { fetch: { allow: ["192.168.0.0/16"] } } } },
      /^warn: tools\.web\.fetch\.allow lets.*192\.168/m,
    ],
    [
      "a browser without its sandbox",
      { tools: { browser: { args: ["--no-sandbox"] } } },
      /^warn: tools\.browser\.args has --no-sandbox/m,
    ],
    [
      "servers that are believed",
      { tools: { mcpServers: { own: { command: "x", trusted: true } } } },
      /^warn: .*is believed: own$/m,
    ],
    [
      "extensions",
      { extensions: [{ module: "./mine.mjs" }] },
      /^warn: Extensions run with all rights of the gateway: \.\/mine\.mjs$/m,
    ],
  ];
  for (const [what, config, says] of cases)
    test(`names ${what}, and no secret`, async () => {
      const text = await named(config);
      assert.match(text, says);
      for (const secret of [strong, telegramToken, "hunter2", "sk-abcdefghijklmnop", "Bearer abc"])
        assert.ok(!text.includes(secret), secret);
    });

  test("looks at the address that the gateway has, not only at the one in the file", async () => {
    const gateway = {
      state: "running",
      pid: 1,
      address: "192.168.1.5:18890",
      version: "0",
      problems: [],
      pending: [],
    } as const;
    assert.match(
      await named({ gateway: { token: strong } }, { gateway }),
      /can be reached by other machines \(192\.168\.1\.5\)/,
    );
    const here = { ...gateway, address: "127.0.0.1:18890" };
    assert.doesNotMatch(await named({ gateway: { token: strong } }, { gateway: here }), /other machines/);
  });

  test("closes files that others can read, with --fix only", async () => {
    const world = await worldOf({ gateway: { token: strong } });
    chmodSync(world.home, 0o755);
    chmodSync(join(world.home, "config.json"), 0o644);
    const signal = new AbortController().signal;
    const levels = async (fix: boolean): Promise<readonly string[]> =>
      (
        await runChecks(
          securityChecks.filter(({ name }) => name === "permissions"),
          world,
          { fix, signal },
        )
      ).map(({ level, isFixable, fixed }) => `${level} ${isFixable === true} ${fixed !== undefined}`);
    assert.deepEqual(await levels(false), ["fail true false", "fail true false"]);
    assert.deepEqual(await levels(false), ["fail true false", "fail true false"], "nothing was changed");
    assert.deepEqual(await levels(true), ["ok false true", "ok false true"]);
    assert.deepEqual(await levels(false), ["ok false false"]);
  });

  test("knows an old browser by its number", () => {
    const at = Date.parse("2026-11-22");
    assert.equal(oldBrowser("Chromium 155.0.7390.54 built on Debian", at), undefined);
    assert.match(
      oldBrowser("Google Chrome 120.0.6099.109 ", at)?.found ?? "",
      /^Google Chrome 120 is about \d\d versions old/,
    );
    assert.equal(oldBrowser("no version", at), undefined);
  });

  test("counts 20 for a failure, 5 for a warning, and ends at 0", () => {
    assert.equal(scoreOf([{ level: "fail" }, { level: "warn" }, { level: "ok" }]), 75);
    assert.equal(scoreOf(Array.from({ length: 9 }, () => ({ level: "fail" as const }))), 0);
  });
});
