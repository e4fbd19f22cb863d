import assert from "node:assert/strict";
import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { projectFile } from "../../support/project.js";
import { openCli } from "../../support/worlds/cli.js";

const version: string = JSON.parse(await readFile(projectFile("package.json"), "utf8")).version;

describe("the command line", () => {
  it("says its version, three ways, without a home", async () => {
    await using cli = await openCli();
    for (const [args, text] of [
      [["version"], `maxclaw ${version}\n`],
      [["--version"], `${version}\n`],
      [["-V"], `${version}\n`],
    ] as const) {
      assert.deepEqual(await cli.run(args), { code: 0, stdout: text, stderr: "" });
    }
    await assert.rejects(stat(cli.home));
  });

  it("loads nothing but commander for that", async () => {
    // A bundle has no packages to see.
    await using cli = await openCli({ isCompiled: true });
    const trace = join(cli.home, "..", "trace.mjs");
    await writeFile(
      trace,
      `import { register } from "node:module";
       register("data:text/javascript," + encodeURIComponent(\`
         import { writeSync } from "node:fs";
         export async function load(url, context, next) { writeSync(2, url + "\\\\n"); return next(url, context); }\`));`,
    );
    const { code, stderr } = await cli.run(["version"], { env: { NODE_OPTIONS: `--import ${trace}` } });
    assert.equal(code, 0);
    assert.match(stderr, /node_modules\/commander\//);
    const libraries = [...stderr.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)\//g)].map(([, name]) => name);
    assert.deepEqual([...new Set(libraries)], ["commander"]);
  });

  it("shows its commands", async () => {
    await using cli = await openCli();
    const { code, stdout } = await cli.run(["--help"]);
    assert.equal(code, 0);
    for (const command of ["onboard", "gateway", "agent", "status", "sessions", "skills", "pair", "ledger", "version"])
      assert.match(stdout, new RegExp(`^  ${command}\\b`, "m"));
    assert.equal((await cli.run(["sessions", "delete", "--help"])).code, 0);
  });

  const wrong: readonly (readonly [string, readonly string[], RegExp])[] = [
    ["no command", [], /Usage: maxclaw/],
    ["an unknown command", ["gatway"], /unknown command 'gatway'[\s\S]*Did you mean gateway/],
    ["an unknown option", ["status", "--jsno"], /unknown option '--jsno'[\s\S]*Did you mean --json/],
    ["a port that is none", ["gateway", "-p", "80a"], /port[\s\S]*0 to 65535/],
    ["a port that is too high", ["gateway", "-p", "65536"], /0 to 65535/],
    ["a missing argument", ["sessions", "show"], /missing required argument 'key'/],
    ["an argument too many", ["version", "2"], /too many arguments/],
    ["a message without -m", ["agent", "hello"], /^maxclaw: The message goes behind -m.*: maxclaw agent -m "hello"$/m],
    ["a message without quotes", ["agent", "-m", "what", "costs", "$5?"], /: maxclaw agent -m 'what costs \$5\?'$/m],
    [
      "a mistyped command for help",
      ["help", "cron", "ad"],
      /^\(Did you mean add\?\)\nThere is: list, .*maxclaw cron --help/m,
    ],
    [
      "a shell without completion",
      ["completion", "powershell"],
      /^There is: bash, zsh, fish\. Run maxclaw completion/m,
    ],
    ["a command for help that is not there", ["help", "crn"], /^\(Did you mean cron\?\)$/m],
    ["an empty message", ["agent", "-m", " "], /message is empty/],
    ["an empty pipe", ["agent"], /message is empty/],
    ["a sender without channel", ["pair", "revoke", "42"], /channel:sender/],
    ["a key without provider", ["onboard", "--api-key", "x"], /--provider/],
    ["a key by two ways", ["onboard", "--provider", "openai", "--key", "x", "--key-env", "Y"], /once/],
    ["a token without channel", ["onboard", "--token", "x"], /--channel/],
    [
      "a channel that there is not",
      ["onboard", "--channel", "pigeon"],
      /no channel pigeon to set up[\s\S]*telegram, discord/,
    ],
    ["a channel without token", ["onboard", "--channel", "telegram"], /--token-env NAME or --token-stdin/],
    ["a mailbox without address", ["onboard", "--channel", "email"], /--address/],
    ["an owner that is a name", ["onboard", "--channel", "telegram", "--owner", "@ada"], /not an id/],
    ["a secret of an empty pipe", ["onboard", "--provider", "openai", "--key-stdin"], /nothing in the pipe/],
    ["a provider without a known address", ["onboard", "--provider", "acme", "--api-key", "x"], /--api-base/],
    ["a limit that is none", ["sessions", "list", "--limit", "0"], /1 to 1000/],
  ];
  for (const [what, args, message] of wrong) {
    it(`refuses ${what} with exit code 2, a sentence on stderr and nothing on stdout`, async () => {
      await using cli = await openCli();
      const { code, stdout, stderr } = await cli.run(args);
      assert.equal(code, 2);
      assert.match(stderr, message);
      assert.equal(stdout, "");
    });
  }

  it("refuses a --config file that does not exist with exit code 78", async () => {
    await using cli = await openCli();
    for (const command of [["gateway"], ["status"], ["agent", "-m", "hello"]]) {
      const { code, stdout, stderr } = await cli.run([...command, "--config", "/nonexistent/config.json"]);
      assert.equal(code, 78);
      assert.match(stderr, /^maxclaw: The config file \/nonexistent\/config\.json does not exist/);
      assert.equal(stdout, "");
    }
  });
});

describe("onboard", () => {
  it("writes a config for its owner only, and a workspace", async () => {
    await using cli = await openCli();
    const args = [
      "onboard",
      "--yes",
      "--offline",
      "--provider",
      "openrouter",
      "--api-key",
      "sk-or-0123456789",
      "--model",
      "x/some-model",
    ];
    const { code, stdout, stderr } = await cli.run(args);
    assert.equal(stderr, "");
    assert.equal(code, 0);
    assert.ok(!stdout.includes("sk-or-0123456789"));
    const path = join(cli.home, "config.json");
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.equal((await stat(cli.home)).mode & 0o077, 0);
    const config = JSON.parse(await readFile(path, "utf8"));
    assert.equal(config.providers.openrouter.apiKey, "sk-or-0123456789");
    assert.equal(config.agents.defaults.model, "openrouter/x/some-model");
    for (const name of ["AGENTS.md", "SOUL.md", "USER.md", "memory/MEMORY.md", "memory/heartbeat.md"])
      assert.ok((await stat(join(cli.home, "workspace", name))).size > 0);
    assert.ok((await stat(join(cli.home, "workspace", "skills"))).isDirectory());
    for (const name of ["", "skills", "memory", "USER.md", "memory/MEMORY.md"])
      assert.equal((await stat(join(cli.home, "workspace", name))).mode & 0o077, 0, name);
  });

  it("asks nothing without a terminal, and needs no provider", async () => {
    await using cli = await openCli();
    const { code, stdout, stderr } = await cli.run(["onboard"]);
    assert.equal(code, 0);
    assert.match(stderr, /^No model can answer yet: the offline stand-in does.*--provider openai --key-env .*--model/m);
    assert.match(stdout, /^Next: a model, as above; then maxclaw gateway/m);
    const { providers } = JSON.parse(await readFile(join(cli.home, "config.json"), "utf8"));
    assert.deepEqual(new Set(Object.values(providers).map((each) => JSON.stringify(each))), new Set(['{"apiKey":""}']));
    assert.doesNotMatch(stdout, /Problem/);
  });

  it("takes a key that is not given from the environment, and says when it is not there", async () => {
    await using cli = await openCli();
    const { stdout } = await cli.run(["onboard", "--offline", "--provider", "openai"]);
    const { providers } = JSON.parse(await readFile(join(cli.home, "config.json"), "utf8"));
    assert.equal(providers.openai.apiKey, ["$", "{OPENAI_API_KEY}"].join(""));
    assert.match(stdout, /Problem: .*OPENAI_API_KEY/);
    assert.match((await cli.run(["onboard", "--offline", "--force", "--provider", "ollama"])).stdout, /Next:/);
    const second = JSON.parse(await readFile(join(cli.home, "config.json"), "utf8"));
    assert.deepEqual(second.providers.ollama, { apiBase: "http://127.0.0.1:11434/v1" });
    assert.deepEqual(second.providers.openai, { apiKey: "" }, "what was there is not kept");
  });

  it("writes an address where there is no key, and says that a model is still to be chosen", async () => {
    await using cli = await openCli();
    const path = join(cli.home, "config.json");
    const local = await cli.run(["onboard", "--offline", "--provider", "lmstudio"]);
    assert.match(local.stderr, /No model is chosen yet.*--model/);
    assert.deepEqual(JSON.parse(await readFile(path, "utf8")).providers.lmstudio, {
      apiBase: "http://127.0.0.1:1234/v1",
    });
    const mine = ["--provider", "acme", "--api-base", "http://127.0.0.1:9/v1", "--model", "m"];
    const { stderr } = await cli.run(["onboard", "--offline", "--force", ...mine]);
    assert.doesNotMatch(stderr, /No model/);
    assert.deepEqual(JSON.parse(await readFile(path, "utf8")).providers.acme, { apiBase: "http://127.0.0.1:9/v1" });
  });

  it("overwrites nothing without --force, and keeps a copy with it", async () => {
    await using cli = await openCli();
    const config = join(cli.home, "config.json");
    const soul = join(cli.home, "own-workspace", "SOUL.md");
    await mkdir(join(cli.home, "own-workspace"), { recursive: true, mode: 0o700 });
    const mine = JSON.stringify({
      agents: { defaults: { workspace: "own-workspace" } },
      providers: { groq: { apiKey: "mine" } },
    });
    await writeFile(config, mine);
    await chmod(config, 0o600);
    await writeFile(soul, "my own soul");

    const kept = await cli.run(["onboard", "--yes"]);
    assert.equal(kept.code, 0);
    assert.match(kept.stdout, /Kept .*config\.json/);
    assert.equal(await readFile(config, "utf8"), mine);
    assert.equal(await readFile(soul, "utf8"), "my own soul");
    assert.ok((await stat(join(cli.home, "own-workspace", "AGENTS.md"))).size > 0, "what is missing is added");

    for (const copy of ["config.json.bak", "config.json.bak2"]) {
      assert.equal((await cli.run(["onboard", "--yes", "--force"])).code, 0);
      assert.equal((await stat(join(cli.home, copy))).mode & 0o777, 0o600);
    }
    assert.equal(await readFile(`${config}.bak`, "utf8"), mine);
    assert.notEqual(await readFile(config, "utf8"), mine);
  });
});

describe("status without a gateway", () => {
  it("tells home, config and problems, as text and as JSON", async () => {
    await using cli = await openCli();
    await mkdir(cli.home, { mode: 0o700 });
    await writeFile(join(cli.home, "config.json"), '{"gatway": {}, "channels": {"mattermost": {"enabled": true}}}');
    const { code, stdout } = await cli.run(["status"]);
    assert.equal(code, 1, "there is something to look at");
    assert.match(stdout, /no gateway is running/);
    assert.match(stdout, /Problem: .*"gatway".*did you mean "gateway"/);
    assert.match(stdout, /Problem: .*no Mattermost channel yet/);
    const parsed = JSON.parse((await cli.run(["status", "--json"])).stdout);
    assert.deepEqual([parsed.running, parsed.home, parsed.problems.length], [false, cli.home, 2]);
    await writeFile(join(cli.home, "config.json"), "{}", { mode: 0o600 });
    assert.equal((await cli.run(["status"])).code, 0);
  });
});
