import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { RequestError } from "../../../../src/errors.js";
import { gate, until } from "../../../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { group, startWorld } from "../../../support/worlds/channels/chat-world.js";
import { startDaemon } from "../../../support/worlds/daemon.js";
import { openAIConfig, tempHome } from "../../../support/worlds/gateway.js";
import type { ScriptedAnswer } from "../../../support/worlds/model-script.js";

const refusal: ScriptedAnswer = { status: 400, body: { error: { message: "no such thing" } } };

test("in a group only who asked, or an owner, has it tried again, and the answer goes to the group", async () => {
  await using w = await startWorld([refusal, { text: "Blue." }, refusal, { text: "Green." }]);
  w.sayInGroup(42, "Ann", "which colour?");
  await w.shown("did not accept");
  w.sayInGroup(43, "Bob", "/retry");
  await w.shown("Somebody else asked that");
  w.sayInGroup(42, "Ann", "/retry");
  await w.shown("Blue.");
  w.sayInGroup(42, "Ann", "and now?");
  await until("it has failed", async () => (await failures(w)) === 2);
  w.sayInGroup(1, "Owner", "/retry");
  await w.shown("Green.");
  assert.equal(w.model.requests.length, 4);
});

test("what a guest asked is not tried again once the guest may not talk any more", async () => {
  await using w = await startWorld(refusal);
  w.say(42, "which colour?");
  await w.shown("did not accept");
  const key = "telegram:42";
  const turnId = (await w.gateway.events(key)).findLast(({ type }) => type === "turn_execution_failed")?.turn_id ?? "";
  const channels = { telegram: { enabled: true, token: w.telegram.token, apiRoot: w.telegram.url, allowFrom: ["7"] } };
  w.gateway = await w.gateway.restart(openAIConfig(w.model.apiBase, { channels, owners: ["telegram:1"] }));
  await assert.rejects(
    w.gateway.gateway.api.retryTurn({ sessionKey: key, turnId }),
    (error) => error instanceof RequestError && error.code === "not_allowed",
  );
});

test("a gateway that is killed while it tries again goes on with it, once", { timeout: 60_000 }, async () => {
  const held = gate();
  await using model = await startFakeOpenAI({
    async answer({ index }) {
      if (index === 0) return refusal;
      if (index === 1) await held.opened;
      return { text: "Blue." };
    },
  });
  const home = await tempHome();
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase)));
  let turnId = "";
  {
    await using first = await startDaemon({ home });
    await ask(first.url, "POST", "message", { sessionKey: "webui:a", content: "which colour?" });
    turnId = await failedTurn(first.url);
    const tried = await ask(first.url, "POST", "sessions/webui%3Aa/retry", { turnId, messageId: "msg_again_a" });
    assert.equal(tried.status, 202);
    await model.waitForRequests(2);
    await first.end("SIGKILL");
  }
  held.open();
  await using second = await startDaemon({ home });
  await until("it is answered", async () => (await lines(second.url)).includes("assistant: Blue."));
  const same = await ask(second.url, "POST", "sessions/webui%3Aa/retry", { turnId, messageId: "msg_again_a" });
  assert.deepEqual([same.status, same.body.status], [202, "duplicate"]);
  const other = await ask(second.url, "POST", "sessions/webui%3Aa/retry", { turnId });
  assert.deepEqual([other.status, other.body.code], [409, "already_retried"]);
  assert.deepEqual(
    (await lines(second.url)).filter((line) => !line.startsWith("error")),
    ["user: which colour?", "assistant: Blue."],
  );
  assert.equal(model.requests.length, 3);
});

async function failures({ gateway }: Awaited<ReturnType<typeof startWorld>>): Promise<number> {
  return (await gateway.events(group)).filter(({ type }) => type === "turn_execution_failed").length;
}

async function ask(url: string, method: string, path: string, sent?: object) {
  const response = await fetch(`${url}/api/${path}`, {
    method,
    headers: { "content-type": "application/json" },
    ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
  });
  const body = (await response.json()) as Readonly<Record<string, unknown>>;
  return { status: response.status, body };
}

async function failedTurn(url: string): Promise<string> {
  const { events } = (await ask(url, "GET", "sessions/webui%3Aa/events?limit=1000")).body;
  const failed = Array.isArray(events)
    ? events.findLast(({ type }: { readonly type: string }) => type === "turn_execution_failed")
    : undefined;
  return String(failed?.turn_id ?? "");
}

async function lines(url: string): Promise<readonly string[]> {
  const { messages } = (await ask(url, "GET", "sessions/webui%3Aa")).body;
  return Array.isArray(messages)
    ? messages.map(({ role, content }: { readonly role: string; readonly content: string }) => `${role}: ${content}`)
    : [];
}
