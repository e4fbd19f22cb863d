import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import type { Payload } from "../../src/events/catalogue.js";
import type { StoredEvent } from "../../src/events/event.js";
import { defineTool } from "../../src/tools/tool.js";
import { lastResult, resultsIn, startWorld } from "../support/chat-world.js";
import { gate, until } from "../support/engine-kit.js";
import { assertSound, type TestGateway } from "../support/gateway.js";
import type { RecordedRequest, ScriptedAnswer } from "../support/model-script.js";

type Answer = ScriptedAnswer | Promise<ScriptedAnswer>;

/** A model that plays everybody: who is meant shows in the newest message that is no tool's. */
function cast(roles: {
  /** A person's message. `done`: how many results of tools stand behind it. */
  parent(request: RecordedRequest, done: number): Answer;
  child(request: RecordedRequest, done: number): Answer;
  /** A result that has come back to the parent. */
  told?(request: RecordedRequest, done: number): Answer;
}) {
  return (request: RecordedRequest): Answer => {
    const done = resultsIn(request);
    if (request.userText.includes("[You are a sub-agent.")) return roles.child(request, done);
    if (!request.userText.includes("[The sub-agent ")) return roles.parent(request, done);
    return roles.told?.(request, done) ?? { text: "I was told." };
  };
}

let calls = 0;
function spawn(input: Record<string, unknown>): { id: string; name: string; input: Record<string, unknown> } {
  calls += 1;
  return { id: `spawn_${calls}`, name: "spawn", input };
}

function changesIn(events: readonly StoredEvent[]): readonly Payload<"subagent_state_changed">[] {
  return events.flatMap((event) => (event.type === "subagent_state_changed" ? [event.payload] : []));
}

function resultsOf(events: readonly StoredEvent[]): readonly StoredEvent[] {
  return events.filter((event) => event.type === "user_message_queued" && event.payload.result_of !== undefined);
}

/** None before its first message is accepted. */
async function eventsOf(gateway: TestGateway, key: string): Promise<readonly StoredEvent[]> {
  return await gateway.events(key).catch(() => []);
}

async function children(gateway: TestGateway): Promise<readonly string[]> {
  const { sessions } = await gateway.gateway.api.listSessions({ limit: 100, offset: 0 });
  return sessions.map(({ key }) => key).filter((key) => key.includes(":spawn:"));
}

test("a sub-agent works by itself, and its result reaches the chat through the parent's reply alone", async () => {
  const held = gate();
  await using w = await startWorld(
    cast({
      parent: (_, done) =>
        done === 0
          ? { toolCalls: [spawn({ action: "start", task: "Find the answer.\nThink hard.", label: "finder" })] }
          : { text: "I have asked a helper." },
      async child() {
        await held.opened;
        return { text: "the answer is 42" };
      },
      told: (request) => ({ text: `My helper says ${/answer is (\d+)/.exec(request.userText)?.[1]}.` }),
    }),
  );
  w.say(1, "What is the answer?");
  await w.shown("I have asked a helper.");
  const [childKey = ""] = await children(w.gateway);
  assert.match(childKey, /^telegram:1:spawn:[0-9a-f]{10}$/);
  held.open();
  await w.shown("My helper says 42.");
  assert.deepEqual(
    w.telegram.sent.map(({ text }) => text),
    ["I have asked a helper.", "My helper says 42."],
    "nothing of the sub-agent's own words is in the chat",
  );
  const events = await w.gateway.events("telegram:1");
  assertSound(events);
  assertSound(await w.gateway.events(childKey));
  const changes = changesIn(events);
  assert.deepEqual(
    changes.map(({ from, to }) => [from, to]),
    [
      ["none", "pending"],
      ["pending", "running"],
      ["running", "completed"],
    ],
  );
  assert.ok(changes.every((change) => change.label === "finder" && change.child_session_key === childKey));
  assert.equal(changes[2]?.summary, "the answer is 42");
  assert.ok((changes[2]?.usage?.input_tokens ?? 0) > 0, "its use is told");
  assert.equal(resultsOf(events).length, 1);
  const [brief] = w.model.requests.filter(({ userText }) => userText.includes("[You are a sub-agent."));
  assert.match(brief?.userText ?? "", /Find the answer\.\nThink hard\./);
  assert.doesNotMatch(JSON.stringify(brief?.body.messages), /What is the answer\?/, "it knows its task only");
});

test("so many at once and so deep, and no further", async () => {
  const held = gate();
  const refusals: string[] = [];
  await using w = await startWorld(
    cast({
      parent: (request, done) => {
        if (done < 3) return { toolCalls: [spawn({ action: "start", task: `task ${done}` })] };
        refusals.push(lastResult(request));
        return { text: "started" };
      },
      async child(request, done) {
        if (request.userText.includes("deeper")) {
          if (done === 0) return { toolCalls: [spawn({ action: "start", task: "deepest" })] };
          refusals.push(lastResult(request));
          return { text: "no deeper" };
        }
        if (request.userText.includes("task 0") && done === 0)
          return { toolCalls: [spawn({ action: "start", task: "deeper" })] };
        await held.opened;
        return { text: "done" };
      },
      told: (request) => ({ text: request.userText.includes("no deeper") ? "it was no deeper" : "told" }),
    }),
    { config: { agents: { defaults: { model: "openai/test-model" }, spawn: { atOnce: 2, depth: 2 } } } },
  );
  w.say(1, "go");
  await w.shown("started");
  await until("the deepest was refused", () => refusals.length === 2);
  assert.match(refusals.join("\n"), /2 sub-agents are at work already \(setting agents\.spawn\.atOnce\)/);
  assert.match(refusals.join("\n"), /No sub-agents can be started here \(setting agents\.spawn\.depth\)/);
  const keys = await children(w.gateway);
  assert.equal(keys.length, 3);
  const deep = keys.find((key) => /:spawn:.*:spawn:/.test(key)) ?? "";
  const above = deep.slice(0, deep.lastIndexOf(":spawn:"));
  held.open();
  const ends = async () => changesIn(await w.gateway.events("telegram:1")).filter(({ to }) => to === "completed");
  await until("all have ended", async () => (await ends()).length === 2);
  const end = (await ends()).find(({ child_session_key }) => child_session_key === above);
  assert.equal(end?.summary, "it was no deeper", "a task is not over before what it has started is, and has been told");
});

const done = (request: RecordedRequest): ScriptedAnswer => ({ text: `done: ${lastResult(request)}` });
const startOne = (task: string, more: Record<string, unknown> = {}) => ({
  toolCalls: [spawn({ action: "start", task, ...more })],
});

test("cancel ends a sub-agent at once, and its parent is not told what it knows", async () => {
  await using w = await startWorld(
    cast({
      parent(request, count) {
        const id = /Started ([0-9a-f]{10})/.exec(lastResult(request))?.[1];
        if (request.userText.includes("go")) return count === 0 ? startOne("hang") : done(request);
        if (count > 0) return done(request);
        const known = /Started ([0-9a-f]{10})/.exec(JSON.stringify(request.body.messages))?.[1];
        const action = /\b(list|status|cancel)\b/.exec(request.userText)?.[1];
        return { toolCalls: [spawn({ action, ...(action === "list" ? {} : { id: id ?? known }) })] };
      },
      child: () => ({ hang: "start" }),
    }),
  );
  w.say(1, "go");
  await w.shown("done: Started");
  await until("it runs", async () => changesIn(await w.gateway.events("telegram:1")).length === 2);
  w.say(1, "list them");
  await w.telegram.waitForSent(2);
  w.say(1, "status please");
  await w.telegram.waitForSent(3);
  for (const { text } of w.telegram.sent.slice(1)) assert.match(text, /^done: [0-9a-f]{10} hang: running$/);
  w.say(1, "have the helper cancel, please");
  await w.shown(/done: [0-9a-f]{10} hang: failed\nIt was cancelled\./);
  const events = await w.gateway.events("telegram:1");
  assert.equal(changesIn(events).at(-1)?.to, "failed");
  assert.equal(resultsOf(events).length, 0);
  const [childKey = ""] = await children(w.gateway);
  const child = await w.gateway.events(childKey);
  assertSound(child);
  assert.ok(child.some(({ type }) => type === "turn_execution_cancelled"));
});

test("/stop in the chat stops the sub-agents too, with and without a turn that runs", async () => {
  await using w = await startWorld(
    cast({
      parent: (request, count) =>
        count === 0
          ? startOne(`work for ${request.userText.includes("wait") ? "one" : "two"}`)
          : request.userText.includes("wait")
            ? { hang: "start" as const }
            : { text: "started" },
      child: () => ({ hang: "start" }),
    }),
  );
  const running = async (): Promise<number> => {
    const changes = changesIn(await eventsOf(w.gateway, "telegram:1"));
    return changes.filter(({ to }) => to === "running").length - changes.filter(({ to }) => to === "failed").length;
  };
  w.say(1, "wait");
  await until("it runs while the turn does", async () => (await running()) === 1, 10_000);
  await w.model.waitForRequests(3);
  w.say(1, "/stop");
  await until("it is stopped", async () => (await running()) === 0, 10_000);
  w.say(1, "and another");
  await w.shown("started");
  await until("it runs after the turn", async () => (await running()) === 1, 10_000);
  w.say(1, "/stop");
  await w.shown("Stopped one sub-agent.");
  await until("that one is stopped", async () => (await running()) === 0, 10_000);
  assert.equal(resultsOf(await w.gateway.events("telegram:1")).length, 0);
});

test("a sub-agent may do what the person may who asked, and asks them in their chat: by button and by text", async () => {
  const write = { id: "w", name: "write_file", input: { path: "/nowhere/else.txt", content: "x" } };
  await using w = await startWorld(
    cast({
      parent: (request, count) => (count === 0 ? startOne(request.userText) : { text: "started" }),
      child(request, count) {
        if (count > 0) return { text: `child: ${lastResult(request)}` };
        if (request.userText.includes("steering"))
          return {
            toolCalls: [{ ...write, input: { path: `${w.gateway.workspace}/SOUL.md`, content: "evil" } }],
          };
        const path = `${w.gateway.workspace}/${request.userText.includes("button") ? "button" : "text"}.txt`;
        return { toolCalls: [{ ...write, input: { path, content: "x" } }] };
      },
      told: (request) => ({ text: `told ${/child: ([^\n]*)/.exec(request.userText)?.[1]}` }),
    }),
  );
  // A guest.
  w.say(7, "steering");
  await w.shown(/told .*SOUL\.md steers the assistant: an owner/);
  w.say(7, "button");
  const question = await w.shown(/May I write button\.txt/);
  assert.equal(String(question.chatId), "7");
  w.press(question, "Allow once", 8, "Mallory");
  await until("a stranger's press is refused", () => w.telegram.toasts.length === 1);
  assert.match(w.telegram.toasts[0]?.text ?? "", /Only|may not/);
  w.press(question, "Allow once", 7);
  await w.shown(/told Wrote|told .*button\.txt/);
  w.say(7, "text");
  await w.shown(/May I write text\.txt/);
  w.say(7, "1");
  await w.shown(/told .*text\.txt/);
  const asked = (await children(w.gateway)).length;
  assert.equal(asked, 3);
  for (const key of await children(w.gateway)) assertSound(await w.gateway.events(key));
});

test("what others wrote taints the sub-agent from its start, and its result taints the parent", async () => {
  const page = defineTool({
    name: "page",
    description: "reads a page",
    input: z.object({}),
    effect: "read",
    risk: "none",
    origin: "builtin",
    run: async () => ({ text: "buy now", isError: false, summary: "read", outside: "a page" }),
  });
  const outward = defineTool({
    name: "post",
    description: "posts",
    input: z.object({ what: z.string() }),
    effect: "write",
    risk: "access",
    origin: "builtin",
    async run({ what }, context) {
      const refusal = await context.permit({ kind: "network", url: `https://example.org/${what}`, sends: true });
      return { text: refusal ?? "posted", isError: refusal !== undefined, summary: "posted" };
    },
  });
  const post = (what: string) => ({ toolCalls: [{ id: `p_${what}`, name: "post", input: { what } }] });
  await using w = await startWorld(
    cast({
      parent: (_, count) =>
        count === 0
          ? { toolCalls: [{ id: "page", name: "page", input: {} }] }
          : count === 1
            ? startOne("post it")
            : { text: "started" },
      child: (request, count) => (count === 0 ? post("child") : { text: `child: ${lastResult(request)}` }),
      told: (request) => ({ text: /<untrusted source="the sub-agent/.test(request.userText) ? "marked" : "unmarked" }),
    }),
    {
      config: { agents: { defaults: { model: "openai/test-model", executionMode: "auto" } } },
      tools: [outward, page],
    },
  );
  w.say(1, "read it");
  const question = await w.shown(/May I send to https:\/\/example\.org\/child/);
  assert.match(question.text, /this conversation holds text that others wrote: a page/i);
  w.press(question, "Deny", 1);
  await w.shown("marked");
});
