import assert from "node:assert/strict";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { messageOf } from "../../../../src/errors.js";
import { until } from "../../../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { type Daemon, runMaxclaw, startDaemon } from "../../../support/worlds/daemon.js";
import { openAIConfig, tempHome } from "../../../support/worlds/gateway.js";

async function post(daemon: Daemon, path: string, body: unknown): Promise<number> {
  const headers = { "content-type": "application/json" };
  return (await fetch(`${daemon.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })).status;
}

const ask = (daemon: Daemon, content: string): Promise<number> =>
  post(daemon, "/api/message", { sessionKey: "webui:home", content });

/** A home whose workspace is on a volume of its own. */
async function apart(apiBase: string) {
  const [home, workspace] = [await tempHome(), await tempHome()];
  const config = openAIConfig(apiBase, { agents: { defaults: { model: "openai/test-model", workspace } } });
  writeFileSync(join(home, "config.json"), JSON.stringify(config));
  return { home, workspace, log: join(workspace, ".sessions", "webui_home.events.jsonl") };
}

async function assertRefused(home: string, says: RegExp): Promise<void> {
  const outcome = await startDaemon({ home }).then(
    async (daemon) => `it started: ${await daemon.end("SIGTERM")}`,
    messageOf,
  );
  assert.match(outcome, /^Ended with 65: /);
  assert.match(outcome, says);
  const examined = await runMaxclaw(["doctor"], home);
  assert.deepEqual([examined.code, says.test(examined.stdout)], [1, true], examined.stdout);
}

test("a home that was put back from an older copy, beside a newer workspace, is refused; a repair brings its messages back", async () => {
  let isAway = false;
  await using model = await startFakeOpenAI({ answer: () => (isAway ? { status: 503 } : { text: "ok" }) });
  const { home, workspace, log } = await apart(model.apiBase);
  {
    await using daemon = await startDaemon({ home });
    assert.equal(await ask(daemon, "one"), 200);
    await daemon.end("SIGTERM");
  }
  const older = join(await tempHome(), "older");
  cpSync(home, older, { recursive: true });
  isAway = true;
  {
    await using daemon = await startDaemon({ home });
    const texts = ["two", "three", "four", "five", "six"];
    const asked = texts.map((text) => ask(daemon, text).catch(() => 0));
    const accepted = (): number => readFileSync(log, "utf8").split("user_message_queued").length - 1;
    await until("the conversation tells about the messages", () => accepted() === 6, 15_000);
    await daemon.end("SIGKILL");
    await Promise.all(asked);
  }
  rmSync(home, { recursive: true });
  cpSync(older, home, { recursive: true });

  await assertRefused(home, /The journal in .* is older than it was.*Either the home was restored from an older copy/);
  const repaired = await runMaxclaw(["repair"], home);
  assert.equal(repaired.code, 0, repaired.stderr);
  assert.match(repaired.stdout, /5 accepted messages to be answered again/);
  isAway = false;
  await using daemon = await startDaemon({ home });
  const answers = (): number => readFileSync(log, "utf8").split("turn_execution_complete").length - 1;
  await until("all are answered", () => answers() > 1, 15_000);
  assert.equal(await ask(daemon, "seven"), 200);
  const checked = await runMaxclaw(["ledger", "check"], home);
  assert.deepEqual([checked.code, checked.stdout], [0, "7 accepted: 7 answered, 0 lost\n"]);
  await daemon.end("SIGTERM");
  assert.equal((await runMaxclaw(["doctor"], home)).code, 0);

  // A workspace that was emptied is not a reason to stay away.
  for (const name of readdirSync(workspace)) rmSync(join(workspace, name), { recursive: true });
  await using fresh = await startDaemon({ home });
  assert.equal(await ask(fresh, "eight"), 200);
});

test("a journal that was cut where a line ends, and whose mark was deleted, is refused for what was in it alone", async () => {
  await using model = await startFakeOpenAI({ answer: { text: "ok" } });
  const { home } = await apart(model.apiBase);
  {
    await using daemon = await startDaemon({ home });
    assert.equal(await ask(daemon, "one"), 200);
    const job = { prompt: "look at the mails", every: "1d", sessionKey: "webui:home" };
    assert.equal(await post(daemon, "/api/cron", job), 200);
    await daemon.end("SIGKILL");
  }
  const folder = join(home, "journal");
  const [name = ""] = readdirSync(folder).filter((each) => each.endsWith(".log"));
  const lines = readFileSync(join(folder, name), "utf8").split("\n");
  const cut = lines.findIndex((line) => line.includes("look at the mails"));
  assert.ok(cut > 0);
  writeFileSync(join(folder, name), `${lines.slice(0, cut).join("\n")}\n`);
  rmSync(join(home, "journal.mark"));

  await assertRefused(home, /The journal in .* is older than it was/);
  const repaired = await runMaxclaw(["repair"], home);
  assert.equal(repaired.code, 0, repaired.stderr);
  assert.match(repaired.stdout, /Also gone may be pairings, approvals \("always" too\), scheduled jobs/);
  assert.ok(existsSync(join(home, "journal.mark")));
  await using daemon = await startDaemon({ home });
  assert.equal(await ask(daemon, "two"), 200);
});
