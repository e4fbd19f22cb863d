import assert from "node:assert/strict";
import { readFile, symlink } from "node:fs/promises";
import { describe, it } from "node:test";
import { projectFile } from "../../../support/project.js";
import { openCli } from "../../../support/worlds/cli.js";

describe("a path that cannot be used", () => {
  it("is named with what is wrong with it", async () => {
    await using cli = await openCli();
    await symlink("nothing", cli.home);
    const dead = await cli.run(["config", "set", "log.level", "info"]);
    assert.match(
      dead.stderr,
      /^maxclaw: \S+home cannot be used: it is a link, and what it leads to is not there\. Mount it, or mend the link\.$/m,
    );
    const long = await cli.run(["config", "check", "-c", "x".repeat(300)]);
    assert.match(long.stdout + long.stderr, /x cannot be read: its name is too long/);
  });
});

describe("a word that the command line does not know", () => {
  it("is named by help, at any depth", async () => {
    await using cli = await openCli();
    for (const args of [
      ["help", "nosuch"],
      ["help", "cron", "nosuch"],
      ["cron", "help", "nosuch"],
    ]) {
      const { code, stdout, stderr } = await cli.run(args);
      assert.equal(code, 2, args.join(" "));
      assert.equal(stdout, "");
      assert.match(stderr, /^error: unknown command 'nosuch'$/m);
    }
    assert.match((await cli.run(["help", "status", "extra"])).stderr, /^error: unknown command 'extra'$/m);
  });

  it("is shown without what would steer the terminal", async () => {
    await using cli = await openCli();
    for (const args of [
      ["\u001b[31mred\u0007"],
      ["help", "\u001b[31mred"],
      ["logs", "--level", "\u001b[31m"],
      ["usage", "--days", "\u001b[31m"],
    ]) {
      const { code, stderr } = await cli.run(args);
      assert.equal(code, 2, stderr);
      assert.ok(!stderr.includes("\u001b") && !stderr.includes("\u0007"), JSON.stringify(stderr));
    }
  });

  it("is helped with where it is known", async () => {
    await using cli = await openCli();
    for (const [args, usage] of [
      [["help"], "maxclaw [options] [command]"],
      [["help", "status"], "maxclaw status [options]"],
      [["help", "cron", "add"], "maxclaw cron add [options] [prompt]"],
      [["cron", "help", "add"], "maxclaw cron add [options] [prompt]"],
    ] as const) {
      const { code, stdout } = await cli.run(args);
      assert.equal(code, 0);
      assert.ok(stdout.startsWith(`Usage: ${usage}\n`), stdout);
    }
  });

  it("is refused by add before anything is said to be done", async () => {
    await using cli = await openCli();
    const { code, stdout, stderr } = await cli.run(["add", "nosuch"]);
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, /^maxclaw: nosuch cannot be added\. There is: browser, /);
  });
});

it("shows the version by -v, -V, --version and version", async () => {
  await using cli = await openCli();
  const { version } = JSON.parse(await readFile(projectFile("package.json"), "utf8"));
  for (const flag of ["-v", "-V", "--version"]) {
    const { code, stdout, stderr } = await cli.run([flag]);
    assert.deepEqual([code, stdout, stderr], [0, `${version}\n`, ""], flag);
  }
});

describe("models --provider", () => {
  it("says in words of the command line what is missing", async () => {
    await using cli = await openCli();
    const of = (name: string) => cli.run(["models", "--provider", name]);
    const unknown = await of("nosuch");
    assert.equal(unknown.code, 2);
    assert.match(unknown.stderr, /^maxclaw: There is no provider nosuch\. .*openai.*--api-base/m);
    const keyless = await of("groq");
    assert.equal(keyless.code, 1);
    assert.match(keyless.stderr, /^groq: it has no key yet\. Add one with: maxclaw onboard --provider groq$/m);
    for (const { stderr } of [unknown, keyless]) assert.doesNotMatch(stderr, /baseURL|Send|API key is required/);
  });
});
