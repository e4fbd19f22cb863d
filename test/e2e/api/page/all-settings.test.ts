import assert from "node:assert/strict";
import { chmod, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { configKeys, valuePaths } from "../../../../src/config/shape.js";
import { startGateway, tempHome } from "../../../support/worlds/gateway.js";

const token = "a-token-of-the-gateway";
const secret = "4242:telegram-secret";
const stars = "********";

/** As somebody has written it, with comments and in an order of their own. */
const written = `// My assistant.
{
  gateway: { token: '${token}', port: 18890 }, // the port that the proxy knows
  /* how it talks */
  agents: {
    defaults: {
      Execution_Mode: 'safe', // until I trust it
      // warm
      temperature: 0.9,
    },
  },
  channels: { telegram: { enabled: false, token: '${secret}', allowFrom: ['1', /* Ada */ '2'] } },
  telemetry: { headers: { authorization: 'collector-key-1' } },
  fromTheFuture: { keepMe: [1, 2] },
  tools: { web: { search: { apiKey: '$\{BRAVE_KEY}', surprise: true } } },
}
`;

async function openPlace({
  text = written,
  env = {},
}: {
  readonly text?: string;
  readonly env?: Readonly<Record<string, string>>;
} = {}) {
  const home = await tempHome();
  const path = join(home, "config.json");
  await writeFile(path, text, { mode: 0o600 });
  const running = await startGateway({ home, env });
  const call = async (method: string, route: string, body?: unknown, headers: object = {}) => {
    const response = await fetch(`http://${running.gateway.address}${route}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const said = await response.text();
    for (const one of [secret, "collector-key-1", "brave-key-value"])
      assert.ok(!said.includes(one), `${route} shows ${one}`);
    return { status: response.status, etag: response.headers.get("etag") ?? "", answer: Object(JSON.parse(said)) };
  };
  return {
    gateway: running,
    path,
    call,
    text: () => readFile(path, "utf8"),
    all: () => call("GET", "/api/settings"),
    set: (changes: readonly object[], etag?: string) =>
      call("PUT", "/api/settings", { changes }, etag === undefined ? {} : { "if-match": etag }),
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

interface Shown {
  readonly path: readonly string[];
  readonly schema: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

function named(answer: { readonly settings: readonly Shown[] }, name: string) {
  const found = answer.settings.find(({ path }) => path.join(".") === name);
  assert.ok(found, name);
  return found;
}

test("all settings are read with what they mean, what they take, where they come from and when they count", async () => {
  await using place = await openPlace({ env: { BRAVE_KEY: "brave-key-value" } });
  const { answer, etag, status } = await place.all();
  assert.equal(status, 200);
  assert.match(etag, /^"[0-9a-f]{32}"$/);
  assert.deepEqual(
    answer.settings.map(({ path }: Shown) => path.join(".")),
    valuePaths().map((path) => path.join(".")),
  );
  const whole = new Set(configKeys().map((key) => key.split(/\.\*|\[\]/)[0]));
  const settings: readonly Shown[] = answer.settings;
  for (const { path, schema } of settings) {
    assert.ok(whole.has(path.join(".")), path.join("."));
    assert.match(String(schema.description), /^[A-Z`].*[.`]$/, path.join("."));
  }
  const port = named(answer, "gateway.port");
  assert.deepEqual(
    [port.schema.type, port.schema.default, port.source, port.value, port.effect],
    ["integer", 18890, "file", 18890, "restart"],
  );
  const mode = named(answer, "agents.defaults.executionMode");
  assert.deepEqual(
    [mode.schema.enum, mode.schema.default, mode.value, mode.effect],
    [["safe", "ask", "auto"], "ask", "safe", "now"],
  );
  const level = named(answer, "log.level");
  assert.deepEqual([level.source, "value" in level], ["default", false]);
  const bot = named(answer, "channels.telegram.token");
  assert.deepEqual([bot.isSecret, bot.value, bot.source], [true, stars, "file"]);
  assert.equal(named(answer, "channels.telegram.enabled").effect, "now");
  assert.deepEqual(named(answer, "telemetry.headers").value, { authorization: stars });
  assert.equal(named(answer, "tools.exec.timeout").schema.unit, "seconds");
  assert.deepEqual(named(answer, "tools.web.search.apiKey").variables, [{ name: "BRAVE_KEY", from: "environment" }]);
  assert.equal(named(answer, "extensions").locked, "file");
  assert.equal(named(answer, "owners").locked, undefined);
  assert.deepEqual(
    answer.unknown.map(({ path }: Shown) => path.join(".")),
    ["fromTheFuture", "tools.web.search.surprise"],
  );
  assert.deepEqual(answer.file, { path: place.path, exists: true, isReadOnly: false });
});

test("one setting is set and taken out again; comments, spelling and what nobody knows stay", async () => {
  await using place = await openPlace({ env: { BRAVE_KEY: "brave-key-value" } });
  const { etag } = await place.all();
  const set = await place.set([{ path: ["agents", "defaults", "temperature"], value: 0.2 }], etag);
  assert.equal(set.status, 200);
  assert.equal(named(set.answer, "agents.defaults.temperature").value, 0.2);
  assert.equal(await place.text(), written.replace("0.9", "0.2"));
  const mode = await place.set([{ path: ["agents", "defaults", "executionMode"], value: "ask" }], set.etag);
  assert.equal(await place.text(), written.replace("0.9", "0.2").replace("'safe'", '"ask"'));
  const list = await place.set(
    [
      { path: ["channels", "telegram", "allowFrom"], value: ["1", "2", "3"] },
      { path: ["telemetry", "headers"], value: { authorization: stars, more: "x" } },
      { path: ["agents", "defaults", "temperature"] },
    ],
    mode.etag,
  );
  assert.equal(list.status, 200, JSON.stringify(list.answer));
  const text = await place.text();
  for (const comment of [
    "// My assistant.",
    "// the port that the proxy knows",
    "/* how it talks */",
    "// until I trust it",
    "// warm",
    "/* Ada */",
  ])
    assert.ok(text.includes(comment), comment);
  assert.match(text, /authorization: 'collector-key-1', "more": "x"/);
  assert.doesNotMatch(text, /temperature/);
  assert.match(text, /fromTheFuture: \{ keepMe: \[1, 2\] \}/);
  assert.equal(named(list.answer, "agents.defaults.temperature").source, "default");
  assert.equal((await stat(place.path)).mode & 0o777, 0o600);
  const rules = { path: ["policy", "rules"], text: "[{ tool: 'exec', verdict: 'ask' }] // mine" };
  const asText = await place.set([rules], list.etag);
  assert.deepEqual(named(asText.answer, "policy.rules").value, [{ tool: "exec", verdict: "ask" }]);
  const due = await place.set([{ path: ["gateway", "port"], value: 4711 }], asText.etag);
  assert.deepEqual(due.answer.restart, ["gateway.port"]);
});

test("who changes a setting leaves an event with its name, and never with its value", async () => {
  await using place = await openPlace();
  await place.set([
    { path: ["transcription", "apiKey"], value: "sk-new-secret-0123" },
    { path: ["log", "level"], value: "warn" },
  ]);
  const { payload } = await place.gateway.waitForEvent(({ type }) => type === "settings_changed", "system");
  assert.deepEqual(payload, { scope: "gateway", key: "config", to: "transcription.apiKey, log.level" });
});

test("two editors do not overwrite each other", async () => {
  await using place = await openPlace();
  const { etag } = await place.all();
  const byHand = written.replace("0.9", "1.1");
  await writeFile(place.path, byHand);
  const late = await place.set([{ path: ["log", "level"], value: "warn" }], etag);
  assert.deepEqual([late.status, late.answer.code], [412, "changed"]);
  assert.equal(await place.text(), byHand);
  const again = await place.all();
  assert.equal(named(again.answer, "agents.defaults.temperature").value, 1.1);
  const both = await Promise.all(
    ["warn", "error"].map((value) => place.set([{ path: ["log", "level"], value }], again.etag)),
  );
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 412]);
});

test("what a setting does not take is refused with its path and the reason, and nothing is written", async () => {
  await using place = await openPlace();
  for (const [change, status, reason] of [
    [
      { path: ["gateway", "port"], value: "many" },
      400,
      /gateway\.port takes a number, e\.g\. 18890, not the text "many"/,
    ],
    [{ path: ["gateway", "port"], value: 70_000 }, 400, /gateway\.port takes at most 65535/],
    [{ path: ["log", "level"], value: "loud" }, 400, /log\.level takes one of debug, info, warn, error/],
    [
      { path: ["channels", "telegram", "webhook", "port"], value: -1 },
      400,
      /channels\.telegram\.webhook\.port takes at least 0/,
    ],
    [{ path: ["channels", "discord", "enabled"], value: true }, 400, /discord is enabled but has no token/],
    [{ path: ["log", "levle"], value: "info" }, 400, /no key "log\.levle"\. Did you mean "log\.level"\?/],
    [{ path: ["log", "level", "deep"], value: 1 }, 400, /log\.level holds one value/],
    [{ path: ["providers", "__proto__", "apiKey"], value: "x" }, 400, /is not a setting/],
    [{ path: ["transcription", "apiKey"], value: stars }, 400, /no secret is stored here/],
    [{ path: ["channels", "telegram", "apiRoot"], value: "http://evil.test" }, 400, /given for another address/],
    [{ path: ["extensions"], value: [{ module: "./x.mjs" }] }, 403, /Extensions/],
    [{ path: ["agents", "defaults", "model"], value: "m".repeat(100_001) }, 413, /agents\.defaults\.model is too long/],
    [
      { path: ["policy", "rules"], text: "[\n  { verdict: 'ask' },\n  oops\n]" },
      400,
      /policy\.rules, line 3, column 3: /,
    ],
    [{ path: ["policy", "rules"], text: "[{ tool: 'exec' }]" }, 400, /policy\.rules\.0\.verdict takes one of/],
    [{ path: [], value: 1 }, 400, /path/],
  ] as const) {
    const good = { path: ["agents", "defaults", "maxTokens"], value: 99 };
    const refused = await place.set([good, change]);
    assert.equal(refused.status, status, JSON.stringify(refused.answer));
    assert.match(refused.answer.error, reason);
    assert.equal(await place.text(), written, "all of it or nothing");
  }
  assert.equal((await place.set([])).status, 400);
});

test("a file that is broken is told with its line, and nothing of it can be changed", async () => {
  await using place = await openPlace();
  const broken = `{\n  gateway: { token: '${token}' },\n  "log": { "level": \n}`;
  await writeFile(place.path, broken);
  const { answer, status, etag } = await place.all();
  assert.equal(status, 200);
  assert.equal(answer.file.fault.line, 4);
  assert.deepEqual([answer.settings, answer.unknown, answer.revision, etag], [[], [], undefined, ""]);
  const refused = await place.set([{ path: ["log", "level"], value: "warn" }]);
  assert.deepEqual([refused.status, refused.answer.code], [409, "wrong_state"]);
  assert.match(refused.answer.error, /line 4/);
  assert.equal(await place.text(), broken);
});

test("a file that its owner has made read-only stays as it is", async () => {
  await using place = await openPlace();
  await chmod(place.path, 0o400);
  assert.equal((await place.all()).answer.file.isReadOnly, true);
  for (const [route, body] of [
    ["/api/settings", { changes: [{ path: ["log", "level"], value: "warn" }] }],
    ["/api/config", { log: { level: "warn" } }],
  ] as const) {
    const refused = await place.call("PUT", route, body);
    assert.deepEqual([refused.status, refused.answer.code], [409, "wrong_state"]);
    assert.match(refused.answer.error, /is read-only/);
  }
  assert.equal(await place.text(), written);
  await assert.rejects(stat(`${place.path}.previous`));
});

test("a variable of the environment that goes before the file is named", async () => {
  await using place = await openPlace({
    env: { MAXCLAW_TOKEN: token, OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" },
  });
  const { answer } = await place.all();
  const found = named(answer, "gateway.token");
  assert.deepEqual(
    [found.source, found.value, found.variables],
    ["environment", stars, [{ name: "MAXCLAW_TOKEN", from: "environment" }]],
  );
  assert.equal(named(answer, "telemetry.otlpEndpoint").source, "environment");
});

test("without a file and without a token: defaults, and what only a token or the file may change is marked", async () => {
  await using gateway = await startGateway({ config: {} });
  const path = join(gateway.home, "config.json");
  await rm(path, { force: true });
  const url = `http://${gateway.gateway.address}/api/settings`;
  const answer = Object(await (await fetch(url)).json());
  assert.deepEqual([answer.file.exists, answer.hasToken], [false, false]);
  assert.equal(named(answer, "owners").locked, "token");
  assert.equal(named(answer, "tools.exec.sandbox").locked, "token");
  assert.equal(named(answer, "log.level").locked, undefined);
  const body = JSON.stringify({ changes: [{ path: ["log", "level"], value: "warn" }] });
  const headers = { "content-type": "application/json" };
  assert.equal((await fetch(url, { method: "PUT", headers, body })).status, 200);
  assert.deepEqual(JSON.parse(await readFile(path, "utf8")), { log: { level: "warn" } });
});

test("a file of the workspace is written only as the one that was read", async () => {
  await using place = await openPlace();
  const route = "/api/workspace-file/SOUL.md";
  const first = await place.call("GET", route);
  const match = { "if-match": first.etag };
  const saved = await place.call("PUT", route, { content: "Be kind.\n" }, match);
  assert.equal(saved.status, 200);
  const late = await place.call("PUT", route, { content: "Be loud.\n" }, match);
  assert.deepEqual([late.status, late.answer.code], [412, "changed"]);
  assert.equal((await place.call("GET", route)).answer.content, "Be kind.\n");
  assert.equal((await place.call("PUT", route, { content: "Be brief.\n" }, { "if-match": saved.etag })).status, 200);
});

test("an If-Match that is not one revision overwrites nothing", async () => {
  await using place = await openPlace();
  const { etag } = await place.all();
  const file = await place.call("GET", "/api/workspace-file/SOUL.md");
  for (const header of ["*", `${etag}, "0123"`, `"00", ${etag}`, '"not-a-revision"', "", '""']) {
    const set = await place.set([{ path: ["log", "level"], value: "warn" }], header);
    assert.deepEqual([set.status, set.answer.code], [412, "changed"], header);
    for (const [route, body] of [
      ["/api/config", { log: { level: "warn" } }],
      ["/api/workspace-file/SOUL.md", { content: "Be loud.\n" }],
    ] as const)
      assert.equal((await place.call("PUT", route, body, { "if-match": header })).status, 412, `${route} ${header}`);
  }
  assert.equal(await place.text(), written);
  assert.equal((await place.call("GET", "/api/workspace-file/SOUL.md")).etag, file.etag);
  assert.equal((await place.set([{ path: ["log", "level"], value: "warn" }], `W/${etag}`)).status, 200);
});

test("settings are the owner's: nobody reads or writes them without the token, or from another page", async () => {
  await using place = await openPlace();
  for (const method of ["GET", "PUT"]) {
    const body = method === "PUT" ? { changes: [{ path: ["log", "level"], value: "warn" }] } : undefined;
    assert.equal((await place.call(method, "/api/settings", body, { authorization: "" })).status, 401);
    assert.equal((await place.call(method, "/api/settings", body, { origin: "https://evil.test" })).status, 403);
  }
  assert.equal(await place.text(), written);
});
