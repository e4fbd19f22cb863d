import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { makeFakePrograms } from "../../../support/fakes/fake-programs.js";
import { type CliSandbox, openCli } from "../../../support/worlds/cli.js";
import { withoutProgram } from "../../../support/worlds/needs.js";
import { keys, openPty } from "../../../support/worlds/pty.js";

const flags = ["--offline", "--provider", "ollama", "--model", "m", "--channel", "none"];
const unitOf = (cli: CliSandbox): string => join(dirname(cli.home), ".config", "systemd", "user", "maxclaw.service");

/** A systemd that says yes to everything. */
function fakeSystemd(): Readonly<Record<string, string>> {
  const programs = makeFakePrograms();
  for (const name of ["systemctl", "loginctl", "systemd-notify"]) programs.add(name);
  return { PATH: `${programs.folder}:/usr/bin:/bin`, XDG_RUNTIME_DIR: programs.folder };
}

describe("onboard and the service", { skip: process.platform !== "linux" && "needs Linux" }, () => {
  it("installs it by flag, for this home", async () => {
    await using cli = await openCli();
    const { code, stdout, stderr } = await cli.run(["onboard", "--yes", ...flags, "--service"], { env: fakeSystemd() });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /Installed: .*maxclaw\.service[\s\S]*The gateway runs\.[\s\S]*Next: maxclaw agent/);
    assert.ok((await readFile(unitOf(cli), "utf8")).includes(cli.home));
  });

  it("keeps everything else where there is nothing that could start it, and ends with 69", async () => {
    await using cli = await openCli();
    const { folder } = makeFakePrograms();
    const { code, stderr } = await cli.run(["onboard", "--yes", ...flags, "--service"], { env: { PATH: folder } });
    assert.equal(code, 69);
    assert.match(stderr, /There is no systemd on this machine/);
    const config = JSON.parse(await readFile(join(cli.home, "config.json"), "utf8"));
    assert.equal(config.agents.defaults.model, "ollama/m");
    assert.equal(existsSync(unitOf(cli)), false);
  });

  it("asks in a terminal, installs it after a yes, and does not ask again", {
    skip: withoutProgram("script"),
  }, async () => {
    await using cli = await openCli();
    const env = fakeSystemd();
    {
      await using pty = openPty(cli, ["onboard", ...flags], { env });
      await pty.see(/Start the gateway now, and each time this machine starts\?/);
      pty.type(keys.enter);
      await pty.see(/Installed: /);
      await pty.see(/Set up: ollama with the model ollama\/m/);
      assert.equal(await pty.ended, 0);
      assert.ok(existsSync(unitOf(cli)));
    }
    await using pty = openPty(cli, ["onboard", ...flags], { env });
    assert.equal(await pty.ended, 0);
    assert.doesNotMatch(pty.written, /each time this machine starts/);
  });

  it("stopped at the question, keeps what was answered", { skip: withoutProgram("script") }, async () => {
    await using cli = await openCli();
    await using pty = openPty(cli, ["onboard", ...flags], { env: fakeSystemd() });
    await pty.see(/Start the gateway now/);
    pty.type(keys.ctrlC);
    await pty.see(/Stopped\. Kept: ollama with the model ollama\/m\./);
    assert.equal(await pty.ended, 130);
    assert.equal(existsSync(unitOf(cli)), false);
  });
});
