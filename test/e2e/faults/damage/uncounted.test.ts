import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../../support/engine/engine-kit.js";
import { runMaxclaw, startDaemon } from "../../../support/worlds/daemon.js";
import { tempHome } from "../../../support/worlds/gateway.js";
import { postJson } from "../../../support/worlds/http/http-server.js";

const names = ["whole", "garbled", "folder", "emptied", "gone"];

test("a conversation whose log is damaged, cannot be read or is gone is named by ledger check, which does not end well then", async () => {
  const home = await tempHome();
  {
    await using daemon = await startDaemon({ home });
    for (const name of names)
      await postJson(`${daemon.url}/api/message`, { sessionKey: `webui:${name}`, content: "/help" });
    await daemon.end("SIGTERM");
  }
  const dir = join(home, "workspace", ".sessions");
  const log = (name: string): string => join(dir, `webui_${name}.events.jsonl`);
  const before = await runMaxclaw(["ledger", "check"], home);
  assert.deepEqual([before.code, before.stdout], [0, "5 accepted: 5 answered, 0 lost\n"], before.stderr);
  // What the journal has of them is gone with a restart.
  writeFileSync(log("garbled"), "x\n".repeat(14));
  rmSync(log("folder"));
  mkdirSync(log("folder"));
  truncateSync(log("emptied"), 0);
  rmSync(log("gone"));
  rmSync(join(dir, "webui_gone.json"));
  const lines = async (): Promise<readonly string[]> => {
    const { code, stdout, stderr } = await runMaxclaw(["ledger", "check"], home);
    assert.equal(code, 3, stdout + stderr);
    return stdout.trim().split("\n");
  };
  const [first, ...rest] = await lines();
  assert.match(first ?? "", /^\d accepted: .*0 lost$/);
  const named = rest.map((line) => /^not counted: messages of webui:(\w+) \(\S+\)\. \S/.exec(line)?.[1]).toSorted();
  assert.deepEqual(named, ["emptied", "folder", "garbled", "gone"], rest.join("\n"));
  const json = JSON.parse((await runMaxclaw(["ledger", "check", "--json"], home)).stdout);
  assert.equal(json.ok, false);
  assert.equal(json.uncounted.length, 4);

  const verified = await runMaxclaw(["events", "verify"], home);
  for (const name of names.slice(1)) assert.match(verified.stdout, new RegExp(`webui:${name}\\b`), verified.stdout);
  const one = await runMaxclaw(["events", "verify", "webui:emptied"], home);
  assert.match(
    one.stdout,
    /^The log of webui:emptied has no events, and its document shows .*\n0 sessions, 0 events: 1 problem$/m,
  );
  assert.equal(one.code, 1);

  const doctor = await runMaxclaw(["doctor", "--offline"], home);
  for (const name of names.slice(1)) {
    const about = doctor.stdout.split("\n").filter((line) => line.includes(`webui:${name}`) && line.startsWith("fail"));
    assert.equal(about.length, 1, `${name}: ${doctor.stdout}`);
  }
  assert.match(doctor.stdout, /webui:garbled: line 1 .* \(and 13 more there\)/);
});

test("a journal that is gone, and with it what waited, is named by ledger check and events verify", async () => {
  const home = await tempHome();
  {
    await using daemon = await startDaemon({ home });
    await postJson(`${daemon.url}/api/message`, { sessionKey: "webui:a", content: "/help" });
    await daemon.end("SIGTERM");
  }
  rmSync(join(home, "journal"), { recursive: true });
  const ledger = await runMaxclaw(["ledger", "check"], home);
  assert.equal(ledger.code, 3, ledger.stdout);
  assert.match(ledger.stderr, /The journal in \S+ is gone: .* Run: maxclaw repair\. It may find them again/);
  const verified = await runMaxclaw(["events", "verify"], home);
  assert.equal(verified.code, 1, verified.stdout);
  assert.match(verified.stdout, /^The journal in \S+ is gone: .* Run: maxclaw repair\n.*: 1 problem$/m);
});

test("a log that is damaged while a gateway runs is named, and conversations that come and go meanwhile are not", async () => {
  const home = await tempHome();
  await using daemon = await startDaemon({ home });
  const say = (name: string) =>
    postJson(`${daemon.url}/api/message`, { sessionKey: `webui:${name}`, content: "/help" });
  await say("garbled");
  const log = join(home, "workspace", ".sessions", "webui_garbled.events.jsonl");
  await until("its log is written", () => existsSync(log) && statSync(log).size > 0);
  writeFileSync(log, `x${readFileSync(log, "utf8").slice(1)}`);
  const busy = new AbortController();
  const traffic = (async () => {
    for (let n = 0; !busy.signal.aborted; n++) {
      await say(`n${n}`);
      if (n % 3 === 0)
        await fetch(`${daemon.url}/api/sessions/${encodeURIComponent(`webui:n${n}`)}`, { method: "DELETE" });
    }
  })();
  for (let round = 0; round < 3; round++) {
    const { code, stdout, stderr } = await runMaxclaw(["ledger", "check"], home);
    assert.equal(code, 3, stdout + stderr);
    assert.equal(stdout.match(/^not counted: .*/gm)?.length, 1, stdout);
    assert.match(stdout, /^not counted: messages of webui:garbled \(\S+\)\. line 1 .* is damaged/m);
  }
  const { uncounted } = JSON.parse(await (await fetch(`${daemon.url}/api/ledger`)).text());
  assert.equal(uncounted.length, 1);
  assert.match(JSON.stringify(uncounted), /"sessionKey":"webui:garbled".*"reason":"line 1 .* is damaged/);
  busy.abort();
  await traffic;
  await daemon.end("SIGTERM");
});
