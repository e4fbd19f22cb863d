import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { describe, it } from "node:test";
import { gate, until } from "../../../support/engine/engine-kit.js";
import { fillUp, makeRoom } from "../../../support/engine/small-disk.js";
import { finish, openCli, outputOf } from "../../../support/worlds/cli.js";
import { startCliGateway, withModel } from "../../../support/worlds/cli-gateway.js";
import { withoutSmallDisk } from "../../../support/worlds/needs.js";

describe("a message that waits", () => {
  it("says that the one before it is still being answered", async () => {
    await using cli = await openCli();
    const held = gate();
    await using model = await withModel(cli, async () => {
      await held.opened;
      return { text: "ok" };
    });
    await startCliGateway(cli);
    const first = cli.run(["agent", "-m", "first"]);
    await until("the model works on it", () => model.requests.length === 1);
    const second = cli.start(["agent", "-m", "second"]);
    const done = finish(second);
    const noted = await outputOf(second.stderr, /\n/);
    held.open();
    assert.equal(
      noted,
      "Waiting: the message before this one in cli:default is still being answered. Look at it with: maxclaw attach cli:default\n",
    );
    assert.deepEqual(
      await first,
      { code: 0, stdout: "ok\n", stderr: "" },
      "its own answer takes as long, without a word",
    );
    assert.deepEqual(await done, { code: 0, stdout: "ok\n", stderr: noted });
  });

  it("names the full disk, as status does before and behind it", { skip: withoutSmallDisk() }, async () => {
    await using cli = await openCli();
    mkdirSync(cli.home);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m,mode=700", "maxclaw-test", cli.home]);
    using _disk = { [Symbol.dispose]: () => execFileSync("umount", ["-l", cli.home]) };
    await using _model = await withModel(cli, { text: "ok" });
    chmodSync(`${cli.home}/config.json`, 0o600);
    const gateway = await startCliGateway(cli);
    assert.equal((await cli.run(["agent", "-m", "hello"])).stdout, "ok\n");
    fillUp(cli.home, 0);
    const early = await cli.run(["status"]);
    assert.equal(early.code, 1, early.stdout);
    assert.match(early.stdout, /^Problem: +The disk of \S+ is full\. Free some space\.$/m);

    const waiting = cli.start(["agent", "-m", "are you there?"]);
    const done = finish(waiting);
    assert.match(
      await outputOf(waiting.stderr, /\n/),
      /^Waiting: The disk refuses writes to .*: ENOSPC.*Free some space/,
    );
    const late = await cli.run(["status"]);
    assert.deepEqual([late.code, late.stdout.match(/^Problem: +The disk/gm)?.length], [1, 1], late.stdout);
    makeRoom(cli.home);
    assert.deepEqual([(await done).code, (await done).stdout], [0, "ok\n"]);

    gateway.child.kill("SIGTERM");
    await gateway.result;
    fillUp(cli.home, 0);
    const stopped = await cli.run(["status"]);
    assert.equal(stopped.code, 1, stopped.stdout);
    assert.match(stopped.stdout, /^Problem: +The disk of .* The gateway does not start until then\.$/m);
    const { stdout } = await cli.run(["doctor", "--offline"]);
    assert.match(stdout, /^fail {2}disk +Only 0 MB are free for .*\n +To do: Free some space/m);
    assert.match(stdout, /^warn {2}disk +How long the disk takes was not measured: the disk is full$/m);
  });
});
