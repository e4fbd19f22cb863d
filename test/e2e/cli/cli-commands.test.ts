import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { openCli } from "../../support/worlds/cli.js";
import { startCliGateway, withModel } from "../../support/worlds/cli-gateway.js";

describe("commands that look at and change what a gateway holds", () => {
  for (const isRunning of [true, false]) {
    it(`read and change sessions ${isRunning ? "through the gateway that runs" : "when none runs"}`, async () => {
      await using cli = await openCli();
      await using _model = await withModel(cli, { text: "Noted." });
      if (isRunning) await startCliGateway(cli);
      await cli.run(["agent", "-m", "remember the milk"]);

      const list = await cli.run(["sessions", "list"]);
      assert.match(list.stdout, /^KEY +MESSAGES +LAST +TITLE\ncli:default +2 .*remember the milk$/m);
      const show = await cli.run(["sessions", "show", "cli:default"]);
      assert.match(show.stdout, /remember the milk[\s\S]*Noted\./);
      const unknown = await cli.run(["sessions", "show", "cli:nobody"]);
      assert.equal(unknown.code, 1);
      assert.match(unknown.stderr, /^maxclaw: There is no session cli:nobody/);

      const fork = await cli.run(["sessions", "fork", "cli:default", "--at", "1"]);
      assert.match(fork.stdout, /^webui:fork-[0-9a-f]{8}\n$/);
      assert.match(fork.stderr, /Copied cli:default up to event 1\..*maxclaw agent -s webui:fork-/);
      const beyond = await cli.run(["sessions", "fork", "cli:default", "--at", "999"]);
      assert.deepEqual([beyond.code, beyond.stdout], [1, ""]);
      assert.match(beyond.stderr, /^maxclaw: at: cli:default has the events 1 to \d+, and no 999/);
      await cli.run(["sessions", "delete", fork.stdout.trim()]);

      const ledger = await cli.run(["ledger", "check"]);
      assert.deepEqual([ledger.code, ledger.stdout], [0, "1 accepted: 1 answered, 0 lost\n"]);

      const deleted = await cli.run(["sessions", "delete", "cli:default"]);
      assert.deepEqual([deleted.code, deleted.stdout], [0, "Deleted cli:default\n"]);
      assert.match((await cli.run(["sessions", "list"])).stdout, /There is no conversation yet/);
    });
  }

  it("wait for each other where no gateway runs", async () => {
    await using cli = await openCli();
    const add = (name: string): readonly string[] => ["cron", "add", name, "--every", "1d"];
    assert.equal((await cli.run(add("first"))).code, 0);
    const lines = [...["a", "b", "c", "d"].map(add), ["config", "set", "log.level", "info"]];
    const ended = await Promise.all(lines.map((args) => cli.run(args)));
    for (const { code, stdout, stderr } of ended) assert.equal(code, 0, stdout + stderr);
    assert.match(ended.at(-1)?.stderr ?? "", /^No gateway is running/m);
    assert.equal((await cli.run(["cron", "list"])).stdout.trim().split("\n").length, 6);
  });

  it("show the status of the gateway that runs", async () => {
    await using cli = await openCli();
    await using _model = await withModel(cli, { text: "x" });
    const { child, url } = await startCliGateway(cli);
    const text = await cli.run(["status"]);
    assert.equal(text.code, /^Problem:/m.test(text.stdout) ? 1 : 0);
    assert.match(text.stdout, new RegExp(`ready, pid ${child.pid}`));
    assert.match(text.stdout, /^Model: +\S+ \(openai: "openai\/" names it\)$/m);
    assert.ok(text.stdout.includes(`${url}/`));
    const parsed = JSON.parse((await cli.run(["status", "--json"])).stdout);
    assert.deepEqual([parsed.running, parsed.pid, parsed.state], [true, child.pid, "ready"]);
  });

  it("list and show skills", async () => {
    await using cli = await openCli();
    const folder = join(cli.home, "workspace", "skills", "tea");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "SKILL.md"), "---\nname: tea\ndescription: How tea is made\n---\nBoil water first.\n");
    assert.match((await cli.run(["skills", "list"])).stdout, /^tea +workspace +How tea is made$/m);
    assert.match((await cli.run(["skills", "show", "tea"])).stdout, /Boil water first\./);
    assert.equal((await cli.run(["skills", "show", "coffee"])).code, 1);
  });

  it("make, check, install and switch skills", async () => {
    await using cli = await openCli();
    await using _model = await withModel(cli, { text: "x" });
    const made = await cli.run(["skills", "new", "tea", "-d", "How tea is made"]);
    assert.match(made.stdout, /^Wrote .*workspace\/skills\/tea\/SKILL\.md\n$/);
    assert.equal((await cli.run(["skills", "new", "tea"])).code, 1);
    assert.equal((await cli.run(["skills", "validate", "tea"])).stdout, "tea: fine\n");
    await startCliGateway(cli);
    assert.equal((await cli.run(["skills", "disable", "tea"])).stdout, "tea is off from the next message on\n");
    assert.match((await cli.run(["skills", "list"])).stdout, /^tea +workspace, off +How tea is made$/m);
    const off = await cli.run(["skills", "show", "tea"]);
    assert.match(off.stdout, /step by step/);
    assert.match(off.stderr, /tea is off\. To switch it on: maxclaw skills enable tea/);
    assert.equal((await cli.run(["skills", "enable", "tea"])).code, 0);
    assert.match((await cli.run(["skills", "disable", "coffee"])).stderr, /^maxclaw: There is no skill coffee/);

    const source = join(cli.home, "elsewhere", "coffee.md");
    await mkdir(join(cli.home, "elsewhere"), { recursive: true });
    await writeFile(source, "---\nname: coffee\ndescription: How coffee is made\n---\nGrind first.\n");
    assert.match((await cli.run(["skills", "install", source])).stdout, /^Installed coffee in .*coffee\.md\n$/);
    assert.match((await cli.run(["skills", "install", source])).stderr, /already\. Use --force/);
    assert.match((await cli.run(["skills", "show", "coffee"])).stdout, /Grind first\./);
    await writeFile(join(cli.home, "workspace", "skills", "coffee.md"), "---\nname: [\n---\nx\n");
    const broken = await cli.run(["skills", "validate"]);
    assert.equal(broken.code, 1);
    assert.match(broken.stdout, /^coffee: does not work\n {2}error: Its front matter cannot be read/m);
    assert.match(broken.stdout, /^weather: fine$/m);
  });

  it("refuse a pairing code that nobody has", async () => {
    await using cli = await openCli();
    assert.match((await cli.run(["pair", "list"])).stdout, /Nobody waits/);
    for (const args of [
      ["approve", "ABCD1234"],
      ["revoke", "telegram:42"],
    ]) {
      const { code, stderr } = await cli.run(["pair", ...args]);
      assert.equal(code, 1);
      assert.match(stderr, /^maxclaw: \S/);
    }
  });

  it("find a lock whose process is gone, and take no notice of it", async () => {
    await using cli = await openCli();
    const { child, result } = await startCliGateway(cli);
    child.kill("SIGKILL");
    await result;
    assert.match((await cli.run(["status"])).stdout, /no gateway is running/);
    assert.equal((await cli.run(["sessions", "list"])).code, 0);
  });
});
