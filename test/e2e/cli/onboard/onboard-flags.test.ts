import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { startFakeDiscord } from "../../../support/fakes/fake-discord.js";
import { startFakeTelegram } from "../../../support/fakes/fake-telegram.js";
import { startFakeListing } from "../../../support/fakes/models/fake-listing.js";
import { freePort } from "../../../support/fakes/network/free-port.js";
import { type CliSandbox, openCli, outputOf } from "../../../support/worlds/cli.js";
import { startCliGateway, withModel } from "../../../support/worlds/cli-gateway.js";

const file = (cli: CliSandbox): string => join(cli.home, "config.json");
const read = (cli: CliSandbox): Promise<string> => readFile(file(cli), "utf8");

async function write(cli: CliSandbox, text: string): Promise<void> {
  await mkdir(cli.home, { recursive: true, mode: 0o700 });
  await writeFile(file(cli), text, { mode: 0o600 });
}

describe("onboard with flags, without a terminal", () => {
  it("takes key and token from a pipe, tests both, greets the owner, and asks nothing", async () => {
    await using cli = await openCli();
    await using provider = await startFakeListing({ key: "sk-piped", models: ["small"] });
    await using telegram = await startFakeTelegram({ token: "4242:piped" });
    await write(cli, JSON.stringify({ channels: { telegram: { apiRoot: telegram.url } } }));
    const about = ["--provider", "acme", "--api-base", provider.apiBase, "--model", "small", "--key-stdin"];
    const channel = ["--channel", "telegram", "--token-stdin", "--owner", "42"];
    const { code, stdout, stderr } = await cli.run(["onboard", ...about, ...channel], {
      stdin: "sk-piped\n4242:piped\n",
    });
    assert.equal(stderr, "");
    assert.equal(code, 0);
    assert.match(stdout, /Next: maxclaw gateway/);
    const config = JSON.parse(await read(cli));
    assert.equal(config.providers.acme.apiKey, "sk-piped");
    assert.equal(config.agents.defaults.model, "acme/small");
    assert.deepEqual(config.channels.telegram, { apiRoot: telegram.url, enabled: true, token: "4242:piped" });
    assert.deepEqual(config.owners, ["telegram:42"]);
    assert.deepEqual(
      telegram.sent.map(({ chatId }) => chatId),
      ["42"],
    );
    assert.equal(provider.requests.length, 1, "one cheap request");
  });

  it("does not wait for the end of a pipe that stays open", async () => {
    await using cli = await openCli();
    await using provider = await startFakeListing({ key: "sk-piped", models: ["small"] });
    const flags = ["--provider", "acme", "--api-base", provider.apiBase, "--model", "small", "--key-stdin"];
    const child = cli.start(["onboard", ...flags]);
    child.stdin.write("sk-piped\n");
    await outputOf(child.stdout, /^Next: /m);
  });

  it("names a variable in the config in the place of the key, and tests what it holds", async () => {
    await using cli = await openCli();
    await using provider = await startFakeListing({ key: "sk-env", models: ["small"] });
    const flags = ["--provider", "acme", "--api-base", provider.apiBase, "--model", "small", "--key-env", "ACME"];
    const { code, stderr } = await cli.run(["onboard", "--yes", ...flags], { env: { ACME: "sk-env" } });
    assert.deepEqual([code, stderr], [0, ""]);
    assert.equal(JSON.parse(await read(cli)).providers.acme.apiKey, ["$", "{ACME}"].join(""));
    assert.deepEqual(provider.requests, ["GET /v1/models sk-env"]);
  });

  it("writes nothing of a key or a token that is refused, and says how to write it all the same", async () => {
    await using cli = await openCli();
    await using provider = await startFakeListing({ key: "right", models: ["small"] });
    await using discord = await startFakeDiscord({ token: "right" });
    const mine = `{ "channels": { "discord": { "apiRoot": "${discord.url}" } } /* mine */ }\n`;
    await write(cli, mine);
    const acme = ["--provider", "acme", "--api-base", provider.apiBase, "--key", "sk-wrong-one"];
    const key = await cli.run(["onboard", "--yes", ...acme]);
    assert.equal(key.code, 1);
    assert.match(key.stderr, /^maxclaw: acme does not take the key: .*401.*Nothing was written\.$/m);
    assert.ok(!key.stderr.includes("sk-wrong-one"));
    const token = await cli.run(["onboard", "--yes", "--channel", "discord", "--token", "wrong-token"]);
    assert.equal(token.code, 1);
    assert.match(token.stderr, /^maxclaw: Discord does not know this bot token \(401\)\. .*--offline/m);
    assert.ok(!token.stderr.includes("wrong-token"));
    assert.equal(await read(cli), mine);
    const asked = provider.requests.length;
    assert.equal((await cli.run(["onboard", "--yes", "--offline", ...acme])).code, 0);
    assert.match(await read(cli), /sk-wrong-one[\s\S]*\/\* mine \*\//);
    assert.equal(provider.requests.length, asked, "--offline asks nobody");
  });

  it("goes on without network, and says that the key is not tested", async () => {
    await using cli = await openCli();
    const base = `http://127.0.0.1:${await freePort()}/v1`;
    const flags = ["--provider", "acme", "--api-base", base, "--key", "k", "--model", "m"];
    const { code, stderr } = await cli.run(["onboard", "--yes", ...flags]);
    assert.equal(code, 0);
    assert.match(stderr, /^acme could not be reached, so the key is not tested: .*ECONNREFUSED/m);
    assert.equal(JSON.parse(await read(cli)).agents.defaults.model, "acme/m");
  });

  it("changes on a rerun only what is named, in JSON with comments and in YAML", async () => {
    await using cli = await openCli();
    const mine = `// my config
{
  "agents": { "defaults": { "model": "groq/a", "temperature": 0.1 } }, // mine
  "providers": { "groq": { "apiKey": "gsk_mine" } },
  "owners": ["telegram:7"],
}
`;
    await write(cli, mine);
    assert.equal((await cli.run(["onboard", "--offline", "--provider", "groq", "--model", "b"])).code, 0);
    assert.equal(await read(cli), mine.replace("groq/a", "groq/b"), "the key that is there stays");
    const add = ["--channel", "discord", "--token", "t", "--owner", "8"];
    assert.equal((await cli.run(["onboard", "--offline", ...add])).code, 0);
    assert.match(await read(cli), /"owners": \[[\s\S]*"telegram:7",[\s\S]*"discord:8"[\s\S]*\]/);

    await using other = await openCli();
    await mkdir(other.home, { mode: 0o700 });
    const yaml = join(other.home, "config.yaml");
    await writeFile(yaml, "# mine\nproviders:\n  groq:\n    apiKey: gsk_mine # of groq\n", { mode: 0o600 });
    assert.equal((await other.run(["onboard", "--offline", "--provider", "groq", "--model", "b"])).code, 0);
    assert.match(await readFile(yaml, "utf8"), /# mine\nproviders:\n {2}groq:\n {4}apiKey: gsk_mine # of groq\n/);
    assert.match(await readFile(yaml, "utf8"), /model: groq\/b/);
  });

  it("leaves a config alone that it cannot read", async () => {
    await using cli = await openCli();
    await write(cli, '{ "providers": }');
    const { code, stderr } = await cli.run(["onboard", "--offline", "--provider", "ollama"]);
    assert.equal(code, 1);
    assert.match(stderr, /cannot be read, line 1, column 16.*--force/);
    assert.equal(await read(cli), '{ "providers": }');
  });

  it("says without any flag which flags there are, and still writes what scripts look for", async () => {
    await using cli = await openCli();
    const { code, stderr } = await cli.run(["onboard"]);
    assert.equal(code, 0);
    assert.match(stderr, /no terminal, so nothing was asked.*--provider, --key-env/);
    const asked = await cli.run(["onboard", "--yes"]);
    assert.equal(asked.code, 0);
    assert.match(asked.stderr, /^No model can answer yet: .*\n$/, "and nothing else");
  });

  it("says whether the gateway that runs has taken it over", async () => {
    await using cli = await openCli();
    await using _model = await withModel(cli, { text: "x" });
    await startCliGateway(cli);
    const taken = await cli.run(["onboard", "--offline", "--provider", "groq", "--key", "gsk_1", "--model", "m"]);
    assert.match(taken.stderr, /The running gateway uses it now\./);
    assert.match(taken.stdout, /^Next: maxclaw agent/m);
  });
});
