import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { isSecretKey } from "../../../../src/config/faults/wording.js";
import { isDestination } from "../../../../src/config/settings/secrets-stay.js";
import { configKeys } from "../../../../src/config/shape.js";
import { startGateway, tempHome } from "../../../support/worlds/gateway.js";

const stars = "********";
const evil = "http://evil.test/v1";
const token = "a-token-of-the-gateway";

const sections = {
  providers: {
    my_llm: { apiBase: "http://good.test/v1", apiKey: "sk-provider-secret-1", headers: { "X-Key": "hh-1" } },
  },
  transcription: { apiKey: "sk-transcription-2" },
  tools: {
    web: { search: { apiKey: "brave-secret-3" } },
    mcpServers: { notes: { url: "http://good.test/mcp", headers: { Authorization: "Bearer mcp-secret-4" } } },
  },
  channels: {
    telegram: { enabled: false, token: "4242:telegram-secret", apiRoot: "http://good.test" },
    discord: { enabled: false, token: "discord-secret-5" },
    email: {
      enabled: false,
      imapHost: "imap.good.test",
      imapPassword: "mail-secret-6",
      oauth: { clientSecret: "oo-7" },
    },
  },
  telemetry: { otlpEndpoint: "http://good.test:4318", headers: { authorization: "collector-secret-8" } },
};

async function place(config: object) {
  const home = await tempHome();
  const file = join(home, "config.json");
  const text = JSON.stringify(config);
  await writeFile(file, text, { mode: 0o600 });
  const gateway = await startGateway({ home });
  const set = async (...changes: readonly object[]) => {
    const response = await fetch(`http://${gateway.gateway.address}/api/settings`, {
      method: "PUT",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ changes }),
    });
    return { status: response.status, said: (await response.text()).slice(0, 300) };
  };
  return { text, file, set, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() };
}

/** Changes that hold an address and leave the secret beside it as it is. */
const moves: readonly (readonly [readonly string[], object | string])[] = [
  [["providers"], { my_llm: { apiBase: evil, apiKey: stars } }],
  [["providers"], { my_llm: { apiBase: evil, headers: { "X-Key": stars } } }],
  [["providers", "my_llm"], { apiBase: evil, apiKey: stars }],
  [["providers", "my_llm"], { apiKey: stars }],
  [["transcription"], { apiBase: evil, apiKey: stars }],
  [["tools", "web"], { search: { apiBase: evil, apiKey: stars } }],
  [["tools", "web", "search"], { apiBase: evil, apiKey: stars }],
  [["tools", "mcpServers"], { notes: { url: evil, headers: { Authorization: stars } } }],
  [["tools", "mcpServers", "notes"], { url: evil, headers: { Authorization: stars } }],
  [["channels"], { telegram: { enabled: false, token: stars, apiRoot: evil } }],
  [["channels", "telegram"], { token: stars, proxy: evil }],
  [
    ["channels", "telegram"],
    {
      token: stars,
      apiRoot: "http://good.test",
      webhook: { url: "https://evil.test/hook", secret: "a-secret-of-the-webhook" },
    },
  ],
  [["channels", "discord"], { token: stars, apiRoot: evil }],
  [["channels", "email"], { imapHost: "imap.evil.test", imapPassword: stars }],
  [["channels", "email", "oauth"], { tokenUrl: evil, clientSecret: stars }],
  [["telemetry"], { otlpEndpoint: evil, headers: { authorization: stars } }],
  [["telemetry", "otlpEndpoint"], evil],
];

test("a secret that came back as stars goes to no other address, however the change is written", async () => {
  await using there = await place({ ...sections, gateway: { token } });
  for (const [path, value] of moves)
    for (const change of [
      { path, value },
      { path, text: JSON.stringify(value) },
    ]) {
      const { status, said } = await there.set(change);
      assert.deepEqual(
        [status, /given for another address/.test(said)],
        [400, true],
        `${JSON.stringify(change)} ${said}`,
      );
      assert.equal(await readFile(there.file, "utf8"), there.text);
    }
});

test("an address that is taken out, alone or with others, leaves no secret for the one that counts then", async () => {
  await using there = await place({ ...sections, gateway: { token } });
  for (const path of [
    ["providers", "my_llm", "apiBase"],
    ["channels", "telegram", "apiRoot"],
    ["channels", "email", "imapHost"],
    ["telemetry", "otlpEndpoint"],
  ]) {
    const { status, said } = await there.set({ path });
    assert.deepEqual([status, /given for another address/.test(said)], [400, true], `${path.join(".")} ${said}`);
  }
  assert.equal(await readFile(there.file, "utf8"), there.text);
  const whole = await there.set({ path: ["providers", "my_llm"] }, { path: ["telemetry"] });
  assert.equal(whole.status, 200, whole.said);
});

test("who sends the secret again may send another address, and the same address may be sent with stars", async () => {
  await using there = await place({ ...sections, gateway: { token } });
  const moved = await there.set({ path: ["providers", "my_llm"], value: { apiBase: evil, apiKey: "sk-new-secret-9" } });
  assert.equal(moved.status, 200, moved.said);
  const same = await there.set({ path: ["transcription"], value: { apiKey: stars, model: "other" } });
  assert.equal(same.status, 200, same.said);
  const written = JSON.parse(await readFile(there.file, "utf8"));
  assert.deepEqual(written.providers.my_llm, { apiBase: evil, apiKey: "sk-new-secret-9" });
  assert.deepEqual(written.transcription, { apiKey: "sk-transcription-2", model: "other" });
});

test("without a token no object and no parent path changes what only a token may, and no secret moves", async () => {
  await using there = await place(sections);
  for (const [path, value] of [
    [["agents"], { defaults: { executionMode: "auto" } }],
    [["agents", "defaults"], { executionMode: "auto" }],
    [["tools"], { restrictToWorkspace: false }],
    [["tools"], { exec: { sandbox: "off" } }],
    [["tools"], { mcpServers: {} }],
    [["tools", "mcpServers"], { x: { command: "sh" } }],
    [["policy"], { rules: [{ verdict: "allow" }] }],
    [["owners"], ["telegram:666"]],
    [["tools", "web"], { fetch: { allow: ["10.0.0.0/8"] } }],
    [["channels"], { email: { tlsCaFile: "/tmp/evil.pem" } }],
    [["channels", "email"], { accessTokenFile: "/etc/shadow" }],
    [["telemetry"], { content: true }],
    [["telemetry", "content"], true],
    [["telemetry", "otlpEndpoint"], "http://elsewhere.test"],
    [["transcription"], { apiBase: `${evil}/\${HOME}` }],
  ] as const) {
    const { status, said } = await there.set({ path, value });
    assert.equal(status, 403, `${JSON.stringify({ path, value })} ${said}`);
  }
  for (const [path, value] of moves) {
    const { status, said } = await there.set({ path, value });
    assert.ok(status === 400 || status === 403, `${JSON.stringify({ path, value })} ${said}`);
  }
  assert.equal(await readFile(there.file, "utf8"), there.text);
});

/** Where this gateway listens: the secrets beside these are compared, and sent to nobody. */
const listens = new Set([
  "gateway.host",
  "gateway.publicUrl",
  "channels.websocket.host",
  "channels.telegram.webhook.host",
]);

test("every address of the config that has a secret beside it counts as where that secret goes", () => {
  const parts = configKeys().map((key) => key.replace(/\.\*$/, "").split("."));
  const sectionOf = (key: readonly string[]): string => key.slice(0, -1).join(".");
  const withSecret = new Set(
    parts.filter((key) => isSecretKey(key.at(-1) ?? "") || key.at(-1) === "headers").map(sectionOf),
  );
  const addresses = parts.filter(
    (key) =>
      /(address|host|url|uri|endpoint|server|base|root|proxy)$/i.test(key.at(-1) ?? "") &&
      withSecret.has(sectionOf(key)),
  );
  const names = addresses
    .map((key) => key.join("."))
    .filter((key) => !listens.has(key) && !key.endsWith("fromAddress"));
  assert.ok(names.length >= 10, names.join(", "));
  assert.deepEqual(
    names.filter((name) => !name.split(".").some(isDestination)),
    [],
  );
});
