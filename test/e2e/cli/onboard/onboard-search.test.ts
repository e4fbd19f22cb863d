import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { startFakeListing } from "../../../support/fakes/models/fake-listing.js";
import { openCli } from "../../../support/worlds/cli.js";
import { withoutProgram } from "../../../support/worlds/needs.js";
import { keys, openPty, type Pty } from "../../../support/worlds/pty.js";

const skip = withoutProgram("script");
const many = [...Array.from({ length: 14 }, (_, index) => `other-${index}`), "gpt-5-mini", "gpt-5", "llama"];

/** The model that the config has after somebody answered the question for it. */
async function chosenOf(models: readonly string[], answer: (pty: Pty) => Promise<void> | void): Promise<string> {
  await using cli = await openCli();
  await using provider = await startFakeListing({ key: "k", models });
  await mkdir(cli.home, { mode: 0o700 });
  const acme = { apiBase: provider.apiBase, apiKey: "k" };
  await writeFile(join(cli.home, "config.json"), JSON.stringify({ providers: { acme } }), { mode: 0o600 });
  await using pty = openPty(cli, ["onboard", "--provider", "acme", "--channel", "none", "--no-service"]);
  await pty.see(/Keep the key of acme/);
  pty.type(keys.enter);
  await pty.see(/Which model\?/);
  await answer(pty);
  await pty.see(/Next: /);
  assert.equal(await pty.ended, 0);
  return JSON.parse(await readFile(join(cli.home, "config.json"), "utf8")).agents.defaults.model;
}

describe("the question for a model", { skip }, () => {
  it("takes the one whose name is typed, however many there are", async () => {
    for (const models of [["small", "llama"], many]) {
      const waiting = await chosenOf(models, async (pty) => {
        pty.type("llam");
        await pty.see(/llam[\s\S]*match/);
        pty.type(keys.enter);
      });
      assert.equal(waiting, "acme/llama");
      const atOnce = await chosenOf(models, (pty) => pty.type(`llama${keys.enter}`));
      assert.equal(atOnce, "acme/llama", "pasted with its line end");
    }
  });

  it("takes a name that is typed in full before a longer one", async () => {
    assert.equal(await chosenOf(many, (pty) => pty.type(`gpt-5${keys.enter}`)), "acme/gpt-5");
  });

  it("asks for the name of one that is not in the list, with what was typed", async () => {
    const chosen = await chosenOf(many, async (pty) => {
      pty.type(`brand-new${keys.enter}`);
      await pty.see(/Which model\? \(as the provider names it[\s\S]*brand-new/);
      pty.type(keys.enter);
    });
    assert.equal(chosen, "acme/brand-new");
  });

  it("moves with the arrows", async () => {
    assert.equal(await chosenOf(["small", "llama"], (pty) => pty.type(keys.down + keys.enter)), "acme/llama");
  });
});
