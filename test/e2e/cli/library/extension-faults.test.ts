import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { startDaemon } from "../../../support/worlds/daemon.js";
import { openAIConfig, tempHome } from "../../../support/worlds/gateway.js";

const status = z.object({ problems: z.array(z.string()) });

/** A gateway process with these extensions; what `status` says about each, and what it answers to a message. */
async function startWith(modules: Readonly<Record<string, string>>) {
  await using model = await startFakeOpenAI({ answer: { text: "Still here." } });
  const home = await tempHome();
  for (const [name, code] of Object.entries(modules)) await writeFile(join(home, name), code);
  const extensions = Object.keys(modules).map((module) => ({ module: `./${module}` }));
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase, { extensions })));
  await using daemon = await startDaemon({ home, readyLimitMs: 40_000 });
  const sent = await fetch(`${daemon.url}/api/message`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ content: "hello", sessionKey: "webui:main" }),
  });
  const answer = await sent.text();
  const { problems } = status.parse(await (await fetch(`${daemon.url}/api/status`)).json());
  assert.equal(await daemon.end("SIGTERM"), 0, daemon.stderr());
  const told = (module: string): string =>
    problems.filter((problem) => problem.startsWith(`The extension ./${module} is left out: `)).join("\n");
  return { answer, told };
}

test("modules and factories that never settle are left out after 10 seconds, and the gateway starts", async () => {
  const codes = {
    "import.mjs": "await new Promise(() => {}); export default {};",
    "factory.mjs": "export default () => new Promise(() => {});",
  };
  const started = Object.entries(codes).map(([name, code]) => startWith({ [name]: code }));
  for (const [index, name] of Object.keys(codes).entries()) {
    const { answer, told } = (await started[index]) ?? assert.fail();
    assert.match(answer, /Still here\./);
    assert.match(told(name), /was not ready after 10 s/, name);
  }
});

test("whatever an extension throws or rejects later, and whatever it gives for channels, harms it alone", async () => {
  const later = "new Promise((_, no) => setTimeout(() => no(new Error('too late')), 20))";
  const { answer, told } = await startWith({
    "later.mjs": `export default () => ${later};`,
    "promise.mjs": `export default { channels: () => ${later} };`,
    "nothing.mjs": "export default { channels: () => undefined };",
    "never.mjs": "export default { channels: () => new Promise(() => {}) };",
    "null.mjs":
      "export default { channels: () => [null, { run() {}, split() {}, send() {} }, { name: 'x', run: async () => {}, split: (t) => [t], send() {} }] };",
    "twice.mjs":
      "const one = { name: 'twin', run: async () => {}, split: (t) => [t], send() {} }; export default { channels: () => [one, { ...one }] };",
    "reactor.mjs": `export default { reactors: [{ name: "slow", start: () => ${later}, stop: () => ${later} }] };`,
    "dispose.mjs": "export default { dispose() { throw new Error('cannot') } };",
  });
  assert.match(answer, /Still here\./);
  assert.match(told("later.mjs"), /too late/);
  assert.match(told("promise.mjs"), /channels must return an array, not a promise/);
  assert.match(told("nothing.mjs"), /channels must return an array/);
  assert.match(told("never.mjs"), /channels must return an array, not a promise/);
  assert.equal(told("null.mjs").split("\n").length, 2, told("null.mjs"));
  assert.match(told("null.mjs"), /a channel has name, run, split and send/);
  assert.match(told("twice.mjs"), /there is a channel twin already/);
  assert.match(told("reactor.mjs"), /the reactor slow failed: too late/);
});
