import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { isUnmended } from "../../../src/config/file-modes.js";
import { listenHost } from "../../../src/config/interpret.js";
import { type LoadedConfig, loadConfig } from "../../../src/config/load.js";
import { ConfigError } from "../../../src/errors.js";
import { projectFile } from "../../support/project.js";

let home = "";
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "maxclaw-config-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

type Env = Record<string, string | undefined>;

async function load(config: unknown, env: Env = {}, file = "config.json"): Promise<LoadedConfig> {
  const text = typeof config === "string" ? config : JSON.stringify(config);
  await writeFile(join(home, file), text, { mode: 0o600 });
  return loadConfig({ home, env });
}

/** As a variable is written in the config. */
const variable = (name: string) => `\${${name}}`;
const bot = "123456789:AAbot-token-that-nobody-may-see";

describe("the engine in the config", () => {
  const address = "postgresql://maxclaw:pg-secret-0123@db.example.org/chats";

  it("names a database, whose password counts as a secret wherever it is", async () => {
    const { config, problems, secrets } = await load(
      { engine: { kind: "postgres", url: `postgresql://maxclaw:${variable("PGPASSWORD")}@db/chats` } },
      { PGPASSWORD: "pg%2Dsecret-0123" },
    );
    assert.deepEqual(problems, []);
    assert.deepEqual(config.engine, {
      kind: "postgres",
      url: "postgresql://maxclaw:pg%2Dsecret-0123@db/chats",
      schema: "maxclaw",
    });
    assert.ok(secrets.includes("pg%2Dsecret-0123") && secrets.includes("pg-secret-0123"));
    const named = await load({
      engine: { kind: "postgres", url: "postgres:///chats?host=/run&password=pg-secret-9876" },
    });
    assert.ok(named.secrets.includes("pg-secret-9876"));
  });

  it("is never another one than the one that was meant: anything wrong in it keeps the gateway from starting", async () => {
    for (const engine of [
      { kind: "postgress", url: address },
      { kind: "postgres" },
      { kind: "postgres", url: "db.example.org" },
      { kind: "postgres", url: address, schema: "Not A Name" },
      { kind: "postgres", url: `postgresql://maxclaw:${variable("NOT_SET")}@db/chats` },
      "postgres",
    ]) {
      const { config, problems, off } = await load({ engine });
      assert.equal(config.engine.kind, "postgres", JSON.stringify(engine));
      assert.equal(config.engine.url, undefined);
      assert.match(problems.join("\n"), /engine.*the gateway does not start until that is corrected/);
      assert.doesNotMatch(problems.join("\n"), /pg-secret/);
      assert.deepEqual(
        off.map(({ section }) => section),
        ["engine"],
      );
    }
  });

  it("is not the embedded one in a file that cannot be read and may name a database", async () => {
    const broken = `{ "engine": { "kind": "postgres", "url": "${address}" }, `;
    const { config, problems, unparsable } = await load(broken);
    assert.ok(unparsable !== undefined);
    assert.equal(config.engine.kind, "postgres");
    assert.match(problems.join("\n"), /the gateway does not start, because its messages may be in a database/);
    assert.equal((await load('{ "engine": { "kind": "embedded" }, ')).config.engine.kind, "embedded");
  });
});

describe("the config file", () => {
  it("may be a pipe or a folder by mistake: it is named, and holds nobody up", async () => {
    for (const make of [(path: string) => execFileSync("mkfifo", [path]), (path: string) => mkdir(path)]) {
      const path = join(home, "config.json");
      await rm(path, { recursive: true, force: true });
      await make(path);
      const { problems } = await loadConfig({ home, env: {} });
      assert.match(problems.join("\n"), /config\.json cannot be read.*it is not a file/);
    }
  });

  it("may be missing: everything has its default and nothing is wrong", async () => {
    const { config, problems, path, unparsable } = await loadConfig({ home, env: {} });
    assert.deepEqual(problems, []);
    assert.equal(path, undefined);
    assert.equal(unparsable, undefined);
    assert.deepEqual(config.agents.defaults, {
      workspace: join(home, "workspace"),
      maxTokens: 8192,
      contextWindow: 128_000,
      compactAt: 0.8,
      temperature: 0.7,
      maxToolIterations: 20,
      executionMode: "ask",
      quietMs: 600,
      quietAfter: "unfinished",
      enableGlobalSkills: true,
      fallbacks: [],
    });
    assert.equal(config.gateway.host, "127.0.0.1");
    assert.equal(config.gateway.port, 18890);
    assert.equal(config.gateway.token, undefined);
    assert.equal(config.tools.restrictToWorkspace, true);
    assert.deepEqual(config.providers, {});
    assert.deepEqual(config.channels, {});
    assert.deepEqual(config.owners, []);
    assert.equal(config.skills.default, "auto");
  });

  it("must exist when it is named", async () => {
    const missing = join(home, "nothing.json");
    await assert.rejects(loadConfig({ home, configPath: missing, env: {} }), (error: unknown) => {
      assert.ok(error instanceof ConfigError);
      assert.ok(error.message.includes(missing));
      return true;
    });
  });

  it("is taken from where --config points, also as YAML", async () => {
    const elsewhere = join(home, "other.yml");
    await writeFile(elsewhere, "gateway:\n  port: 4711\nowners: [telegram:42]\n");
    await writeFile(join(home, "config.json"), "{}");
    const { config, path } = await loadConfig({ home, configPath: elsewhere, env: {} });
    assert.equal(config.gateway.port, 4711);
    assert.deepEqual(config.owners, ["telegram:42"]);
    assert.equal(path, elsewhere);
  });

  it("may be YAML, with anchors and comments", async () => {
    const text = "# mine\nbase: &b\n  apiKey: key-of-both\nproviders:\n  openai: *b\n  groq: *b\n";
    const { config, problems } = await load(text, {}, "config.yaml");
    assert.equal(config.providers.openai?.apiKey, "key-of-both");
    assert.equal(config.providers.groq?.apiKey, "key-of-both");
    assert.deepEqual(problems, ['unknown key "base" is ignored']);
  });

  it("as JSON goes before YAML, and that is told", async () => {
    await writeFile(join(home, "config.yaml"), "gateway: {port: 1}");
    const { config, problems } = await load({ gateway: { port: 2 } });
    assert.equal(config.gateway.port, 2);
    assert.match(problems.join(), /both .*config\.json and .*config\.yaml exist/);
  });

  it("may begin with a byte order mark", async () => {
    const { config, problems } = await load('\uFEFF{"gateway": {"port": 4711}}');
    assert.equal(config.gateway.port, 4711);
    assert.deepEqual(problems, []);
  });

  const broken: readonly [string, string, number, number, RegExp][] = [
    ["is empty", "", 1, 1, /empty/],
    ["is only blanks", " \n\n", 1, 1, /empty/],
    ["is cut off", '{\n  "gateway": {\n    "port": 1', 3, 14, /ends here/],
    ["is cut off in a text", '{\n  "owners": ["tele', 2, 14, /closing double quote/],
    ["lacks quotes", '{\n  "providers": {"openai": {"apiKey": sk-secret-key-value}}}', 2, 38, /value is expected/],
    ["lacks a comma", '{"a": 1\n"b": 2}', 2, 1, /comma or } is expected/],
    ["has a comma too many", '{\n"a": [1, 2,,\n]}', 2, 12, /value is expected/],
    ["has an open single quote", "{'a: 1}", 1, 2, /no closing single quote/],
    ["has a plain key with a sign in it", "{ gpt-4.1: 1 }", 1, 3, /a key with - in it belongs in double quotes/],
    ["has a number as a key", "{ 5x: 1 }", 1, 3, /a key is expected: a word, or a text in double quotes/],
    ["has an open comment", '{\n/* mine\n"a": 1}', 2, 1, /comment has no end/],
    ["is a list", "[]", 1, 1, /an object is expected/],
    ["is a word", "hello", 1, 1, /value is expected/],
    ["goes on after its end", "{}\n{}", 2, 1, /nothing may follow/],
    ["is nested without end", "[".repeat(100_000), 1, 202, /nested too deep/],
  ];
  for (const [what, text, line, column, message] of broken) {
    it(`that ${what} gives defaults, and the place`, async () => {
      const loaded = await load(text);
      assert.equal(loaded.unparsable?.line, line);
      assert.equal(loaded.unparsable?.column, column);
      assert.match(loaded.unparsable?.message ?? "", message);
      assert.equal(loaded.unparsable?.path, join(home, "config.json"));
      assert.deepEqual(loaded.config.channels, {});
      assert.equal(loaded.config.gateway.port, 18890);
      assert.equal(loaded.problems.length, 1);
      assert.ok(!JSON.stringify(loaded).includes("sk-secret"));
      assert.equal(await readFile(join(home, "config.json"), "utf8"), text, "the file is never rewritten");
    });
  }

  it("in YAML that is wrong gives the place and quotes nothing", async () => {
    const loaded = await load('providers:\n  openai:\n    apiKey: "sk-secret\n  : [\n', {}, "config.yaml");
    assert.ok((loaded.unparsable?.line ?? 0) >= 3);
    assert.ok(!JSON.stringify(loaded).includes("sk-secret"));
  });

  for (const [what, text, line, says] of [
    ["an open quote", 'gateway:\n  port: "12\n', 3, "a quote that was opened before is not closed"],
    ["a tab", "gateway:\n\tport: 1\n", 2, "a line begins with a tab: use spaces"],
    ["a key twice", "owners: []\nowners: []\n", 2, "the same key is there twice"],
    [
      "aliases that unpack to thousands of values",
      `a: &a [x, x]\n${[..."bcdefghi"].map((name, n) => `${name}: &${name} [${`*${"abcdefgh"[n]},`.repeat(9)}]`).join("\n")}\n`,
      1,
      "it has too many aliases (*name)",
    ],
    ["a second document", "owners: []\n---\nlog: {}\n", 2, "--- begins a second document, and only one is read"],
  ] as const)
    it(`in YAML with ${what} is named in a sentence, with the line`, async () => {
      const { unparsable } = await load(text, {}, "config.yaml");
      assert.deepEqual([unparsable?.line, unparsable?.message], [line, says]);
    });

  for (const [what, text] of [
    ["is empty", ""],
    ["was cut before its token", '{ "owners": ["telegram:1"],\n  "providers": { "openai": { "apiKey": "sk-'],
    ["was cut in a list", '{ "providers": {},\n  "owners": ["telegram:1",\n'],
  ] as const)
    it(`that ${what} may have had a token: what was closed stays closed`, async () => {
      const { config, problems } = await load(text);
      assert.match(config.gateway.token ?? "", /^\w{48}$/);
      assert.match(problems.join("\n"), /has all channels off and accepts no token/);
      const given = await load(text, { MAXCLAW_TOKEN: "0123456789abcdef" });
      assert.equal(given.config.gateway.token, "0123456789abcdef");
      assert.match(given.problems.join("\n"), /has all channels off$/m);
    });

  it("that is whole but for a typing error, and names no token, closes nothing", async () => {
    for (const [text, name] of [
      ['{ "owners": [] "log": {} }\n', "config.json"],
      ['{ "log": {}\n', "config.json"],
      ["owners: []\nowners: []\n", "config.yaml"],
    ] as const) {
      const { config, problems } = await load(text, {}, name);
      await rm(join(home, name));
      assert.equal(config.gateway.token, undefined);
      assert.match(problems.join("\n"), /has all channels off$/);
    }
  });

  it("that is a link to what is not there counts as one that cannot be read, and closes the gateway", async () => {
    await symlink(join(home, "not-mounted", "config.json"), join(home, "config.json"));
    const { config, problems, unparsable } = await loadConfig({ home, env: {} });
    assert.equal(unparsable?.path, join(home, "config.json"));
    assert.match(config.gateway.token ?? "", /^\w{48}$/);
    assert.match(problems.join("\n"), /config\.json cannot be read: it is a link, and what it leads to is not there/);
  });

  it("that cannot be read, being a folder, stops nothing", async () => {
    await mkdir(join(home, "config.json"));
    const loaded = await loadConfig({ home, env: {} });
    assert.ok(loaded.unparsable);
  });
});

describe("an unknown key", () => {
  it("is told with the key that was probably meant, and the rest counts", async () => {
    const { config, problems } = await load({
      gatway: {},
      agents: { defaults: { maxTokenz: 5, model: "x/y" } },
      channels: { telgram: { enabled: true } },
      providers: { openai: { apiKye: "sk-secret-0123456789", apiKey: "sk-0123456789" } },
      telegram: {},
      qwertzuiop: 1,
    });
    const told = problems.join("\n");
    assert.match(told, /"gatway" is ignored; did you mean "gateway"/);
    assert.match(told, /"agents\.defaults\.maxTokenz" is ignored; did you mean "maxTokens"/);
    assert.match(told, /"channels\.telgram" is ignored; did you mean "telegram"/);
    assert.match(told, /"providers\.openai\.apiKye" is ignored; did you mean "apiKey"/);
    assert.match(told, /"telegram" is ignored; did you mean "channels\.telegram"/);
    assert.match(told, /"qwertzuiop" is ignored$/m);
    assert.equal(problems.length, 6);
    assert.ok(!told.includes("sk-secret"));
    assert.equal(config.agents.defaults.model, "x/y");
    assert.equal(config.providers.openai?.apiKey, "sk-0123456789");
  });

  it("is none when it is only spelled in another style", async () => {
    const { config, problems } = await load({
      agents: { defaults: { max_tokens: 5, "execution-mode": "safe", MAXTOOLITERATIONS: 3 } },
      providers: { openai: { api_key: "key-in-snake-case", apikey: "other" } },
    });
    assert.deepEqual(problems, []);
    assert.equal(config.agents.defaults.maxTokens, 5);
    assert.equal(config.agents.defaults.executionMode, "safe");
    assert.equal(config.agents.defaults.maxToolIterations, 3);
    assert.equal(config.providers.openai?.apiKey, "key-in-snake-case");
  });
});

describe("a value of the wrong type", () => {
  it("turns off its channel only", async () => {
    const { config, problems, off } = await load({
      channels: { telegram: { enabled: true, token: bot, allowFrom: "42" } },
      gateway: { port: 4711 },
    });
    assert.equal(config.channels.telegram, undefined);
    assert.equal(config.gateway.port, 4711);
    assert.deepEqual(problems, ["channels.telegram.allowFrom: expected a list, got a text; channels.telegram is off"]);
    assert.deepEqual(off, [
      { section: "channels.telegram", reason: "channels.telegram.allowFrom: expected a list, got a text" },
    ]);
    assert.ok(!JSON.stringify(problems).includes(bot));
  });

  it("turns off its provider only", async () => {
    const { config, problems } = await load({
      providers: { openai: { apiKey: ["sk-secret-0123456789"] }, groq: { apiKey: "gsk-0123456789" }, zhipu: 5 },
    });
    assert.deepEqual(Object.keys(config.providers), ["groq"]);
    assert.deepEqual(problems, [
      "providers.openai.apiKey: expected a text, got a list; providers.openai is off",
      "providers.zhipu: expected an object, got 5; providers.zhipu is off",
    ]);
  });

  it("elsewhere leaves that key its default and keeps its neighbours", async () => {
    const { config, problems } = await load({
      agents: { defaults: { maxTokens: "many", temperature: 9, executionMode: "aks", workspace: "/srv/ws" } },
      gateway: { port: 70000, token: "the-token-stays", allowedOrigins: ["https://a.example", 5] },
      skills: [],
      engine: { kind: "postgress" },
      owners: ["telegram:42", "no colon"],
      prices: { good: { input: 1, output: 2 }, bad: { input: 1 } },
      tools: "none",
    });
    const { defaults } = config.agents;
    assert.deepEqual([defaults.maxTokens, defaults.temperature, defaults.executionMode], [8192, 0.7, "ask"]);
    assert.equal(defaults.workspace, "/srv/ws");
    assert.equal(config.gateway.port, 18890);
    assert.equal(config.gateway.token, "the-token-stays");
    assert.deepEqual(config.gateway.allowedOrigins, []);
    assert.equal(config.skills.default, "auto");
    assert.deepEqual(Object.keys(config.prices), ["good"]);
    assert.equal(config.tools.restrictToWorkspace, true);
    assert.match(
      problems.join("\n"),
      /agents\.defaults\.maxTokens: expected a number, got a text; its default is used/,
    );
    assert.match(problems.join("\n"), /agents\.defaults\.temperature: expected at most 2, got 9/);
    assert.match(problems.join("\n"), /expected one of safe, ask, auto, got a text \(did you mean "ask"\?\)/);
    assert.match(problems.join("\n"), /gateway\.port: expected at most 65535, got 70000/);
    assert.match(problems.join("\n"), /tools: expected an object, got a text/);
    assert.match(problems.join("\n"), /prices\.bad\.output: expected a number, got nothing/);
    assert.equal(problems.length, 10);
  });

  it("as the gateway's token never opens the gateway", async () => {
    const { config, problems } = await load({ gateway: { host: "0.0.0.0", token: { value: "x" } } });
    assert.ok((config.gateway.token?.length ?? 0) >= 32);
    assert.match(problems.join(), /gateway\.token: expected a text, got an object/);
  });

  it("is forgiven where only one thing can be meant", async () => {
    const { config, problems } = await load({
      channels: { telegram: { enabled: "true", token: bot, allowFrom: [42, " 43 ", "*"] } },
      gateway: { port: "4711" },
      providers: { local: { apiBase: "http://127.0.0.1:1", apiFormat: "OpenAI", models: ["small"] } },
    });
    assert.deepEqual(problems, []);
    assert.deepEqual(config.channels.telegram?.allowFrom, ["42", "43", "*"]);
    assert.equal(config.gateway.port, 4711);
    assert.equal(config.providers.local?.apiFormat, "openai");
    assert.deepEqual(config.providers.local?.models, [{ id: "small", enabled: true }]);
  });

  it("in a channel that is switched off is nobody's business", async () => {
    const { problems } = await load({ channels: { telegram: { enabled: false, token: 5, allowFrom: "x" } } });
    assert.deepEqual(problems, []);
  });
});

describe("secrets", () => {
  it("come from the environment first, then from secrets.json", async () => {
    await writeFile(join(home, "secrets.json"), JSON.stringify({ A: "a-of-the-file", B: "b-of-the-file" }), {
      mode: 0o600,
    });
    const { config, problems, secrets } = await load(
      {
        providers: {
          one: { apiKey: variable("A") },
          two: { apiKey: `x-${variable("B")}-y` },
          three: { apiKey: `$${variable("B")}` },
        },
      },
      { A: "a-of-the-environment" },
    );
    assert.deepEqual(problems, []);
    assert.equal(config.providers.one?.apiKey, "a-of-the-environment");
    assert.equal(config.providers.two?.apiKey, "x-b-of-the-file-y");
    assert.equal(config.providers.three?.apiKey, variable("B"));
    for (const secret of ["a-of-the-environment", "b-of-the-file", "x-b-of-the-file-y"])
      assert.ok(secrets.includes(secret));
  });

  it("that are defined nowhere turn their section off", async () => {
    const { config, problems } = await load({
      channels: { telegram: { enabled: true, token: variable("TELEGRAM_BOT_TOKEN") } },
      providers: { openai: { apiKey: variable("OPENAI_API_KEY") } },
    });
    assert.deepEqual([config.channels, config.providers], [{}, {}]);
    const key = `providers.openai.apiKey uses ${variable("OPENAI_API_KEY")}`;
    assert.ok(
      problems.includes(
        `${key}, but no such variable is in the environment or in secrets.json; providers.openai is off`,
      ),
    );
    assert.match(problems.join("\n"), /\$\{TELEGRAM_BOT_TOKEN\}.*channels\.telegram is off/);
  });

  it("that others can read are told", async () => {
    await writeFile(join(home, "secrets.json"), '{"A": "value", "B": 5}');
    await chmod(join(home, "secrets.json"), 0o644);
    const { problems } = await load({});
    assert.match(problems.join("\n"), /secrets\.json can be read by others.*chmod 600/);
    assert.match(problems.join("\n"), /B is left out/);
    await chmod(join(home, "secrets.json"), 0o600);
    await writeFile(join(home, "secrets.json"), '{"A": ');
    assert.match((await load({})).problems.join(), /secrets\.json cannot be read, line 1/);
    assert.equal((await stat(join(home, "secrets.json"))).mode & 0o777, 0o600);
  });

  it("and the config are told when others can reach them in an open home, or change them", async () => {
    const told = async (): Promise<string> => (await loadConfig({ home, env: {} })).problems.join("\n");
    await load({ providers: { openai: { apiKey: "sk-in-the-config" } } });
    await chmod(join(home, "config.json"), 0o644);
    assert.equal(await told(), "", "nobody else gets into a home that is closed");
    await chmod(home, 0o755);
    assert.match(await told(), /config\.json can be read by others on this machine: chmod 600/);
    assert.match(await told(), /Others on this machine can look into .*: chmod 700/);
    assert.doesNotMatch(await told(), /sk-in/);
    await chmod(join(home, "config.json"), 0o666);
    assert.match(await told(), /config\.json can be changed by others on this machine: chmod 600/);
    await chmod(join(home, "config.json"), 0o600);
    await chmod(home, 0o777);
    assert.match(await told(), /Others on this machine can change what is in .*: chmod 700/);
    await chmod(home, 0o700);
    await writeFile(join(home, "secrets.json"), "{", { mode: 0o644 });
    assert.match(await told(), /secrets\.json can be read by others/, "also one that cannot be understood");
    const apart = join(home, "apart");
    await mkdir(apart, { mode: 0o755 });
    await writeFile(join(apart, "other.json"), '{"gateway":{"token":"a-long-token"}}', { mode: 0o644 });
    await rm(join(home, "secrets.json"));
    const named = await loadConfig({ home, configPath: join(apart, "other.json"), env: {} });
    assert.match(named.problems.join("\n"), /other\.json can be read by others/);
    assert.doesNotMatch(named.problems.join("\n"), /look into|a-long-token/);
    await writeFile(join(apart, "other.json"), JSON.stringify({ gateway: { token: variable("T") } }));
    const without = await loadConfig({ home, configPath: join(apart, "other.json"), env: { T: "a-long-token" } });
    assert.deepEqual(without.problems, [], "a config without keys may be read");
  });

  it("are a problem until the named command was run, and other problems stay", async () => {
    await load({ providers: { openai: { apiKey: "sk-in-the-config" } }, unknown: 1 });
    await chmod(join(home, "config.json"), 0o644);
    await chmod(home, 0o755);
    const { problems } = await loadConfig({ home, env: {} });
    assert.deepEqual([problems.length, problems.filter(isUnmended).length], [3, 3]);
    await chmod(home, 0o700);
    await chmod(join(home, "config.json"), 0o600);
    assert.deepEqual(problems.filter(isUnmended), ['unknown key "unknown" is ignored']);
  });

  it("of the config are all listed for masking, short ones left out", async () => {
    const { secrets } = await load({
      channels: { telegram: { enabled: true, token: bot } },
      gateway: { token: "gateway-token" },
      providers: { openai: { apiKey: "short" } },
      tools: { mcpServers: { a: { url: "https://x.example", headers: { Authorization: "Bearer abcdefgh" } } } },
    });
    assert.deepEqual([...secrets].sort(), [bot, "Bearer abcdefgh", "gateway-token"].sort());
  });
});

describe("what was read", () => {
  it("takes the token from MAXCLAW_TOKEN first", async () => {
    const { config } = await load({ gateway: { token: "of the file" } }, { MAXCLAW_TOKEN: "of the environment" });
    assert.equal(config.gateway.token, "of the environment");
  });

  it("keeps an address that others reach, and asks for a token", async () => {
    const open = await load({ gateway: { host: "0.0.0.0" } });
    assert.equal(open.config.gateway.host, "0.0.0.0");
    assert.equal(listenHost(open.config.gateway), "127.0.0.1");
    assert.equal(listenHost({ host: "0.0.0.0", token: "t" }), "0.0.0.0");
    assert.match(open.problems.join(), /gateway\.host is 0\.0\.0\.0, but gateway\.token is not set/);
    const guarded = (token: string) => load({ gateway: { host: "0.0.0.0", token } });
    assert.deepEqual((await guarded("0123456789abcdef")).problems, []);
    assert.match((await guarded("0123456789")).problems.join(), /gateway\.token has less than 16 characters/);
    assert.doesNotMatch((await guarded("0123456789")).problems.join(), /0123/);
    assert.deepEqual((await load({ gateway: { host: "::1" } })).problems, []);
  });

  it("has an absolute workspace, whatever was written", async () => {
    const of = async (workspace: string) =>
      (await load({ agents: { defaults: { workspace } } }, { HOME: "/home/ada", WS: "/srv" })).config.agents.defaults
        .workspace;
    assert.equal(await of("~/ws"), "/home/ada/ws");
    assert.equal(await of("$HOME/ws"), "/home/ada/ws");
    assert.equal(await of(`${variable("WS")}/ws`), "/srv/ws");
    assert.equal(await of("ws"), join(home, "ws"));
    assert.equal(await of(""), join(home, "workspace"));
  });

  it("refuses to run a channel that has no token", async () => {
    const { config, problems } = await load({ channels: { telegram: { enabled: true, token: " " } } });
    assert.equal(config.channels.telegram, undefined);
    assert.deepEqual(problems, ["channels.telegram is enabled but has no token; channels.telegram is off"]);
  });

  it("names what a mailbox cannot be used without", async () => {
    const mailbox = { enabled: true, consentGranted: true, imapHost: "i", imapUsername: "me@x.org", smtpHost: "s" };
    const problemOf = async (section: object): Promise<string | undefined> => {
      const { problems } = await load({ channels: { email: { ...mailbox, imapPassword: "p", ...section } } });
      return /has no (.*); channels\.email is off$/.exec(problems[0] ?? "")?.[1] ?? problems[0];
    };
    assert.equal(await problemOf({}), undefined);
    assert.equal(await problemOf({ consentGranted: false, imapHost: "" }), undefined);
    for (const key of ["imapHost", "imapUsername", "smtpHost"]) assert.equal(await problemOf({ [key]: "" }), key);
    assert.match((await problemOf({ imapUsername: "me" })) ?? "", /^fromAddress/);
    assert.match((await problemOf({ imapPassword: "" })) ?? "", /^imapPassword, oauth/);
    assert.equal(await problemOf({ imapPassword: "", oauth: { refreshToken: "r" } }), undefined);
  });

  it("merges mcpServers of the top level, splits a pasted command, and refuses a server that is none", async () => {
    const { config, problems } = await load({
      mcpServers: { a: { command: "npx -y server-a" }, b: { url: "https://old.example" } },
      tools: {
        mcpServers: { b: { url: "https://b.example" }, c: {}, d: { command: "run", args: ["x y"] }, e: { command: 5 } },
      },
    });
    const { a, b, c, d, e } = config.tools.mcpServers;
    assert.deepEqual([a?.command, a?.args], ["npx", ["-y", "server-a"]]);
    assert.deepEqual([d?.command, d?.args], ["run", ["x y"]]);
    assert.equal(b?.url, "https://b.example");
    assert.deepEqual([c, e], [undefined, undefined]);
    assert.deepEqual(problems, [
      "tools.mcpServers.e.command: expected a text, got 5; tools.mcpServers.e is off",
      "tools.mcpServers.c needs either a command or a url; tools.mcpServers.c is off",
    ]);
  });
});

describe("a config of the Go maxclaw", () => {
  it("works as it is, its WhatsApp too", async () => {
    const text = await readFile(projectFile("test/fixtures/go-config.json"), "utf8");
    const { config, problems, off, unparsable } = await load(text);
    assert.equal(unparsable, undefined);
    assert.deepEqual(problems, [
      "gateway.host is 0.0.0.0, but gateway.token is not set: only this machine can reach the gateway until it is (gateway.token in the config, or MAXCLAW_TOKEN)",
    ]);
    assert.deepEqual(off, []);
    assert.deepEqual(config.agents.defaults, {
      workspace: "/srv/nanobot/workspace",
      model: "deepseek-chat",
      maxTokens: 4096,
      contextWindow: 128_000,
      compactAt: 0.8,
      temperature: 0.3,
      maxToolIterations: 200,
      executionMode: "auto",
      quietMs: 600,
      quietAfter: "unfinished",
      enableGlobalSkills: false,
      fallbacks: [],
    });
    assert.deepEqual(Object.keys(config.providers), ["deepseek"]);
    assert.equal(config.providers.deepseek?.models[1]?.enabled, false);
    assert.deepEqual(config.channels.telegram?.allowFrom, ["4242"]);
    assert.equal(config.tools.restrictToWorkspace, false);
    assert.deepEqual(config.tools.mcpServers.everything?.args, ["-y", "@modelcontextprotocol/server-everything"]);
  });
});

describe("the policy section", () => {
  it("gives its rules in order", async () => {
    const rules = [{ tool: "exec", argument: "git *", verdict: "allow" }, { verdict: "ask" }];
    const { config, problems } = await load(JSON.stringify({ policy: { rules } }));
    assert.deepEqual(problems, []);
    assert.deepEqual(config.policy, { rules, answerSeconds: 300, passOnSeconds: 60 });
  });

  it("lets everything ask while anything in it is wrong, for half a rule could allow too much", async () => {
    for (const policy of [
      { rules: [{ tols: "exec", verdict: "allow" }] },
      { rules: [{ verdict: "allowed" }] },
      { rules: [{ tool: "exec" }] },
      { rules: [{ tool: 7, verdict: "deny" }] },
      { rules: "none" },
      { rulez: [{ verdict: "deny" }] },
      ["deny"],
    ]) {
      const { config, problems } = await load(JSON.stringify({ policy, owners: ["telegram:1"] }));
      assert.deepEqual(config.policy.rules, [{ verdict: "ask" }], JSON.stringify(policy));
      assert.match(problems.join("\n"), /policy.*every use of a tool asks/, JSON.stringify(policy));
      assert.deepEqual(config.owners, ["telegram:1"]);
    }
  });

  it("keeps its rules when only a number in it is wrong", async () => {
    const policy = { rules: [{ verdict: "deny" }], answerSeconds: "soon" };
    const { config, problems } = await load(JSON.stringify({ policy }));
    assert.deepEqual(config.policy, { rules: [{ verdict: "deny" }], answerSeconds: 300, passOnSeconds: 60 });
    assert.equal(problems.length, 1);
  });
});
