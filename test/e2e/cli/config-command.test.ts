import assert from "node:assert/strict";
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { type CliSandbox, openCli, outputOf } from "../../support/worlds/cli.js";
import { startCliGateway } from "../../support/worlds/cli-gateway.js";

const text = `{
  // the model that answers
  "agents": { "defaults": { "model": "openai/one" } },
  "providers": { "openai": { "apiKey": "sk-live-0123456789", "apiBase": "http://127.0.0.1:9/v1" } },
  "prices": { "gpt-4.1": { "input": 2, "output": 8 } },
  "gateway": { "port": 0 },
}
`;

async function homeWith(cli: CliSandbox, content: string): Promise<string> {
  await mkdir(cli.home, { recursive: true, mode: 0o700 });
  const path = join(cli.home, "config.json");
  await writeFile(path, content, { mode: 0o600 });
  return path;
}

test("config unset takes out a key that the config does not know, as config check asks for it", async () => {
  await using cli = await openCli();
  const path = await homeWith(
    cli,
    '{\n  // mine\n  "agnets": { "a": 1 },\n  "log": { "level": "info", "colour": 1 }\n}\n',
  );
  assert.match((await cli.run(["config", "check"])).stdout, /unknown key "agnets".*did you mean "agents"/);
  assert.equal((await cli.run(["config", "unset", "agnets"])).code, 0);
  assert.equal((await cli.run(["config", "unset", "log.colour"])).code, 0);
  assert.equal((await cli.run(["config", "unset", "agnets"])).code, 2, "it is not there any more");
  assert.deepEqual(await readFile(path, "utf8"), '{\n  // mine\n  "log": { "level": "info" }\n}\n');
});

test("config unset takes along what is empty without the key, but no comment and nothing that was empty before", async () => {
  await using cli = await openCli();
  const path = await homeWith(cli, "{}");
  const unset = async (before: string, key: string) => {
    await writeFile(path, before);
    const { code, stdout, stderr } = await cli.run(["config", "unset", key]);
    assert.equal(code, 0, stderr);
    assert.ok(stdout.startsWith(`${key} was taken out of `));
    return await readFile(path, "utf8");
  };
  const kept = '{ "log": { "level": "info" }, "owners": [] }\n';
  assert.equal(await unset(kept.replace("{", '{ "budgets": { "day": { "usd": 5 } },'), "budgets.day.usd"), kept);
  assert.equal(
    await unset('{ "budgets": { "day": { "usd": 5 }, "sender": {} } }\n', "budgets.day.usd"),
    '{ "budgets": { "sender": {} } }\n',
  );
  const commented = '{\n  "budgets": {\n    "day": {\n      // a coffee\n      "usd": 5\n    }\n  }\n}\n';
  assert.equal(await unset(commented, "budgets.day.usd"), commented.replace(/ {6}"usd".*\n/, ""));

  await rm(path);
  const yaml = join(cli.home, "config.yaml");
  for (const [before, after] of [
    ["budgets:\n  day:\n    usd: 5\nowners: []\n", "owners: []\n"],
    ["budgets:\n  # of us all\n  day:\n    usd: 5\n    turns: 9\n", "budgets:\n  # of us all\n  day:\n    turns: 9\n"],
    ["owners: []\nbudgets:\n  # of us all\n  day:\n    usd: 5\n", "owners: []\nbudgets:\n  # of us all\n  day: {}\n"],
  ] as const) {
    await writeFile(yaml, before);
    assert.equal((await cli.run(["config", "unset", "budgets.day.usd"])).code, 0);
    assert.equal(await readFile(yaml, "utf8"), after);
  }
});

test("config get, set and unset work on single keys, keep comments, and refuse what would be wrong", async () => {
  await using cli = await openCli();
  const path = await homeWith(cli, text);
  const said = async (...args: string[]) => {
    const { code, stdout, stderr } = await cli.run(["config", ...args]);
    return { code, stdout: stdout.trim(), stderr: stderr.trim() };
  };
  assert.equal((await said("path")).stdout, path);
  assert.equal((await said("get", "agents.defaults.model")).stdout, "openai/one");
  assert.equal((await said("get", "agents.defaults.maxTokens")).stdout, "8192", "what counts by default");
  assert.equal((await said("get", 'prices["gpt-4.1"].output')).stdout, "8");
  assert.ok(!(await said("get")).stdout.includes("sk-live"));
  assert.equal((await said("get", "providers.openai.apiKey")).stdout, "********");
  assert.equal((await said("get", "providers.openai.api_key", "--show-secrets")).stdout, "sk-live-0123456789");
  assert.equal((await said("get", "agents.defaults.timezone")).code, 1);

  const wrong = await said("set", "agents.defaults.modle", "x");
  assert.deepEqual(
    [wrong.code, wrong.stderr],
    [2, 'maxclaw: The config has no key "agents.defaults.modle". Did you mean "agents.defaults.model"?'],
  );
  for (const [key, value, why] of [
    ["agents.defaults.maxTokens", "many", /agents.defaults.maxTokens takes a number, e.g. 8192, not the text "many"/],
    [
      "agents.defaults.executionMode",
      "atuo",
      /takes one of safe, ask, auto, not the text "atuo" \(did you mean "auto"\?\)/,
    ],
    ["channels.telegram.allowFrom", "5", /channels.telegram.allowFrom takes a list, e.g. '\["one", "two"\]', not 5/],
    ["gateway", '{"prot": 1}', /unknown key "gateway.prot"/],
    ["gateway.port.x", "1", /holds one value/],
    ["agents", "null", /agents takes an object, .*, not null/],
    ['prices["x', "1", /" is not a key\. A key looks like gateway\.port or prices\["gpt-5\.6"\]\.input\.$/],
    ["channels.mattermost.enabled", "true", /maxclaw has no Mattermost channel yet\. It has: telegram, /],
  ] as const) {
    const { code, stderr } = await said("set", key, value);
    assert.equal(code, 2, key);
    assert.match(stderr, why);
  }
  assert.equal(await readFile(path, "utf8"), text, "nothing was written");

  assert.equal(
    (await said("set", "agents.defaults.model", "openai/two")).stderr,
    "No gateway is running: the change takes effect at the next start.",
  );
  assert.equal((await said("set", "owners", '["telegram:42"]')).code, 0);
  assert.equal((await said("set", "gateway.token", "1234567890123456789")).code, 0);
  const odd = String.raw`prices["a\"b.c\\d"]`;
  assert.equal((await said("set", odd, '{"input":3,"output":4}')).code, 0);
  assert.match(await readFile(path, "utf8"), /"a\\"b\.c\\\\d": \{/);
  assert.equal((await said("get", `${odd}.output`)).stdout, "4");
  assert.equal((await said("unset", "prices")).code, 0);
  assert.equal((await said("unset", "prices")).code, 1, "it is not there any more");
  const changed = text
    .replace("openai/one", "openai/two")
    .replace(/\n {2}"prices".*/, "")
    .replace('"port": 0 }', '"port": 0, "token": "1234567890123456789" }')
    .replace("},\n}", '},\n  "owners": [\n    "telegram:42"\n  ],\n}');
  assert.equal(await readFile(path, "utf8"), changed);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  assert.match((await said("check")).stdout, /config.json is in order/);
});

test("in YAML with names for values, what another place uses too is not changed, and the person reads why", async () => {
  await using cli = await openCli();
  await homeWith(cli, "{}");
  await rm(join(cli.home, "config.json"));
  const yaml = join(cli.home, "config.yaml");
  const before =
    "agents:\n  defaults:\n    maxTokens: &a 5000\n    contextWindow: *a\n    temperature: 0.5\nbudgets: &b\n  day:\n    usd: 5\n";
  await writeFile(yaml, before);
  for (const args of [
    ["set", "agents.defaults.maxTokens", "7000"],
    ["unset", "agents.defaults.maxTokens"],
  ]) {
    const { code, stderr } = await cli.run(["config", ...args]);
    assert.notEqual(code, 0);
    assert.match(
      stderr,
      /^maxclaw: \S+config\.yaml cannot be changed there: another place of the file uses it too, as \*a\. It was left unchanged\.$/m,
    );
    assert.equal(await readFile(yaml, "utf8"), before);
  }
  for (const [key, value] of [
    ["agents.defaults.contextWindow", "9000"],
    ["agents.defaults.temperature", "0.7"],
    ["budgets.day.usd", "7"],
  ] as const)
    assert.equal((await cli.run(["config", "set", key, value])).code, 0, key);
  assert.equal(
    await readFile(yaml, "utf8"),
    before.replace("*a", "9000").replace("0.5", "0.7").replace("usd: 5", "usd: 7"),
  );
});

test("config set refuses a key with blanks inside, and takes away those around it", async () => {
  await using cli = await openCli();
  const path = await homeWith(cli, text);
  const inside =
    /^maxclaw: Nothing was changed\. providers\.openai\.apiKey cannot be that: A key has no spaces or line breaks inside\./;
  for (const [key, value] of [
    ["providers.openai.apiKey", "sk-live 0123456789"],
    ["providers.openai.apiKey", "sk-live\n0123456789"],
    ["providers.openai", '{"apiKey": "sk-live 0123456789"}'],
    ["providers", '{"openai": {"apiKey": "sk-live\\t0123456789"}}'],
  ] as const) {
    const { code, stderr } = await cli.run(["config", "set", key, value]);
    assert.equal(code, 2, value);
    assert.match(stderr, inside);
    assert.ok(!stderr.includes("0123456789"));
  }
  assert.equal(await readFile(path, "utf8"), text);
  assert.equal((await cli.run(["config", "set", "providers.openai.apiKey", " sk-other-0123456789\n"])).code, 0);
  assert.equal(await readFile(path, "utf8"), text.replace("sk-live", "sk-other"));
});

test("config check says what is wrong, and a file that cannot be read is left alone by all of them", async () => {
  await using cli = await openCli();
  const path = await homeWith(cli, '{"agnets": {}}');
  const { code, stdout } = await cli.run(["config", "check"]);
  assert.deepEqual([code, stdout], [1, 'unknown key "agnets" is ignored; did you mean "agents"?\n']);
  await writeFile(path, "{");
  assert.equal((await cli.run(["config", "check"])).code, 78);
  for (const args of [["get"], ["set", "gateway.port", "1"], ["unset", "gateway.port"]]) {
    const { code: failed, stderr } = await cli.run(["config", ...args]);
    assert.equal(failed, 78);
    assert.match(stderr, /line 1, column 2/);
  }
  assert.equal(await readFile(path, "utf8"), "{");
});

test("settings that several commands and the page change at once are all kept", { timeout: 120_000 }, async () => {
  await using cli = await openCli();
  const path = await homeWith(cli, `{ "gateway": { "port": 0 } }`);
  const { url } = await startCliGateway(cli);
  const prices = [1, 2, 3, 4, 5, 6].map(async (n) => {
    const { code, stderr } = await cli.run(["config", "set", `prices["m${n}"]`, `{"input":${n},"output":1}`]);
    assert.equal(code, 0, stderr);
  });
  const scopes = ["turn", "spawn", "session", "sender", "job", "day"];
  const saved = scopes.map(async (scope) => {
    const changes = [{ path: ["budgets", scope], value: { tokens: 1_000_000 } }];
    const response = await fetch(`${url}/api/settings`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ changes }),
    });
    assert.equal(response.status, 200, await response.text());
  });
  await Promise.all([...prices, ...saved]);
  const { prices: keptPrices, budgets } = JSON.parse(await readFile(path, "utf8"));
  assert.deepEqual(Object.keys(keptPrices).sort(), ["m1", "m2", "m3", "m4", "m5", "m6"]);
  assert.deepEqual(Object.keys(budgets).sort(), scopes.sort());
});

test("a model whose provider is not there is named by config check, status and doctor, with what there is", async () => {
  await using cli = await openCli();
  const mine = { apiBase: "http://127.0.0.1:9/v1", apiKey: "sk-mine", models: [] };
  const withModel = async (model: string) =>
    await homeWith(cli, JSON.stringify({ providers: { mine }, agents: { defaults: { model } } }));
  await withModel("mien/tiny-1");
  const wrong =
    /the model mien\/tiny-1, and none is called mien\. The config has: mine\. Write mine\/tiny-1, or mine\/mien\/tiny-1 if mien\/ is part/;
  for (const args of [["config", "check"], ["status"], ["doctor", "--offline"]]) {
    const { code, stdout } = await cli.run(args);
    assert.match(stdout, wrong, args.join(" "));
    assert.notEqual(code, 0);
  }
  await withModel("mine/tiny-1");
  assert.equal((await cli.run(["config", "check"])).code, 0);
});

test("config schema is a JSON schema without defaults of secrets, and the file may name it", async () => {
  await using cli = await openCli();
  await homeWith(cli, '{"$schema": "./schema.json"}');
  const { stdout } = await cli.run(["config", "schema"]);
  const schema = JSON.parse(stdout);
  assert.equal(schema.type, "object");
  assert.equal(schema.properties.$schema.type, "string");
  assert.deepEqual(schema.properties.gateway.properties.port, {
    description: "The port where the gateway listens. 0 takes any free port.",
    default: 18890,
    type: "integer",
    minimum: 0,
    maximum: 65535,
  });
  assert.equal(schema.properties.gateway.properties.token.default, undefined);
  assert.equal((await cli.run(["config", "check"])).code, 0);
});

test("set says whether the running gateway uses it; models and channels are listed", async () => {
  await using cli = await openCli();
  await using model = await startFakeOpenAI({ answer: { text: "hello" } });
  await homeWith(cli, text.replace("http://127.0.0.1:9/v1", model.apiBase));
  const child = cli.start(["gateway"]);
  await outputOf(child.stdout, /READY:/);
  const taken = await cli.run(["config", "set", "agents.defaults.model", "openai/two"]);
  assert.equal(taken.stderr, "The running gateway uses it now.\n");
  assert.equal(JSON.parse((await cli.run(["status", "--json"])).stdout).model, "openai/two");
  const due = await cli.run(["config", "set", "gateway.port", "4711"]);
  assert.equal(due.stderr, "Restart the gateway for gateway.port to take effect.\n");
  assert.match((await cli.run(["status"])).stdout, /Restart the gateway: the config has changed at gateway.port./);
  assert.match((await cli.run(["channels"])).stdout, /No channel is switched on/);
  const models = await cli.run(["models", "--provider", "openai"]);
  assert.match(models.stderr + models.stdout, /^openai[:/]/);
});
