import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { unpackHome } from "../../../support/old-home/fixture.js";
import { projectFile } from "../../../support/project.js";
import { runMaxclaw, startDaemon } from "../../../support/worlds/daemon.js";
import { openAIConfig, tempHome } from "../../../support/worlds/gateway.js";

const newer = JSON.stringify({ format: "maxclaw-home", v: 99 });

test("a home that 0.1 has left after a crash is opened, and what was waiting there is answered", async () => {
  await using model = await startFakeOpenAI({ answer: { text: "answered after the upgrade" } });
  const home = await tempHome();
  await unpackHome(projectFile("test/fixtures/home-0.1.json"), home);
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase)), { mode: 0o600 });
  await using daemon = await startDaemon({ home });
  const waiting = async (): Promise<number> => {
    const answer = await fetch(`${daemon.url}/api/status`);
    const { inboundWaiting, outboundWaiting } = (await answer.json()) as Record<string, number>;
    return (inboundWaiting ?? 0) + (outboundWaiting ?? 0);
  };
  for (const end = Date.now() + 30_000; (await waiting()) > 0; )
    if (Date.now() > end) throw new Error("Not answered within 30 s");
  const old = await runMaxclaw(["sessions", "show", "cli:default"], home);
  assert.match(old.stdout, /remember the blue bicycle[\s\S]*the answer to[\s\S]*and the red one/);
  const other = await runMaxclaw(["sessions", "show", "cli:other"], home);
  assert.match(other.stdout, /this is never answered[\s\S]*answered after the upgrade/);
  for (const args of [
    ["ledger", "check"],
    ["events", "verify"],
  ]) {
    const checked = await runMaxclaw(args, home);
    assert.equal(checked.code, 0, checked.stdout);
  }
  assert.equal(await daemon.end("SIGTERM"), 0);
  assert.deepEqual(JSON.parse(await readFile(join(home, "format.json"), "utf8")), { format: "maxclaw-home", v: 1 });
});

test("a home of a newer version is refused by name, by the gateway and by what works on its files, and nothing is changed", async () => {
  const home = await tempHome();
  await unpackHome(projectFile("test/fixtures/home-0.1.json"), home);
  await writeFile(join(home, "format.json"), newer);
  const sentence =
    /format\.json says that this home has format 99; this maxclaw reads formats up to 2\. It was written by a newer version: update maxclaw/;
  const refused = await runMaxclaw(["gateway", "-p", "0"], home);
  assert.equal(refused.code, 65);
  assert.match(refused.stderr, sentence);
  for (const args of [["repair"], ["backup", join(home, "..", `x-${process.pid}.tar.gz`)], ["sessions", "list"]]) {
    const done = await runMaxclaw(args, home);
    assert.notEqual(done.code, 0, args.join(" "));
    assert.match(done.stderr, sentence);
  }
  assert.equal(await readFile(join(home, "format.json"), "utf8"), newer);
});

test("a format that a crash has cut is written again, and a backup from before is restored over a newer home", async () => {
  const home = await tempHome();
  const file = join(home, "..", `before-${process.pid}-${Date.now()}.tar.gz`);
  assert.equal((await runMaxclaw(["usage"], home)).code, 0);
  await writeFile(join(home, "format.json"), '{"form');
  assert.equal((await runMaxclaw(["usage"], home)).code, 0);
  assert.equal(JSON.parse(await readFile(join(home, "format.json"), "utf8")).v, 2, "nobody knows what it said");
  assert.equal((await runMaxclaw(["backup", file], home)).code, 0);
  await writeFile(join(home, "format.json"), newer);
  const restored = await runMaxclaw(["restore", file, "--force"], home);
  assert.equal(restored.code, 0, restored.stderr);
  assert.equal((await runMaxclaw(["sessions", "list"], home)).code, 0);
});
