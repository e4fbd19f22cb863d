import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { runMaxclaw, startDaemon } from "../../../support/worlds/daemon.js";
import { openAIConfig, startGateway } from "../../../support/worlds/gateway.js";

test("a message whose end was lost with its log is named until somebody settles it, and is told as settled from then on", async () => {
  await using model = await startFakeOpenAI({ answer: { text: "ok" } });
  await using gateway = await startGateway({ config: openAIConfig(model.apiBase) });
  const { home } = gateway;
  for (const text of ["one", "two"]) await gateway.ask(text);
  await gateway.gateway.drain(1000);
  await gateway.gateway[Symbol.asyncDispose]();
  const path = join(gateway.workspace, ".sessions", "webui_test.events.jsonl");
  const bytes = readFileSync(path);
  const end = bytes.indexOf('"type":"turn_execution_complete"');
  writeFileSync(path, bytes.fill(0, end, end + 60));
  const repaired = await runMaxclaw(["repair"], home);
  assert.match(repaired.stdout, /The log of webui:test was damaged/);

  const before = await runMaxclaw(["ledger", "check"], home);
  assert.equal(before.code, 1);
  const [, messageId = ""] =
    /^lost: (\S+) in webui:test, accepted as event \d+ of that conversation$/m.exec(before.stdout) ?? [];
  assert.match(before.stdout, /maxclaw ledger settle/);
  const answered: string = JSON.parse((await runMaxclaw(["ledger", "check", "--json"], home)).stdout).entries.find(
    (entry: { end: string }) => entry.end === "answered",
  ).messageId;
  for (const [id, why] of [
    [answered, "was answered"],
    ["msg_nobody", "is not known"],
  ] as const) {
    const wrong = await runMaxclaw(["ledger", "settle", messageId, id], home);
    assert.equal(wrong.code, 1, wrong.stdout);
    assert.match(wrong.stderr, new RegExp(`${id} ${why}.*Nothing was changed`));
  }
  {
    await using daemon = await startDaemon({ home });
    const held = await runMaxclaw(["ledger", "settle", messageId], home);
    assert.equal(held.code, 1);
    assert.match(held.stderr, /runs|in use|is held/);
    await daemon.end("SIGTERM");
  }
  assert.equal((await runMaxclaw(["ledger", "check"], home)).code, 1, "nothing of it was done");

  const settled = await runMaxclaw(["ledger", "settle", messageId], home);
  assert.deepEqual([settled.code, settled.stdout], [0, `${messageId} in webui:test is settled\n`], settled.stderr);
  for (const isRunning of [false, true]) {
    await using _daemon = isRunning ? await startDaemon({ home }) : undefined;
    const after = await runMaxclaw(["ledger", "check"], home);
    assert.deepEqual([after.code, after.stdout], [0, "2 accepted: 1 answered, 0 lost, 1 settled\n"], after.stderr);
    const verified = await runMaxclaw(["events", "verify"], home);
    assert.equal(verified.code, 0, verified.stdout);
  }
  const twice = await runMaxclaw(["ledger", "settle", messageId], home);
  assert.match(twice.stderr, /is settled already/);

  await using again = await startGateway({ home, isRuled: false });
  assert.equal((await again.ask("three")).response, "ok");
});
