import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gate, until } from "../../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { runMaxclaw, startDaemon } from "../../support/worlds/daemon.js";
import { openAIConfig, tempHome } from "../../support/worlds/gateway.js";
import { postJson } from "../../support/worlds/http/http-server.js";

test("status without a gateway names what waits, and what would keep the gateway from starting", async () => {
  const held = gate();
  await using model = await startFakeOpenAI({
    async answer() {
      await held.opened;
      return { text: "ok" };
    },
  });
  const home = await tempHome();
  writeFileSync(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase)), { mode: 0o600 });
  const daemon = await startDaemon({ home });
  const cut = postJson(`${daemon.url}/api/message`, { sessionKey: "webui:home", content: "hello" }).catch(() => "cut");
  await until("the model works on it", () => model.requests.length === 1);
  await daemon.end("SIGKILL");
  assert.equal(await cut, "cut");
  held.open();
  const waits = await runMaxclaw(["status"], home);
  assert.match(waits.stdout, /^Waiting: +1 message waits for the next start, to be answered$/m);
  assert.doesNotMatch(waits.stdout, /Problem:/);
  assert.equal(waits.code, 0, "that alone is nothing wrong");
  const { inboundWaiting, outboundWaiting } = JSON.parse((await runMaxclaw(["status", "--json"], home)).stdout);
  assert.deepEqual([inboundWaiting, outboundWaiting], [1, 0]);

  const folder = join(home, "journal");
  const path = join(folder, readdirSync(folder)[0] ?? "");
  const bytes = readFileSync(path);
  bytes[40] = (bytes[40] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  const damaged = await runMaxclaw(["status"], home);
  assert.equal(damaged.code, 1, damaged.stdout);
  assert.match(damaged.stdout, /^Problem: .*is damaged at byte .*maxclaw repair/m);
  assert.equal((await runMaxclaw(["gateway", "-p", "0"], home)).code, 65);
});

test("status without a gateway names what the policy can never do", async () => {
  const home = await tempHome();
  const rules = [{ tool: "exec", argument: "npm test | tee out.txt", verdict: "allow" }];
  const config = { owners: ["telegram:@ann"], policy: { rules } };
  writeFileSync(join(home, "config.json"), JSON.stringify(config), { mode: 0o600 });
  const { code, stdout } = await runMaxclaw(["status"], home);
  assert.equal(code, 1, stdout);
  assert.match(stdout, /^Problem: +policy\.rules\[0\] allows no command: /m);
  assert.match(stdout, /^Problem: +owners: telegram:@ann never matches/m);
});
