import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { blankConfig } from "../../../src/config/blank.js";
import { loadConfig } from "../../../src/config/load.js";
import { acquireLock } from "../../../src/engine/embedded/locking/lock.js";
import { silentLog } from "../../../src/log.js";
import { parseJson5 } from "../../../src/migrate/openclaw/json5.js";
import { type MigratedHome, migrate } from "../../../src/offline/migrate.js";
import { workspaceTemplates } from "../../../src/templates/workspace.js";
import { tempHome } from "../../support/worlds/gateway.js";
import { goHome, nanobotHome, openclawHome, snapshot, writeFiles } from "../../support/worlds/old-homes.js";

const homes = { ".maxclaw": goHome, ".nanobot": nanobotHome, ".openclaw": openclawHome } as const;

/** A person's folder with old homes in it, and a new home `new` beside them. */
async function openPlace(names: readonly (keyof typeof homes)[] = [".maxclaw", ".nanobot", ".openclaw"]) {
  const homedir = await tempHome();
  for (const name of names) await writeFiles(join(homedir, name), homes[name]);
  const home = join(homedir, "new");
  const workspace = join(home, "workspace");
  const target = { home, workspace, configFile: join(home, "config.json") };
  const run = (
    isApplied: boolean,
    more: Partial<Parameters<typeof migrate>[0]> = {},
  ): Promise<readonly MigratedHome[]> =>
    migrate({ target, homedir, from: undefined, kind: undefined, isApplied, now: Date.now(), ...more });
  const read = (path: string): Promise<string> => readFile(join(home, path), "utf8");
  return { homedir, home, workspace, target, run, read };
}

const hasSqlite = spawnSync("sqlite3", ["--version"]).status === 0;

type Statement = string | readonly [sql: string, ...values: string[]];

function writeDatabase(path: string, statements: readonly Statement[]): void {
  const written = statements.map((statement) => {
    if (typeof statement === "string") return statement;
    const [sql, ...values] = statement;
    return values.reduce((text, value) => text.replace("?", () => `'${value.replaceAll("'", "''")}'`), sql);
  });
  execFileSync("sqlite3", ["-batch", path], { input: `${written.join(";\n")};\n`, stdio: "pipe" });
}

const linesOf = (found: readonly MigratedHome[]): readonly string[] =>
  found.flatMap(({ kind, steps }) => steps.map(({ area, what, status }) => `${kind} ${area} ${status} ${what}`));

describe("migrate", () => {
  test("only tells by default, and leaves both sides alone", async () => {
    const { homedir, run } = await openPlace();
    const before = await snapshot(homedir);
    const found = await run(false);
    assert.deepEqual(
      found.map(({ kind }) => kind),
      ["maxclaw", "nanobot", "openclaw"],
    );
    assert.ok(linesOf(found).includes("maxclaw sessions new telegram:42, 2 messages"), linesOf(found).join("\n"));
    assert.deepEqual(await snapshot(homedir), before);
  });

  test("takes over notes, skills, sessions, jobs and config, and a second time changes nothing", async () => {
    const { homedir, home, run, read } = await openPlace();
    await writeFiles(join(homedir, ".maxclaw/workspace/.sessions/telegram_42"), { "plan.json": { goal: "tea" } });
    const sources = async () => [await snapshot(join(homedir, ".maxclaw")), await snapshot(join(homedir, ".openclaw"))];
    const before = await sources();
    const first = await run(true);
    assert.deepEqual(
      linesOf(first).filter((line) => / failed /.test(line)),
      [],
    );
    assert.deepEqual(await sources(), before);

    const memory = await read("workspace/memory/MEMORY.md");
    assert.match(
      memory,
      /^## From maxclaw: .*\n\nThe cat is called Momo\.\n\n## From nanobot: [\s\S]*Rex\.\n\n## From openclaw: [\s\S]*Pip\.\n$/,
    );
    assert.match(await read("workspace/SOUL.md"), /Be kind\.[\s\S]*You are Clawd\./);
    assert.match(await read("workspace/memory/heartbeat.md"), /oven/);
    assert.match(await read("workspace/memory/2026-01-01.md"), /eagle/);
    assert.equal(await read("workspace/skills/tea/cups.txt"), "two");
    assert.equal(await read("workspace/.uploads/photo.txt"), "a photo");

    assert.equal(await read("workspace/.sessions/telegram_42/plan.json"), '{"goal":"tea"}');
    const dog = JSON.parse(await read("workspace/.sessions/telegram_77.json"));
    assert.deepEqual(
      dog.messages.map(({ role, content }: { role: string; content: string }) => [role, content]),
      [
        ["user", "My dog is Rex."],
        ["assistant", "Noted, Rex."],
      ],
    );
    assert.equal(JSON.parse(await read("workspace/.sessions/telegram_42.json")).metadata.lastSequence, undefined);
    for (const name of ["telegram_99", "telegram_-100%3a5", "webui_openclaw-s0", "webui_nanobot-heartbeat"])
      assert.equal((await stat(join(home, `workspace/.sessions/${name}.json`))).mode & 0o777, 0o600, name);

    const files = await readdir(join(home, "workspace/.cron"));
    const jobs = JSON.parse(await read(`workspace/.cron/${files.find((name) => name.startsWith("from-openclaw-"))}`));
    assert.deepEqual(jobs.c1.schedule, { type: "cron", expr: "0 8 * * *", timeZone: "Europe/Berlin" });
    assert.deepEqual(jobs.c1.payload, { message: "Feed the bird", channels: ["telegram"], to: "99" });

    const config = JSON.parse(await read("config.json"));
    assert.equal((await stat(join(home, "config.json"))).mode & 0o777, 0o600);
    assert.deepEqual(config.channels.telegram, { enabled: true, token: "1:go", allowFrom: ["*"] });
    assert.deepEqual(config.channels.email, {
      ...{ enabled: true, imapHost: "imap.test", imapUseSSL: true },
      allowFrom: ["ada@example.org"],
    });
    assert.equal(config.channels.mattermost, undefined);
    assert.deepEqual(config.channels.whatsapp, goHome["config.json"].channels.whatsapp);
    assert.deepEqual(config.providers.groq, { apiKey: `\${GROQ_KEY}` });
    assert.deepEqual(config.providers.anthropic, { apiKey: "sk-nano" });
    assert.deepEqual(config.providers["my-proxy"], {
      ...{ apiKey: `\${PROXY_KEY}`, apiBase: "http://localhost:4000/v1", apiFormat: "openai" },
      models: [{ id: "llama", maxTokens: 32_000, contextWindow: 128_000, supportsImageInput: false }],
    });
    assert.equal(config.agents.defaults.model, "openai/go-model");
    assert.equal(config.agents.defaults.executionMode, "auto");
    assert.equal(config.agents.defaults.workspace, undefined);
    assert.deepEqual(config.tools.mcpServers.files, { command: "npx", env: { A_KEY: "1" } });

    const loaded = await loadConfig({ home, env: { HOME: homedir, GROQ_KEY: "g", PROXY_KEY: "p" } });
    assert.deepEqual(loaded.problems, []);
    assert.equal(loaded.config.providers["my-proxy"]?.apiKey, "p");

    const problems = first.flatMap((one) => one.problems.map(({ what, why }) => `${what}: ${why}`)).join("\n");
    for (const told of [/channels\.mattermost/, /broken\.json: it is not JSON/, /job past: its time has passed/])
      assert.match(problems, told);
    for (const told of [
      /channels\.dingtalk/,
      /grace/,
      /empty\.jsonl/,
      /job bad/,
      /openai-codex:me/,
      /channels\.signal/,
    ])
      assert.match(problems, told);
    const remarks = first.flatMap(({ steps }) => steps.map(({ remark }) => remark ?? "")).join("\n");
    assert.match(remarks, /tools never ask, as before/);
    assert.match(remarks, /1 lines cannot be read: 5/);

    const after = await snapshot(home);
    const second = await run(true);
    assert.deepEqual(
      linesOf(second).filter((line) => / (new|failed) /.test(line)),
      [],
    );
    assert.deepEqual(await snapshot(home), after);
  });

  test("keeps what is there: notes above, other skills, sessions and sections as they are", async () => {
    const { home, run, read } = await openPlace([".maxclaw"]);
    const mine = {
      "config.json": { channels: { telegram: { enabled: true, token: "9:mine", allowFrom: [] } } },
      "workspace/AGENTS.md": workspaceTemplates["AGENTS.md"] ?? "",
      "workspace/memory/MEMORY.md": "I am mine.\n",
      "workspace/skills/tea/SKILL.md": "my own tea",
      "workspace/.sessions/telegram_42.json": { key: "telegram:42", messages: [{ role: "user", content: "mine" }] },
      "workspace/.cron/jobs.json": {},
    };
    await writeFiles(home, mine);
    const found = linesOf(await run(true));
    for (const line of [
      "skills kept skills/tea",
      "sessions kept telegram:42, 2 messages",
      "config kept channels.telegram",
    ])
      assert.ok(found.includes(`maxclaw ${line}`), `${line} in\n${found.join("\n")}`);
    assert.match(await read("workspace/memory/MEMORY.md"), /^I am mine\.\n\n## From maxclaw: [^\n]*\n\nThe cat/);
    assert.match(await read("workspace/AGENTS.md"), /^## From maxclaw: [^\n]*\n\nAlways answer in rhymes\.\n$/);
    assert.equal(await read("workspace/skills/tea/SKILL.md"), "my own tea");
    await assert.rejects(read("workspace/skills/tea/cups.txt"));
    assert.match(await read("workspace/.sessions/telegram_42.json"), /mine/);
    assert.equal(await read("workspace/.cron/jobs.json"), "{}");
    const config = JSON.parse(await read("config.json"));
    assert.deepEqual(config.channels.telegram, { enabled: true, token: "9:mine", allowFrom: [] });
    assert.equal(config.providers.openai.apiKey, "sk-go");
  });

  test("adds a note once, also where its text was changed since or has been there all along", async () => {
    const { home, run, read } = await openPlace([".maxclaw"]);
    await writeFiles(home, { "workspace/memory/HISTORY.md": "Before.\n2025-01-01: we met.\nAfter.\n" });
    await run(true);
    assert.equal(await read("workspace/memory/HISTORY.md"), "Before.\n2025-01-01: we met.\nAfter.\n");
    const changed = (await read("workspace/memory/MEMORY.md")).replace("Momo", "Mimi");
    await writeFiles(home, { "workspace/memory/MEMORY.md": changed });
    assert.ok(linesOf(await run(true)).includes("maxclaw memory kept memory/MEMORY.md"));
    assert.equal(await read("workspace/memory/MEMORY.md"), changed);
  });

  test("takes every conversation over where several belong to one chat, and none over one that has only its log left", async () => {
    const { homedir, home, run, read } = await openPlace([".maxclaw", ".openclaw"]);
    const line = { type: "message", message: { role: "user", content: "The other agent." } };
    await writeFiles(join(homedir, ".openclaw/agents/work/sessions"), {
      "sessions.json": { "agent:work:telegram:direct:99": { sessionId: "w1" } },
      "w1.jsonl": JSON.stringify(line),
    });
    const odd = { key: "../../outside:1", messages: [{ role: "user", content: "x" }] };
    await writeFiles(join(homedir, ".maxclaw/workspace/.sessions"), { "odd.json": odd });
    await writeFiles(join(home, "workspace/.sessions"), {
      "telegram_42.events.jsonl": '{"session_key":"telegram:42","seq":1}\n',
    });
    const found = await run(true);
    assert.match(await read("workspace/.sessions/telegram_99.json"), /Pip/);
    assert.match(
      await read("workspace/.sessions/webui_openclaw-w1.json"),
      /"key": "webui:openclaw-w1"[\s\S]*other agent/,
    );
    await assert.rejects(read("workspace/.sessions/telegram_42.json"));
    assert.ok(linesOf(found).includes("maxclaw sessions kept telegram:42, 2 messages"));
    assert.ok(found[0]?.problems.some(({ what }) => what.endsWith("odd.json")));
  });

  test("takes the jobs of two homes of one kind, each once", async () => {
    const { homedir, home, run, read } = await openPlace([".nanobot"]);
    await writeFiles(join(homedir, "other"), {
      ...nanobotHome,
      "cron/jobs.json": {
        jobs: [{ id: "a1", name: "swim", schedule: { kind: "every", everyMs: 60_000 }, payload: { message: "Swim" } }],
      },
    });
    await run(true);
    await run(true, { from: join(homedir, "other") });
    await run(true, { from: join(homedir, "other") });
    const names = await readdir(join(home, "workspace/.cron"));
    const texts = await Promise.all(names.map((name) => read(`workspace/.cron/${name}`)));
    assert.deepEqual(
      texts.flatMap((text) => Object.values<{ name: string }>(JSON.parse(text)).map(({ name }) => name)).sort(),
      ["swim", "walk"],
    );
  });

  test("finds what newer nanobots keep elsewhere: sessions by workspace, history as lines, the model of a preset", async () => {
    const { homedir, run, read } = await openPlace([]);
    const [own, other] = ["a".repeat(32), "0".repeat(32)];
    const said = (key: string, content: string, more: object = {}) =>
      `${JSON.stringify({ _type: "metadata", key, metadata: more })}\n${JSON.stringify({ _type: "provider_state", state: {} })}\n${JSON.stringify({ role: "user", content })}\n`;
    await writeFiles(join(homedir, ".nanobot"), {
      "config.json": {
        agents: { defaults: { modelPreset: "my_fast", model: "old", provider: "auto", fallbackModels: ["spare"] } },
        modelPresets: {
          my_fast: { model: "llama-3", provider: "lm_studio", maxTokens: 999 },
          spare: { model: "anthropic/claude", provider: "anthropic" },
        },
      },
      "workspace/.nanobot/workspace-id": `${own}\n`,
      "workspace/memory/history.jsonl": `{"cursor":1,"timestamp":"2026-05-01 10:00","content":"We met."}\n{"cursor":2,"timestamp":"2026-05-02 10:00","content":"We ate."}\n`,
      [`sessions/${own}/dGVsZWdyYW06Nzc.jsonl`]: said("telegram:77", "Mine."),
      [`sessions/${own}/dW5pZmllZDpkZWZhdWx0.jsonl`]: said("unified:default", "All.", { last_channel: "discord:5" }),
      [`sessions/${other}/dGVsZWdyYW06Nzc.jsonl`]: said("telegram:77", "Another workspace's."),
    });
    await run(true);
    assert.match(await read("workspace/.sessions/telegram_77.json"), /Mine\./);
    assert.match(await read("workspace/.sessions/discord_5.json"), /All\./);
    assert.match(await read("workspace/.sessions/webui_nanobot-dgvszwdyyw06nzc.json"), /Another workspace's/);
    assert.match(
      await read("workspace/memory/HISTORY.md"),
      /\[2026-05-01 10:00\] We met\.\n\n\[2026-05-02 10:00\] We ate\./,
    );
    const { model, maxTokens, fallbacks } = JSON.parse(await read("config.json")).agents.defaults;
    assert.deepEqual([model, maxTokens, fallbacks], ["lmstudio/llama-3", 999, ["anthropic/claude"]]);
    assert.ok(linesOf(await run(true)).every((line) => !/ new /.test(line)));
  });

  test("reads the files that a config of OpenClaw includes, and none from outside of its folder", async () => {
    const { homedir, run, read } = await openPlace([]);
    await writeFiles(homedir, { "outside.json5": "{ channels: { discord: { token: 'stolen' } } }" });
    await writeFiles(join(homedir, ".openclaw"), {
      "openclaw.json": `{ $include: ["./base.json5", "../outside.json5", "./gone.json5"],
        channels: { telegram: { $include: "parts/bot.json5", allowFrom: [7] }, discord: { accounts: { work: { token: 'w' }, default: { token: 'd', allowFrom: ['5'] } } } } }`,
      "base.json5":
        "{ agents: { defaults: { model: 'a/base' } }, channels: { telegram: { enabled: false, allowFrom: [6] } } }",
      "parts/bot.json5": "{ botToken: '3:claw', enabled: true }",
    });
    const [found] = await run(true);
    const { agents, channels } = JSON.parse(await read("config.json"));
    assert.equal(agents.defaults.model, "a/base");
    assert.deepEqual(channels.telegram, { enabled: true, token: "3:claw", allowFrom: ["6", "7"] });
    assert.deepEqual(channels.discord, { enabled: true, token: "d", allowFrom: ["5"] });
    const told = found?.problems.map(({ what }) => what).join("\n") ?? "";
    assert.match(told, /\$include \.\.\/outside\.json5\n.*\$include \.\/gone\.json5/);
  });

  test("takes conversations, jobs and keys out of OpenClaw's databases, and leaves these as they are", {
    skip: !hasSqlite && "needs the program sqlite3 (Debian: apt-get install sqlite3)",
  }, async () => {
    const { homedir, run, read } = await openPlace([".openclaw"]);
    const claw = join(homedir, ".openclaw");
    await mkdir(join(claw, "state"));
    const event = (content: string) => JSON.stringify({ type: "message", message: { role: "user", content } });
    writeDatabase(join(claw, "agents/main/agent/openclaw-agent.sqlite"), [
      "PRAGMA journal_mode = WAL",
      "CREATE TABLE session_nodes (session_key TEXT, current_session_id TEXT, entry_json TEXT)",
      "CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT)",
      "CREATE TABLE auth_profile_store (store_key TEXT, store_json TEXT)",
      ["INSERT INTO session_nodes VALUES (?, ?, ?)", "agent:main:telegram:direct:55", "n'1", "{}"],
      [
        "INSERT INTO session_nodes VALUES (?, ?, ?)",
        "agent:main:main",
        "s1",
        '{"lastChannel":"telegram","lastTo":"telegram:99"}',
      ],
      ["INSERT INTO transcript_events VALUES (?, 2, ?)", "n'1", event("My fish is Blub.")],
      ["INSERT INTO transcript_events VALUES (?, 1, ?)", "n'1", event("Hello «fish».")],
      ["INSERT INTO transcript_events VALUES (?, 3, ?)", "n'1", "broken"],
      ["INSERT INTO transcript_events VALUES (?, 1, ?)", "s1", event("From the database.")],
      ["INSERT INTO transcript_events VALUES (?, 1, ?)", "gone", event("Left behind.")],
      [
        "INSERT INTO auth_profile_store VALUES ('primary', ?)",
        '{"profiles":{"groq:default":{"type":"api_key","provider":"groq","key":"sk-groq"}}}',
      ],
    ]);
    const job = {
      id: "c2",
      name: "swim",
      schedule: { kind: "every", everyMs: 60_000 },
      payload: { kind: "agentTurn", message: "Swim" },
    };
    writeDatabase(join(claw, "state/openclaw.sqlite"), [
      "CREATE TABLE cron_jobs (job_id TEXT, job_json TEXT)",
      "CREATE TABLE auth_profile_stores (store_key TEXT, store_json TEXT)",
      ["INSERT INTO cron_jobs VALUES ('c2', ?)", JSON.stringify(job)],
      [
        "INSERT INTO auth_profile_stores VALUES ('shared', ?)",
        '{"profiles":{"xai:default":{"type":"api_key","provider":"xai","key":"sk-xai"}}}',
      ],
    ]);
    const before = await snapshot(claw);
    const found = await run(true);
    assert.deepEqual(await snapshot(claw), before);
    const messages = async (name: string) =>
      JSON.parse(await read(`workspace/.sessions/${name}.json`)).messages.map(
        ({ content }: { content: string }) => content,
      );
    assert.deepEqual(await messages("telegram_55"), ["Hello «fish».", "My fish is Blub."]);
    // The file of that conversation is what the database has grown from.
    assert.deepEqual(await messages("telegram_99"), ["From the database."]);
    assert.deepEqual(await messages("webui_openclaw-gone"), ["Left behind."]);
    assert.deepEqual(await messages("telegram_-100%3a5"), ["In a topic."]);
    const { providers } = JSON.parse(await read("config.json"));
    assert.deepEqual(
      [providers.groq.apiKey, providers.xai.apiKey, providers.anthropic.apiKey],
      ["sk-groq", "sk-xai", "sk-claw"],
    );
    const [jobs = ""] = await readdir(join(homedir, "new/workspace/.cron"));
    assert.deepEqual(Object.keys(JSON.parse(await read(`workspace/.cron/${jobs}`))), ["c1", "c2"]);
    assert.match(JSON.stringify(found), /1 lines cannot be read: 3/);

    await writeFiles(claw, { "state/openclaw.sqlite": "no database at all, but a text" });
    const [again] = await run(false);
    assert.equal(again?.problems.filter(({ what }) => what.endsWith("state/openclaw.sqlite")).length, 1);
  });

  test("takes keys, servers and models of a newer OpenClaw over, or names what stays behind", {
    skip: !hasSqlite && "needs the program sqlite3 (Debian: apt-get install sqlite3)",
  }, async () => {
    const { homedir, run, read } = await openPlace([]);
    const claw = join(homedir, ".openclaw");
    const server = { command: "npx", args: ["-y", "notes-server"], env: { KEY: "k" } };
    await writeFiles(claw, {
      "openclaw.json": {
        agents: { defaults: { model: { primary: "google/gemini-3-pro", fallbacks: ["zai/glm-4.6", "openai/b"] } } },
        models: { providers: { google: { api: "google-generative-ai", baseUrl: "https://x.test", models: [] } } },
        mcp: {
          servers: {
            notes: { ...server, workingDirectory: "/srv/notes" },
            far: { url: "https://mcp.test/mcp", transport: "streamable-http", headers: { A: "b" }, toolFilter: ["x"] },
          },
        },
      },
    });
    await mkdir(join(claw, "state"));
    const key = (provider: string) => ({
      [`${provider}:default`]: { type: "api_key", provider, key: `sk-${provider}` },
    });
    const profiles = { ...key("google"), ...key("zai"), ...key("nowhere"), "x:me": { type: "oauth", provider: "x" } };
    writeDatabase(join(claw, "state/openclaw.sqlite"), [
      "CREATE TABLE config_machine_state (state_key TEXT PRIMARY KEY, value_json TEXT, updated_at_ms INTEGER)",
      [
        "INSERT INTO config_machine_state VALUES ('authProfiles.store', ?, 1)",
        JSON.stringify({ version: 1, profiles }),
      ],
      ["INSERT INTO config_machine_state VALUES ('other', ?, 1)", JSON.stringify({ profiles: key("groq") })],
    ]);
    const found = JSON.stringify(await run(true));
    const config = JSON.parse(await read("config.json"));
    const { model, fallbacks } = config.agents.defaults;
    assert.deepEqual([model, fallbacks], ["gemini/gemini-3-pro", ["zai/glm-4.6", "openai/b"]]);
    assert.deepEqual(Object.keys(config.providers).sort(), ["gemini", "zai"]);
    assert.equal(config.providers.gemini.apiKey, "sk-google");
    assert.equal(config.providers.gemini.apiBase, undefined, "ours has an address that speaks what we speak");
    assert.deepEqual(config.providers.zai, { apiKey: "sk-zai", apiBase: "https://api.z.ai/api/paas/v4" });
    assert.deepEqual(config.tools.mcpServers, {
      notes: { ...server, cwd: "/srv/notes" },
      far: { url: "https://mcp.test/mcp", headers: { A: "b" }, type: "streamable-http" },
    });
    for (const left of ["providers.nowhere", "x:me", "mcp.servers.far: toolFilter"])
      assert.ok(found.includes(left), left);
    assert.ok(!found.includes("sk-"), "no secret is printed");
    const loaded = await loadConfig({ home: join(homedir, "new"), env: { HOME: homedir } });
    assert.deepEqual(loaded.problems, []);
  });

  test("takes nanobot's gateways over with their address, and the jobs that its own gateway has not seen yet", async () => {
    const { homedir, run, read } = await openPlace([]);
    const every = { kind: "every", everyMs: 3_600_000 };
    await writeFiles(join(homedir, ".nanobot"), {
      "config.json": {
        agents: { defaults: { model: "deepseek-ai/DeepSeek-V3", provider: "auto" } },
        providers: { siliconflow: { apiKey: "sk-flow" }, bedrock: { apiBase: "https://bedrock.test" } },
      },
      "cron/jobs.json": {
        version: 1,
        jobs: [
          { id: "old", name: "old", schedule: every, payload: { message: "old" } },
          { id: "gone", name: "gone", schedule: every, payload: { message: "gone" } },
          {
            id: "topic",
            name: "topic",
            schedule: every,
            payload: { message: "topic", channel: "telegram", to: "-1001", sessionKey: "telegram:-1001:topic:7" },
          },
        ],
      },
      "cron/action.jsonl": [
        { action: "del", params: { job_id: "gone" } },
        {
          action: "add",
          params: {
            id: "new",
            name: "new",
            enabled: true,
            schedule: { kind: "every", every_ms: 60_000, at_ms: null },
            payload: { kind: "agent_turn", message: "new", origin_channel: "telegram", origin_chat_id: "77" },
          },
        },
        { action: "update", params: { id: "old", name: "old", schedule: every, payload: { message: "changed" } } },
        "broken",
      ]
        .map((row) => (typeof row === "string" ? row : JSON.stringify(row)))
        .join("\n"),
    });
    const found = JSON.stringify(await run(true));
    const config = JSON.parse(await read("config.json"));
    assert.equal(config.agents.defaults.model, "siliconflow/deepseek-ai/DeepSeek-V3");
    assert.deepEqual(config.providers, {
      siliconflow: { apiKey: "sk-flow", apiBase: "https://api.siliconflow.cn/v1" },
    });
    assert.match(found, /providers\.bedrock/);
    assert.match(found, /action\.jsonl.*lines that cannot be read: 4/);
    const [file = ""] = await readdir(join(homedir, "new/workspace/.cron"));
    const jobs = JSON.parse(await read(`workspace/.cron/${file}`));
    assert.deepEqual(
      Object.entries(jobs).map(([id, job]) => [id, Object(job).payload]),
      [
        ["old", { message: "changed" }],
        ["topic", { message: "topic", channels: ["telegram"], to: "-1001", thread: "7" }],
        ["new", { message: "new", channels: ["telegram"], to: "77" }],
      ],
    );
  });

  test("takes OpenClaw's jobs to topics of Telegram over, however the topic is written", async () => {
    const { homedir, run, read } = await openPlace([]);
    const places = [
      "-1001:topic:7",
      "telegram:-1001:topic:7",
      "telegram:group:-1001:topic:7",
      "-1001:7",
      "tg:99",
      "@me",
    ];
    await writeFiles(join(homedir, ".openclaw"), {
      "openclaw.json": {},
      "cron/jobs.json": {
        jobs: places.map((to, index) => ({
          id: `j${index}`,
          schedule: { kind: "every", everyMs: 60_000 },
          payload: { kind: "agentTurn", message: to },
          delivery: { mode: "announce", channel: "telegram", to },
        })),
      },
    });
    await run(true);
    const [file = ""] = await readdir(join(homedir, "new/workspace/.cron"));
    const jobs = Object.values(JSON.parse(await read(`workspace/.cron/${file}`)));
    const topic = ["-1001", "7"];
    assert.deepEqual(
      jobs.map((job) => [Object(job).payload.to, Object(job).payload.thread]),
      [topic, topic, topic, topic, ["99", undefined], ["@me", undefined]],
    );
  });

  test("fills in what onboard has only made a place for, and leaves what somebody chose", async () => {
    const { home, run, read } = await openPlace([".maxclaw"]);
    const filled = structuredClone(blankConfig);
    await mkdir(home, { mode: 0o700 });
    await writeFile(
      join(home, "config.json"),
      JSON.stringify({ ...filled, channels: { ...filled.channels, telegram: { enabled: true, token: "mine" } } }),
    );
    const found = await run(true);
    const config = JSON.parse(await read("config.json"));
    assert.deepEqual([config.providers.openai.apiKey, config.agents.defaults.model], ["sk-go", "openai/go-model"]);
    assert.equal(config.agents.defaults.maxTokens, 4096);
    assert.equal(config.agents.defaults.executionMode, "ask", "how freely tools run may have been chosen");
    assert.equal(config.channels.telegram.token, "mine");
    assert.ok(linesOf(found).includes("maxclaw config kept channels.telegram"));
  });

  test("writes nothing into a config that cannot be read, and follows no links", async () => {
    const { homedir, home, run, read, target } = await openPlace([".maxclaw"]);
    await writeFiles(home, { "config.json": '{"channels": ' });
    await writeFile(join(homedir, "secret.txt"), "secret");
    await writeFile(join(homedir, ".maxclaw/gateway.events.jsonl"), "");
    await symlink(join(homedir, "secret.txt"), join(homedir, ".maxclaw/workspace/skills/link.md"));
    const [found] = await run(true, { target: { ...target, configFile: undefined } });
    assert.equal(await read("config.json"), '{"channels": ');
    assert.ok(found?.problems.some(({ what }) => what.endsWith("skills/link.md")));
    assert.ok(found?.problems.some(({ what }) => what === "the config"));
    assert.ok(found?.problems.some(({ why }) => /backup and restore/.test(why)));
    await assert.rejects(read("workspace/skills/link.md"));
  });

  test("refuses while a gateway runs, its own home, and folders that are none", async () => {
    const { homedir, home, run, target } = await openPlace([".maxclaw"]);
    await mkdir(home, { recursive: true });
    const lock = await acquireLock(join(home, "gateway.lock"), silentLog);
    await assert.rejects(run(true), { kind: "locked" });
    lock.release();
    assert.deepEqual((await snapshot(home))["config.json"], undefined);
    await assert.rejects(run(true, { from: home }), /is in use as the home already/);
    const own = { ...target, home: join(homedir, ".maxclaw"), workspace: join(homedir, ".maxclaw/workspace") };
    await assert.rejects(run(true, { target: own }), /itself is in use here/);
    await assert.rejects(
      run(true, { from: join(homedir, "nowhere") }),
      /is not a home of maxclaw, nanobot or OpenClaw/,
    );
    const shared = { ...target, workspace: join(homedir, ".maxclaw/workspace") };
    await assert.rejects(run(true, { target: shared }), /which is in use here already/);
  });
});

test("JSON as people write it is read, and a mistake is told by its line without the text", async () => {
  assert.deepEqual(
    await parseJson5(
      `{ // c\n a: 'it\\'s', "b": [1, -2.5e+3, .5, 0x10,], /* x */ c_1: {}, d: null, e: true, u: "\\u0041" }`,
    ),
    {
      ...{ a: "it's", b: [1, -2500, 0.5, 16], c_1: {}, d: null, e: true, u: "A" },
    },
  );
  for (const wrong of ["", "{", "{a}", "[1 2]", "{a: nothing}", "{} x", '{"a": "b\n"}', "{a: sk-secret}"])
    await assert.rejects(
      parseJson5(`\n${wrong}`),
      (error: Error) => /line \d/.test(error.message) && !/secret/.test(error.message),
    );
  await assert.rejects(parseJson5("[".repeat(10_000)), SyntaxError);
});
