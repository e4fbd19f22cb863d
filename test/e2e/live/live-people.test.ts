import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { callThenDone, lastResult, resultsIn, startWorld } from "../../support/worlds/channels/chat-world.js";
import { setLive } from "../../support/worlds/live-edit.js";
import type { RecordedRequest, ScriptedAnswer } from "../../support/worlds/model-script.js";

const content = "Dear friend,";

/** A model that writes these files into the workspace, one after the other, in each turn. */
async function startWriter(names: readonly string[], config: Record<string, unknown> = {}) {
  let folder = "";
  const script = (request: RecordedRequest): ScriptedAnswer => {
    const name = names[resultsIn(request)];
    if (name === undefined) return { text: `done: ${lastResult(request)}` };
    const input = { path: join(folder, name), content };
    return { toolCalls: [{ id: `call_${request.index}`, name: "write_file", input }] };
  };
  const w = await startWorld(script, { config });
  folder = join(w.home, "workspace");
  return Object.assign(w, { hasWritten: (name: string) => existsSync(join(folder, name)) });
}

test("who is taken out of owners has no owner's rights from the next message on, and who is added has them", async () => {
  await using w = await startWorld({ text: "hello" });
  w.say(2, "/model openai/second");
  await w.shown("Only an owner of this assistant may change its model.");
  w.say(1, "/model openai/first");
  await w.shown(/openai\/first/);
  const state = await setLive(w.gateway, { owners: ["telegram:2"] });
  assert.deepEqual([state.restart, state.problem], [[], undefined]);
  const shown = w.telegram.sent.length;
  w.say(1, "/model openai/third");
  await w.gateway.waitForEvent(({ type }) => type === "turn_execution_complete", "telegram:1");
  w.say(2, "/model openai/second");
  await w.shown(/openai\/second/);
  const refused = w.telegram.sent.slice(shown).filter(({ chatId }) => chatId === "1");
  assert.ok(refused.every(({ text }) => !text.includes("openai/third")));
});

test("the yes of who was an owner when it was asked, and is none any more, opens nothing", async () => {
  await using w = await startWriter(["notes.txt"]);
  w.say(1, "write it down");
  const question = await w.shown("May I write notes.txt");
  await setLive(w.gateway, { owners: ["telegram:9"] });
  w.press(question, "1. Allow once", 1);
  await w.shown(/^done: write_file may not/);
  assert.ok(!w.hasWritten("notes.txt"));
});

test("in a group, a question to owners is not answered by who was one", async () => {
  await using w = await startWriter(["notes.txt"], { owners: ["telegram:1", "telegram:3"] });
  w.sayInGroup(2, "Bo", "write it down");
  await w.shown("May I write notes.txt");
  await setLive(w.gateway, { owners: ["telegram:3"] });
  w.sayInGroup(1, "An", "/approve");
  await w.shown(/An owner of this assistant must allow this|asked somebody else/);
  assert.ok(!w.hasWritten("notes.txt"));
  w.sayInGroup(3, "Cy", "/approve");
  await w.shown(/^done: created/);
});

test("a stricter mode counts at once, also for a call that waits for its yes", async () => {
  await using w = await startWriter(["notes.txt"]);
  w.say(1, "write it down");
  const question = await w.shown("May I write notes.txt");
  assert.deepEqual((await setLive(w.gateway, { "agents.defaults.executionMode": "safe" })).restart, []);
  const { api } = w.gateway.gateway;
  assert.deepEqual([(await api.status()).executionMode, api.policy().executionMode], ["safe", "safe"]);
  w.press(question, "1. Allow once", 1);
  await w.shown(/^done: write_file is not allowed while agents\.defaults\.executionMode is "safe"/);
  assert.ok(!w.hasWritten("notes.txt"));
});

test("a rule that denies counts at once, also for a call that waits for its yes", async () => {
  await using w = await startWriter(["notes.txt"]);
  w.say(1, "write it down");
  const question = await w.shown("May I write notes.txt");
  await setLive(w.gateway, { policy: { rules: [{ tool: "write_file", verdict: "deny" }] } });
  w.press(question, "1. Allow once", 1);
  await w.shown(/^done: write_file may not .*policy\.rules\[0\] denies it/);
  assert.ok(!w.hasWritten("notes.txt"));
});

test("a looser mode counts from the next turn on, not in one that runs", async () => {
  await using w = await startWriter(["first.txt", "second.txt"]);
  w.say(1, "write both down");
  const first = await w.shown("May I write first.txt");
  await setLive(w.gateway, { "agents.defaults.executionMode": "auto" });
  w.press(first, "1. Allow once", 1);
  const second = await w.shown("May I write second.txt");
  w.press(second, "3. Deny", 1);
  await w.shown(/^done: write_file may not write second\.txt/);
  assert.deepEqual([w.hasWritten("first.txt"), w.hasWritten("second.txt")], [true, false]);
  w.say(1, "again");
  await w.shown(/^done: (created|replaced|wrote)/);
  assert.ok(w.hasWritten("second.txt"));
});

test("who becomes an owner in the middle of a turn has no owner's rights in it", async () => {
  await using w = await startWriter(["first.txt", "second.txt"]);
  w.say(2, "write both down");
  await w.shown("May I write first.txt");
  await setLive(w.gateway, { owners: ["telegram:1", "telegram:2"] });
  w.say(2, "/approve");
  const second = await w.shown("May I write second.txt");
  assert.match(second.text, /An owner of this assistant must allow this/);
});

test("tools are kept in the workspace from the edit on, and are free of it from the next turn on", async () => {
  await using w = await startWorld({ text: "" });
  const outside = join(w.home, "..", `outside-${process.pid}.txt`);
  await writeFile(outside, "far away");
  w.model.setAnswer(callThenDone("read_file", { path: outside }));
  w.say(1, "read it");
  await w.shown(/^done: read_file may not .*tools\.restrictToWorkspace/);
  assert.deepEqual((await setLive(w.gateway, { "tools.restrictToWorkspace": false })).restart, []);
  assert.equal((await w.gateway.gateway.api.status()).restrictToWorkspace, false);
  w.say(1, "again");
  await w.shown(/far away/);
});
