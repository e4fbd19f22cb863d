import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { until } from "../../../support/engine/engine-kit.js";
import { openCli } from "../../../support/worlds/cli.js";
import { startCliGateway, withModel } from "../../../support/worlds/cli-gateway.js";

describe("cron on the command line", () => {
  it("says that a run waits while no gateway runs, and that it ended once one has", async () => {
    await using cli = await openCli();
    await using _model = await withModel(cli, { text: "done" });
    const [id = ""] = (await cli.run(["cron", "add", "look", "--every", "7d"])).stdout.replace("Added ", "").split(" ");
    const asked = await cli.run(["cron", "run", id]);
    assert.match(asked.stdout, /runs as soon as the gateway is started/);
    for (const command of ["history", "list"]) {
      const { stdout } = await cli.run(["cron", command]);
      assert.match(stdout, / waiting /);
      assert.doesNotMatch(stdout, /running/);
      const json = await cli.run(["cron", command, "--json"]);
      assert.match(json.stdout, /"(status|lastStatus)": "waiting"/);
    }
    await startCliGateway(cli);
    await until("the run has ended", async () => /success/.test((await cli.run(["cron", "history"])).stdout), 15_000);
  });

  it("takes no day that is not in the calendar", async () => {
    await using cli = await openCli();
    const { code, stderr } = await cli.run(["cron", "add", "x", "--at", "2031-02-30T09:00"]);
    assert.equal(code, 2);
    assert.match(stderr, /^maxclaw: 2031-02-30 is not a day of the calendar\.$/m);
  });

  it("warns of a chat on a channel that is off, with a gateway and without", async () => {
    await using cli = await openCli();
    await using _model = await withModel(cli, { text: "done" });
    const add = (chat: string) => cli.run(["cron", "add", "x", "--every", "7d", "--chat", chat]);
    const said =
      /^telegram is not switched on, so answers of this job wait until it is\. Set it up with: maxclaw onboard$/m;
    assert.match((await add("telegram:42")).stderr, said);
    assert.equal((await add("webui:main")).stderr, "");
    await startCliGateway(cli);
    const { code, stderr } = await add("telegram:42");
    assert.equal(code, 0);
    assert.match(stderr, said);
    assert.equal((await add("cli:main")).stderr, "");
  });
});
