import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { runMaxclaw, startDaemon } from "../../support/worlds/daemon.js";
import { tempHome } from "../../support/worlds/gateway.js";
import { postJson } from "../../support/worlds/http/http-server.js";

test("what was deleted is not lost for a repair, and status says one thing about a damaged journal", async () => {
  const home = await tempHome();
  const daemon = await startDaemon({ home });
  const say = (sessionKey: string, content: string) => postJson(`${daemon.url}/api/message`, { sessionKey, content });
  await say("webui:work", "hello");
  await say("webui:other", "hello");
  const deleted = await fetch(`${daemon.url}/api/sessions/webui%3Awork`, { method: "DELETE" });
  assert.equal(deleted.status, 200);
  await say("webui:work", "hello again");
  await daemon.end("SIGTERM");
  const folder = join(home, "journal");
  const path = join(folder, readdirSync(folder)[0] ?? "");
  const bytes = readFileSync(path);
  for (let at = 40; at < bytes.length; at += 64) bytes[at] = (bytes[at] ?? 0) ^ 5;
  writeFileSync(path, bytes);

  const status = await runMaxclaw(["status"], home);
  assert.equal(status.stdout.match(/^Problem: /gm)?.length, 1, status.stdout);
  assert.match(status.stdout, /^Problem: .*is damaged at byte.*maxclaw repair/m);
  const ledger = await runMaxclaw(["ledger", "check"], home);
  assert.match(ledger.stderr, /is damaged at byte.*maxclaw repair.*may find them again/, ledger.stdout);
  const { stdout, stderr } = await runMaxclaw(["repair"], home);
  assert.match(stdout, /transactions/, stderr);
  assert.doesNotMatch(stdout, /lost: events/);
  const verified = await runMaxclaw(["events", "verify"], home);
  assert.equal(verified.code, 0, verified.stdout);
});
