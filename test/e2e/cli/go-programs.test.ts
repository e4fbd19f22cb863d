import assert from "node:assert/strict";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type CliSandbox, openCli } from "../../support/worlds/cli.js";
import { startCliGateway, withModel } from "../../support/worlds/cli-gateway.js";

// What scripts of the Go maxclaw do and look for, at the real program.

const out = async (cli: CliSandbox, ...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await cli.run(args, { stdin: "y\n" });
  assert.equal(code, 0, `${args.join(" ")}: ${stderr}${stdout}`);
  return stdout;
};

describe("scripts that were written for the Go maxclaw", () => {
  it("find the words they look for in the version and in the help of commands", async () => {
    await using cli = await openCli();
    assert.match(await out(cli, "version"), /maxclaw/);
    assert.match(await out(cli, "agent", "--help"), /Interact with the agent/);
    assert.match(await out(cli, "gateway", "--help"), /Start the maxclaw gateway/);
    assert.match(await out(cli, "cron", "--help"), /manage/);
  });

  it("find all that onboard wrote: files of the workspace, and a place for each setting", async () => {
    await using cli = await openCli();
    await out(cli, "onboard");
    const files = ["AGENTS.md", "SOUL.md", "USER.md", "skills/README.md", "skills/example/SKILL.md"];
    for (const name of [...files, "memory/MEMORY.md", "memory/HISTORY.md", "memory/heartbeat.md"])
      assert.ok((await stat(join(cli.home, "workspace", name))).size > 0, name);
    const text = await readFile(join(cli.home, "config.json"), "utf8");
    const providers = ["openrouter", "anthropic", "openai", "deepseek", "groq", "gemini", "moonshot", "vllm"];
    for (const name of ["telegram", "discord", "whatsapp", ...providers]) assert.ok(text.includes(`"${name}"`), name);
    assert.match(text, /"timeout": 60\b/);
    assert.match(text, /"restrictToWorkspace": true/);
    await writeFile(join(cli.home, "config.json"), text.replace(/"model": "[^"]*"/, '"model": "test-model"'));
    const status = await cli.run(["status"]);
    for (const pattern of [/maxclaw Status/, /test-model/, /Workspace:/, /Channels:/])
      assert.match(status.stdout, pattern);
    // The model that was written has no provider yet. Nothing else is wrong.
    assert.equal(status.stdout.match(/Problem:.*/g)?.length, 1, status.stdout);
    assert.match(status.stdout, /Problem: +The model test-model needs a provider/);
  });

  it("see the model of a config that they wrote themselves", async () => {
    await using cli = await openCli();
    await mkdir(cli.home, { mode: 0o700 });
    const config = {
      agents: { defaults: { model: "deepseek-chat", maxTokens: 8192, temperature: 0.7, maxToolIterations: 20 } },
      channels: { whatsapp: { enabled: false, bridgeUrl: "ws://localhost:3001", allowFrom: [] } },
      providers: { deepseek: { apiKey: "sk-test-key", apiBase: "https://api.deepseek.com/v1" } },
      gateway: { host: "0.0.0.0", port: 18890 },
      tools: { web: { search: { apiKey: "", maxResults: 5 } }, exec: { timeout: 60 }, restrictToWorkspace: false },
    };
    await writeFile(join(cli.home, "config.json"), JSON.stringify(config));
    assert.match((await cli.run(["status"])).stdout, /deepseek-chat/);
  });

  for (const isRunning of [true, false])
    it(`add, list, switch and remove jobs ${isRunning ? "while a gateway runs" : "when none runs"}`, async () => {
      await using cli = await openCli();
      await using _model = await withModel(cli, { text: "Done." }, { owners: ["telegram:42"] });
      if (isRunning) await startCliGateway(cli);
      await out(
        cli,
        "cron",
        "add",
        "-n",
        "test-job",
        "-t",
        "every",
        "-e",
        "3600000",
        "-m",
        "Test message",
        "--deliver",
      );
      const line = async (): Promise<string> => /^.*test-job.*$/m.exec(await out(cli, "cron", "list"))?.[0] ?? "";
      const [id = ""] = (await line()).split(/\s+/);
      assert.match(await line(), /\benabled\b.*every 1 h/);
      const status = await out(cli, "cron", "status");
      assert.match(status, /Cron Service/);
      assert.match(status, new RegExp(`Running: ${isRunning}`));
      assert.match(status, /Total Jobs: 1\n {2}Enabled Jobs: 1\n/);
      await out(cli, "cron", "disable", id);
      assert.match(await line(), /\bdisabled\b/);
      assert.match(await out(cli, "cron", "status"), /Enabled Jobs: 0\n/);
      await out(cli, "cron", "enable", id);
      assert.match(await line(), /\benabled\b/);
      await out(cli, "cron", "remove", id);
      assert.equal(await line(), "");

      await out(
        cli,
        "cron",
        "add",
        "-n",
        "weekdays",
        "-t",
        "cron",
        "-s",
        "0 9 * * 1-5",
        "-m",
        "x",
        "-c",
        "telegram",
        "-d",
      );
      await out(cli, "cron", "add", "-n", "hourly", "-m", "x");
      await out(cli, "cron", "add", "-n", "later", "-t", "once", "-a", "2060-01-01 09:00:00", "-m", "x");
      const jobs = await out(cli, "cron", "list");
      assert.match(jobs, /0 9 \* \* 1-5.* telegram:42 +weekdays/);
      assert.match(jobs, /every 1 h.* webui:scheduled +hourly/);
      assert.match(jobs, /once at 2060-01-01.* later/);
      const wrong = await cli.run(["cron", "add", "-n", "x", "-t", "cron", "-m", "x"]);
      assert.deepEqual([wrong.code, wrong.stderr], [2, "maxclaw: --type cron needs --schedule.\n"]);
    });

  it("change the config of a gateway that runs: it counts at once and after the next start, with its variables", async () => {
    await using cli = await openCli();
    const token = "a-token-of-the-gateway";
    await using model = await withModel(cli, { text: "Done." }, { gateway: { token } });
    const first = await startCliGateway(cli);
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const config = Object(await (await fetch(`${first.url}/api/config`, { headers })).json());
    config.agents.defaults.executionMode = "safe";
    config.providers.openai.apiKey = ["$", "{MY_KEY}"].join("");
    const put = { method: "PUT", headers, body: JSON.stringify(config) };
    const refused = await fetch(`${first.url}/api/config`, put);
    assert.equal(refused.status, 400, "nothing defines the variable");
    await writeFile(join(cli.home, "secrets.json"), JSON.stringify({ MY_KEY: "sk-from-secrets" }), { mode: 0o600 });
    const { restart } = Object(await (await fetch(`${first.url}/api/config`, put)).json());
    assert.deepEqual(restart, []);
    const now = Object(await (await fetch(`${first.url}/api/status`, { headers })).json());
    assert.equal(now.executionMode, "safe");
    first.child.kill("SIGTERM");
    await first.result;
    const second = await startCliGateway(cli);
    const status = Object(await (await fetch(`${second.url}/api/status`, { headers })).json());
    assert.equal(status.executionMode, "safe");
    const pending = Object(await (await fetch(`${second.url}/api/config/pending`, { headers })).json());
    assert.deepEqual(pending.restart, []);
    await out(cli, "agent", "-m", "hello");
    assert.equal(model.requests.at(-1)?.headers.authorization, "Bearer sk-from-secrets");
  });

  it("read the execution mode in the status", async () => {
    await using cli = await openCli();
    const agents = { defaults: { model: "openai/test-model", executionMode: "safe" } };
    await using _model = await withModel(cli, { text: "Done." }, { agents });
    const { url } = await startCliGateway(cli);
    const status = Object(await (await fetch(`${url}/api/status`)).json());
    assert.deepEqual([status.executionMode, status.restrictToWorkspace], ["safe", true]);
    assert.equal(status.workspace, join(cli.home, "workspace"));
    assert.match(await out(cli, "status"), /Mode: +safe/);
  });
});
