import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { makeDocx } from "../../support/documents.js";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeDiscord } from "../../support/fakes/fake-discord.js";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { sameDns } from "../../support/fakes/mail/fake-dns.js";
import { withoutMailServer } from "../../support/fakes/mail/mail-server.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { freePort } from "../../support/fakes/network/free-port.js";
import { articlePage, startSite } from "../../support/fakes/web-site.js";
import { createEmailHarnesses } from "../../support/worlds/channels/email-harness.js";
import { startProgram } from "../../support/worlds/channels/websocket-program.js";
import { finish, outputOf } from "../../support/worlds/cli.js";
import { openAIConfig } from "../../support/worlds/gateway.js";
import { type Installed, installProgram } from "../../support/worlds/installed.js";
import type { RecordedRequest, ScriptedAnswer } from "../../support/worlds/model-script.js";
import { referenceServer } from "../../support/worlds/tools/mcp.js";

const run = promisify(execFile);
const ann = { id: "100000000000000042", username: "ann" };

const wordsOf = ({ userText }: RecordedRequest): string => userText.split("\n\n").at(-1)?.trim() ?? "";

/** What the tools have answered, by the ids of their calls. */
function resultsIn(request: RecordedRequest | undefined): ReadonlyMap<string, string> {
  const { messages = [] } = (request?.body ?? {}) as {
    messages?: readonly { role: string; tool_call_id?: string; content?: unknown }[];
  };
  return new Map(
    messages.flatMap(({ role, tool_call_id: id = "", content }) =>
      role === "tool" ? [[id, typeof content === "string" ? content : JSON.stringify(content)]] : [],
    ),
  );
}

describe("the installed package", { timeout: 240_000 }, () => {
  let installed: Installed;
  before(async () => {
    installed = await installProgram();
  });
  after(() => installed[Symbol.asyncDispose]());

  /** `npx maxclaw …` in the folder where it is installed. */
  function npx(home: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    return spawn("npx", ["--no-install", "maxclaw", ...args], {
      cwd: installed.project,
      env: { ...installed.env, MAXCLAW_HOME: home, ...env },
      detached: true,
    });
  }

  /** The gateway of a home, until disposed. */
  async function startNpx(home: string, env: Readonly<Record<string, string>> = {}) {
    const child = npx(home, ["gateway", "-p", "0"], env);
    const ended = finish(child);
    const ready = await outputOf(child.stdout, /READY:127\.0\.0\.1:\d+\n/, 30_000);
    return {
      url: `http://127.0.0.1:${/READY:127\.0\.0\.1:(\d+)/.exec(ready)?.[1]}`,
      async [Symbol.asyncDispose]() {
        // npm and what it has started.
        if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGTERM");
        await ended;
      },
    };
  }

  it("answers on Telegram, Discord and a WebSocket, with every family of tools and MCP", async () => {
    await using site = await startSite((_request, response) => {
      response.setHeader("content-type", "text/html; charset=utf-8");
      response.end(articlePage("Tides", "<p>The sea comes and goes.</p>"));
    });
    const document = makeDocx("<w:p><w:r><w:t>A letter about tides</w:t></w:r></w:p>");
    const calls = {
      write_file: { path: "notes.md", content: "tides\nsea\n" },
      read_file: { path: "letter.docx" },
      glob: { pattern: "*.md" },
      grep: { pattern: "sea" },
      list_dir: { path: "." },
      exec: { command: "cat notes.md | wc -l" },
      web_fetch: { url: site.url },
      memory_write: { content: "likes tides" },
      memory_search: { query: "tides" },
      plan: { action: "create", goal: "see", steps: ["look"] },
      read_skill: { name: "write-skill" },
      memory__read_graph: {},
    } as const;
    const answer = (request: RecordedRequest): ScriptedAnswer => {
      const words = wordsOf(request);
      const done = resultsIn(request);
      if (!words.includes("try everything")) return { text: `You said: ${words}` };
      const [next] = Object.entries(calls).filter(([name]) => !done.has(name));
      return next === undefined
        ? { text: "all tried" }
        : { toolCalls: [{ id: next[0], name: next[0], input: next[1] }] };
    };
    await using model = await startFakeOpenAI({ answer });
    await using telegram = await startFakeTelegram({ token: "4242:installed" });
    await using discord = await startFakeDiscord({ token: "installed" });
    const port = await freePort();
    const home = join(installed.folder, "home-all");
    const channels = {
      telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] },
      discord: { enabled: true, token: discord.token, apiRoot: discord.url, allowFrom: ["*"] },
      websocket: { enabled: true, port, token: "ws-secret", allowFrom: ["*"] },
    };
    const tools = {
      web: { fetch: { allow: [site.host] } },
      mcpServers: {
        memory: {
          ...referenceServer("memory"),
          trusted: true,
          env: { MEMORY_FILE_PATH: join(installed.folder, "graph.json") },
        },
      },
    };
    const config = openAIConfig(model.apiBase, { channels, tools, owners: ["telegram:42"] });
    const agents = { defaults: { model: "openai/test-model", executionMode: "auto" } };
    const folder = join(home, "workspace", ".sessions", "telegram_42");
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(join(folder, "letter.docx"), document);
    await writeFile(join(home, "config.json"), JSON.stringify({ ...config, agents }), { mode: 0o600 });
    {
      await using _gateway = await startNpx(home);
      await until("Discord is connected", () => discord.gateway.sockets.length > 0, 30_000);
      telegram.pushText({ chatId: 42, userId: 42, text: "try everything" });
      discord.write({ channelId: discord.dmOf(ann.id), author: ann, content: "hello from Discord" });
      await using program = startProgram(`ws://127.0.0.1:${port}/ws?chatId=desk&token=ws-secret`);
      program.write({ type: "message", id: "w1", content: "hello from a program" });
      const said = () =>
        [...telegram.sent.map(({ text }) => text), ...discord.sent.map(({ content }) => content)].join("\n");
      await until("Discord is answered", () => said().includes("You said: hello from Discord"), 30_000);
      await until(
        "the program is answered",
        () => program.frames.some((frame) => JSON.stringify(frame).includes("You said: hello from a program")),
        30_000,
      );
      await until("all is tried", () => said().includes("all tried"), 60_000).catch((error: unknown) => {
        throw new Error(`${String(error)}; ${said()}; ${JSON.stringify([...resultsIn(model.requests.at(-1))])}`);
      });
    }
    const results = resultsIn(model.requests.find((one) => resultsIn(one).size === Object.keys(calls).length));
    const expected: Readonly<Record<keyof typeof calls, RegExp>> = {
      write_file: /notes\.md/,
      read_file: /A letter about tides/,
      glob: /notes\.md/,
      grep: /sea/,
      list_dir: /letter\.docx/,
      exec: /2/,
      web_fetch: /The sea comes and goes/,
      memory_write: /./,
      memory_search: /found/,
      plan: /look/,
      read_skill: /skill/i,
      memory__read_graph: /entities/,
    };
    const log = await readFile(join(home, "logs", "gateway.log"), "utf8");
    const faults = log.split("\n").filter((line) => /"level":"(?:warn|error)"/.test(line));
    assert.deepEqual(faults, []);
    for (const [name, pattern] of Object.entries(expected)) assert.match(results.get(name) ?? "", pattern, name);
  });

  it("answers mail, also one that is read in a thread of its own", { skip: withoutMailServer() }, async () => {
    await using harnesses = createEmailHarnesses();
    await using harness = await harnesses.open();
    const [one] = harness.people;
    await using model = await startFakeOpenAI({
      answer: (request) => ({ text: `You said: ${wordsOf(request).slice(0, 20)}` }),
    });
    const home = join(installed.folder, "home-mail");
    await mkdir(home, { mode: 0o700 });
    const channels = { email: { enabled: true, allowFrom: ["*"], ...harness.config } };
    await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase, { channels })), {
      mode: 0o600,
    });
    await using _gateway = await startNpx(home, sameDns());
    await harness.write({ from: one as never, text: `long ${"and longer ".repeat(1000)}` });
    await until(
      "the mail is answered",
      () => harness.shown(one?.chatId ?? "").some(({ text }) => text.includes("You said: long and longer")),
      60_000,
    );
  });

  it("runs from a global install, shows its page, and says that no part was added", async () => {
    const prefix = join(installed.folder, "global");
    await mkdir(prefix);
    await run("npm", ["install", "--global", "--prefix", prefix, installed.archive], {
      cwd: installed.folder,
      env: installed.env,
    });
    const home = join(installed.folder, "home-global");
    const env = { ...installed.env, PATH: `${join(prefix, "bin")}:${installed.env.PATH}`, MAXCLAW_HOME: home };
    assert.match((await run("maxclaw", ["--version"], { env })).stdout, /^0\.1\.0\n$/);
    const child = spawn("maxclaw", ["gateway", "-p", "0"], { env });
    const ended = finish(child);
    try {
      const port = /READY:127\.0\.0\.1:(\d+)/.exec(await outputOf(child.stdout, /READY:\S+\n/, 30_000))?.[1];
      const page = await fetch(`http://127.0.0.1:${port}/`);
      assert.equal(page.status, 200);
      const script = /src="([^"]+\.js)"/.exec(await page.text())?.[1];
      assert.equal((await fetch(new URL(script ?? "", `http://127.0.0.1:${port}/`))).status, 200);
      const status = await run("maxclaw", ["status"], { env }).catch((error) => error);
      assert.match(status.stdout, /Missing: +browser is not offered\. Install it with `maxclaw add browser`/);
      assert.match((await run("maxclaw", ["skills", "list"], { env })).stdout, /write-skill/);
    } finally {
      child.kill("SIGTERM");
      assert.equal((await ended).code, 0);
    }
  });
});
