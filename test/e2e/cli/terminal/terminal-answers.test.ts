import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openCli } from "../../../support/worlds/cli.js";
import { startCliGateway, withModel } from "../../../support/worlds/cli-gateway.js";
import { withoutProgram } from "../../../support/worlds/needs.js";
import { keys, openPty } from "../../../support/worlds/pty.js";

const esc = "\u001b";
const markdown = "**Bold** and `code`.\n\n- one\n- two\n";
const colours = { NO_COLOR: "" };

describe("an answer in a terminal", { skip: withoutProgram("script") }, () => {
  it("is shown as Markdown means it, in a conversation and after -m, and as it is with NO_COLOR", async () => {
    await using cli = await openCli();
    await using _model = await withModel(cli, { text: ["**Bo", "ld** and `co", "de`.\n\n- one\n- t", "wo\n"] });
    await startCliGateway(cli);
    {
      await using pty = openPty(cli, ["agent"], { env: colours });
      await pty.see(/> /);
      pty.type(`go${keys.enter}`);
      await pty.see(/Bold and code\.\s+• one\s+• two\r\n/);
      assert.ok(pty.written.includes(`${esc}[1mBold${esc}[22m and ${esc}[36mcode${esc}[39m.`));
      await pty.see(/> /);
      pty.type(`/exit${keys.enter}`);
      assert.equal(await pty.ended, 0);
    }
    await using once = openPty(cli, ["agent", "-m", "go"], { env: colours });
    assert.equal(await once.ended, 0);
    assert.ok(once.written.includes(`${esc}[1mBold${esc}[22m`) && once.written.includes("• two"));
    await using plain = openPty(cli, ["agent", "-m", "go"], { env: { NO_COLOR: "1" } });
    assert.equal(await plain.ended, 0);
    assert.ok(plain.written.includes("**Bold** and `code`."));
    assert.ok((await cli.run(["agent", "-m", "go"], { env: colours })).stdout.startsWith(markdown.trim()));
  });

  it("is stopped by Ctrl+C, which says so, and goes on after it; twice leaves at once", async () => {
    await using cli = await openCli();
    await using model = await withModel(cli, { text: ["a long ", "story"], hang: "middle" });
    await startCliGateway(cli);
    {
      await using pty = openPty(cli, ["agent"], { env: colours });
      await pty.see(/> /);
      pty.type(`tell${keys.enter}`);
      await pty.see(/a long story/);
      pty.type(keys.ctrlC);
      await pty.see(/· Stopping the answer\. Ctrl\+C once more leaves\.\r\n/);
      await pty.see(/Stopped\.\r\n/);
      await pty.see(/> /);
      model.setAnswer({ text: "still here" });
      pty.type(`hello?${keys.enter}`);
      await pty.see(/still here/);
      await pty.see(/> /);
      pty.type(keys.ctrlC);
      await pty.see(/Ctrl\+C once more to leave/);
      pty.type(keys.ctrlC);
      assert.equal(await pty.ended, 0);
    }
    model.setAnswer({ text: "endless", hang: "middle" });
    await using pty = openPty(cli, ["agent"], { env: colours });
    await pty.see(/> /);
    pty.type(`tell${keys.enter}`);
    await pty.see(/endless/);
    pty.type(keys.ctrlC + keys.ctrlC);
    await pty.see(/Stopping the answer/);
    assert.equal(await pty.ended, 0);
  });
});
