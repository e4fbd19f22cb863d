import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { startFakeListing } from "../../../support/fakes/models/fake-listing.js";
import { freePort } from "../../../support/fakes/network/free-port.js";
import { type CliSandbox, openCli } from "../../../support/worlds/cli.js";
import { withoutProgram } from "../../../support/worlds/needs.js";
import { keys, openPty } from "../../../support/worlds/pty.js";

const file = (cli: CliSandbox): string => join(cli.home, "config.json");

/** A home in which somebody else than the new provider runs the model. */
async function withModelOfAnother(cli: CliSandbox): Promise<string> {
  const text = JSON.stringify({
    providers: { groq: { apiKey: "gsk_mine" } },
    agents: { defaults: { model: "groq/mine" } },
  });
  await mkdir(cli.home, { recursive: true, mode: 0o700 });
  await writeFile(file(cli), text, { mode: 0o600 });
  return text;
}

const modelIn = async (cli: CliSandbox): Promise<unknown> =>
  JSON.parse(await readFile(file(cli), "utf8")).agents.defaults.model;

describe("onboard with a provider that the model in the config is not of", () => {
  it("takes the one model that a local provider has, and says what it asked", async () => {
    await using cli = await openCli();
    await using local = await startFakeListing({
      key: "none",
      models: ["nomic-embed-text", "llama3"],
      needsNoKey: true,
    });
    await withModelOfAnother(cli);
    const { code, stdout, stderr } = await cli.run([
      ...["onboard", "--yes", "--provider", "ollama", "--api-base", local.apiBase],
    ]);
    assert.deepEqual([code, stderr], [0, ""]);
    assert.equal(await modelIn(cli), "ollama/llama3");
    assert.match(stdout, /^ollama answers, and has 2 models\.$/m);
    assert.match(stdout, /^The model is ollama\/llama3, the only one that it has\.$/m);
    assert.doesNotMatch(stdout, /key/);
  });

  it("names those that there are where it would have to choose, and writes nothing", async () => {
    await using cli = await openCli();
    await using provider = await startFakeListing({ key: "k", models: ["small", "large"] });
    const before = await withModelOfAnother(cli);
    const acme = ["--provider", "acme", "--api-base", provider.apiBase, "--key", "k"];
    const { code, stderr } = await cli.run(["onboard", "--yes", ...acme]);
    assert.equal(code, 2);
    assert.match(
      stderr,
      /^maxclaw: The model groq\/mine is not one of acme\. acme has small, large\. .*--model small\. Nothing was written\.$/m,
    );
    assert.equal(await readFile(file(cli), "utf8"), before);
    const named = await cli.run(["onboard", "--yes", ...acme, "--model", "large"]);
    assert.deepEqual([named.code, named.stderr], [0, ""]);
    assert.match(named.stdout, /^acme takes the key, and has 2 models\.$/m);
    assert.equal(await modelIn(cli), "acme/large");
  });

  it("does not keep the other one's model when the provider cannot be asked", async () => {
    await using cli = await openCli();
    const before = await withModelOfAnother(cli);
    const base = `http://127.0.0.1:${await freePort()}/v1`;
    for (const more of [[], ["--offline"]]) {
      const { code, stderr } = await cli.run(["onboard", "--yes", "--provider", "ollama", "--api-base", base, ...more]);
      assert.equal(code, 2, stderr);
      assert.match(stderr, /^maxclaw: The model groq\/mine is not one of ollama.*--model/m);
      assert.doesNotMatch(stderr, /key/, "it has none");
      assert.equal(await readFile(file(cli), "utf8"), before);
    }
    const named = await cli.run(["onboard", "--yes", "--provider", "ollama", "--api-base", base, "--model", "llama3"]);
    assert.equal(named.code, 0);
    assert.match(named.stderr, /^ollama could not be reached, so it was not tested: .*ECONNREFUSED/m);
    assert.equal(await modelIn(cli), "ollama/llama3");
  });

  it("keeps the model that is the provider's own", async () => {
    await using cli = await openCli();
    await withModelOfAnother(cli);
    const again = await cli.run(["onboard", "--yes", "--offline", "--provider", "groq"]);
    assert.deepEqual([again.code, again.stderr], [0, ""]);
    assert.equal(await modelIn(cli), "groq/mine");
    assert.match(again.stdout, /^groq was not tested \(--offline\)\.$/m);
  });

  it("refuses a model that cannot be called, and writes nothing", async () => {
    await using cli = await openCli();
    const stranger = await cli.run(["onboard", "--yes", "--model", "foo/bar"]);
    assert.equal(stranger.code, 2);
    assert.match(
      stranger.stderr,
      /^maxclaw: The model foo\/bar needs a provider, .*Nothing was written\. .*--provider/m,
    );
    const keyless = ["onboard", "--yes", "--provider", "openai", "--model", "gpt-5.2"];
    const { code, stderr } = await cli.run(keyless);
    assert.equal(code, 2);
    assert.match(
      stderr,
      /^maxclaw: The model openai\/gpt-5\.2 cannot answer: .*OPENAI_API_KEY.*Nothing was written\./m,
    );
    assert.equal(existsSync(file(cli)), false);
    // The variable may be set where the gateway runs.
    const later = await cli.run([...keyless, "--offline"]);
    assert.equal(later.code, 0);
    assert.match(later.stderr, /^No model can answer yet\. The model openai\/gpt-5\.2 needs/m);
    assert.equal(await modelIn(cli), "openai/gpt-5.2");
  });

  it("refuses a key with blanks inside", async () => {
    await using cli = await openCli();
    const flags = ["onboard", "--yes", "--offline", "--provider", "openai", "--model", "m"];
    for (const [given, stdin] of [[["--key", "sk-one two"]], [["--key-stdin"], "sk-one two\n"]] as const) {
      const { code, stderr } = await cli.run([...flags, ...given], stdin === undefined ? {} : { stdin });
      assert.equal(code, 2);
      assert.match(stderr, /^maxclaw: A key has no spaces or line breaks inside\. Copy it again/);
      assert.ok(!stderr.includes("two"));
      assert.equal(existsSync(file(cli)), false);
    }
  });

  it("says in a terminal that the model stays another one's", { skip: withoutProgram("script") }, async () => {
    await using cli = await openCli();
    await withModelOfAnother(cli);
    const flags = ["--provider", "ollama", "--offline", "--channel", "none", "--no-service"];
    await using pty = openPty(cli, ["onboard", ...flags]);
    await pty.see(/Which model\?/);
    pty.type(keys.enter);
    await pty.see(/The model stays groq\/mine, which is not one of ollama/);
    assert.equal(await pty.ended, 0);
  });
});
