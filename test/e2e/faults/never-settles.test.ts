import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { tempFolder, until } from "../../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { type Daemon, startDaemon } from "../../support/worlds/daemon.js";
import { openAIConfig } from "../../support/worlds/gateway.js";
import type { AnswerScript } from "../../support/worlds/model-script.js";

/** A gateway process with one extension, whose code this is. */
async function startWith(t: TestContext, code: string, answer: AnswerScript = { text: "Hello." }, more = {}) {
  const model = await startFakeOpenAI({ answer });
  t.after(() => model[Symbol.asyncDispose]());
  const home = tempFolder(t);
  await mkdir(home, { recursive: true });
  await writeFile(join(home, "never.mjs"), `const never = () => new Promise(() => {});\n${code}`);
  const config = openAIConfig(model.apiBase, { extensions: [{ module: "./never.mjs" }], ...more });
  await writeFile(join(home, "config.json"), JSON.stringify(config));
  const daemon = await startDaemon({ home, args: ["--grace", "1"] });
  t.after(() => daemon.end("SIGKILL"));
  return { home, daemon };
}

async function ask(daemon: Daemon): Promise<string> {
  const response = await fetch(`${daemon.url}/api/message`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ content: "hello", sessionKey: "webui:main" }),
  });
  return await response.text();
}

/** It ends as asked, in time, and lets go of what it held. */
async function assertStops(daemon: Daemon, home: string, limitMs = 25_000): Promise<void> {
  const startedAt = Date.now();
  daemon.child.kill("SIGTERM");
  await until("the gateway has stopped", () => daemon.child.exitCode !== null, limitMs);
  assert.equal(daemon.child.exitCode, 0, daemon.stderr());
  assert.ok(Date.now() - startedAt < limitMs);
  for (const lock of ["gateway.lock", "workspace/.sessions/.lock"])
    assert.equal(existsSync(join(home, lock)), false, `${lock} is left`);
}

test("a storage that never settles blocks no list, is told by name, and holds up no stop", async (t) => {
  const names = ["get", "getMany", "set", "delete", "keys", "change", "[Symbol.asyncDispose]"];
  const storage = `{ name: "stuck", ${names.map((name) => `${name}: never`).join(", ")} }`;
  const { home, daemon } = await startWith(t, `export default { storage: ${storage} };`);
  assert.match(await ask(daemon), /Hello\./);
  const listed = await fetch(`${daemon.url}/api/sessions`, { signal: AbortSignal.timeout(15_000) });
  assert.equal(listed.status, 200);
  assert.match(await listed.text(), /hello/);
  const status = async (): Promise<string> => await (await fetch(`${daemon.url}/api/status`)).text();
  await until("status names it", async () => /session storage \(stuck\) has failed since/.test(await status()), 15_000);
  assert.match(await status(), /stuck: no answer within 5 s/);
  await assertStops(daemon, home);
});

test("tools, models, channels and disposers that never settle hold up no stop", async (t) => {
  const tool = `{ name: "wait_long", description: "Waits.", input: z.object({}), risk: "none", run: never }`;
  const callsTool: AnswerScript = ({ index }) => ({
    toolCalls: [{ id: `call_${index}`, name: "wait_long", input: {} }],
  });
  const cases: readonly (readonly [string, string, boolean, AnswerScript?])[] = [
    ["tool", `export default ({ z }) => ({ tools: [${tool}] });`, true, callsTool],
    [
      "channel",
      `export default { channels: () => [{ name: "stuck", run: never, send: never, split: (text) => [text] }] };`,
      false,
    ],
    ["disposer", `export default { dispose: never };`, false],
  ];
  for (const [what, code, isAsked, answer] of cases) {
    const { home, daemon } = await startWith(t, code, answer);
    const asking = isAsked ? ask(daemon).catch(() => "") : undefined;
    if (isAsked) {
      const events = async (): Promise<string> =>
        await (await fetch(`${daemon.url}/api/sessions`, { signal: AbortSignal.timeout(5000) })).text();
      await until("the turn runs", async () => (await events()).includes("hello"), 10_000);
    }
    await assertStops(daemon, home).catch((error: unknown) => {
      throw new Error(`${what}: ${error instanceof Error ? error.message : error}`);
    });
    await asking;
  }
});

test("a model that never settles holds up no stop", async (t) => {
  const provider = `{ name: "stuck", stream: () => ({ [Symbol.asyncIterator]: () => ({ next: never, return: never }) }) }`;
  const { home, daemon } = await startWith(t, `export default { providers: [${provider}] };`, undefined, {
    agents: { defaults: { model: "stuck/one" } },
  });
  const asking = ask(daemon).catch(() => "");
  await until("the turn runs", async () =>
    (await (await fetch(`${daemon.url}/api/sessions`)).text()).includes("hello"),
  );
  await assertStops(daemon, home);
  await asking;
});
