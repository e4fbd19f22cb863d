import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { defineTool } from "../../../src/tools/tool.js";
import { gate, until } from "../../support/engine/engine-kit.js";
import { lastResult, startWorld } from "../../support/worlds/channels/chat-world.js";
import { assertSound } from "../../support/worlds/gateway.js";
import {
  cast,
  changesIn,
  children,
  done,
  eventsOf,
  resultsOf,
  spawn,
  startOne,
} from "../../support/worlds/tools/sub-agents.js";

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
          await held.opened;
          return { text: "no deeper" };
        }
        if (request.userText.includes("task 0"))
          return done === 0 ? { toolCalls: [spawn({ action: "start", task: "deeper" })] } : { text: "it is at work" };
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
  const write = {
    id: "w",
    name: "write_file",
    input: { path: join(tmpdir(), "maxclaw-nowhere", "else.txt"), content: "x" },
  };
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
  await w.shown(/told .*SOUL\.md is the owner's: only an owner/);
  // An owner; what is shared is not a guest's to allow.
  w.say(1, "button");
  const question = await w.shown(/May I write button\.txt/);
  assert.equal(String(question.chatId), "1");
  w.press(question, "1. Allow once", 8, "Mallory");
  await until("a stranger's press is refused", () => w.telegram.toasts.length === 1);
  assert.match(w.telegram.toasts[0]?.text ?? "", /Only|may not/);
  w.press(question, "1. Allow once", 1);
  await w.shown(/told Wrote|told .*button\.txt/);
  w.say(1, "text");
  await w.shown(/May I write text\.txt/);
  w.say(1, "1");
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
  const readPage = { toolCalls: [{ id: "page", name: "page", input: {} }] };
  const post = (what: string) => ({ toolCalls: [{ id: `p_${what}`, name: "post", input: { what } }] });
  await using w = await startWorld(
    cast({
      parent(request, count) {
        if (request.userText.includes("let a helper read"))
          return count === 0 ? startOne("read it") : { text: "reading" };
        return [readPage, startOne("post it")][count] ?? { text: "started" };
      },
      child(request, count) {
        if (count > 0) return { text: `child: ${lastResult(request)}` };
        return request.userText.includes("read it") ? readPage : post("child");
      },
      told(request, count) {
        if (request.userText.includes("buy now")) return count === 0 ? post("parent") : { text: lastResult(request) };
        return { text: /<untrusted source="the sub-agent/.test(request.userText) ? "marked" : "unmarked" };
      },
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
  // One who has read nothing of others' himself.
  w.say(2, "let a helper read");
  const later = await w.shown(/May I send to https:\/\/example\.org\/parent/);
  w.press(later, "Deny", 2);
  await w.shown(/post may not send to/);
});

test("what a sub-agent uses counts for its sender and its parent's conversation, and has a bound of its own", async () => {
  const usage = { input: 100, output: 10 };
  await using w = await startWorld(
    cast({
      parent: (request, count) =>
        count === 0
          ? { ...startOne(request.userText.includes("greedy") ? "greedy" : "modest"), usage }
          : { text: "started", usage },
      child(request, count) {
        if (!request.userText.includes("greedy")) return { text: "found", usage: { input: 4000, output: 0 } };
        if (count > 0) return { text: "never said", usage };
        return {
          ...startOne("never started"),
          toolCalls: [spawn({ action: "list" })],
          usage: { input: 5000, output: 0 },
        };
      },
      told: (request) => ({ text: `told: ${/failed: [^\]]*|found/.exec(request.userText)?.[0]}`, usage }),
    }),
    { config: { budgets: { spawn: { tokens: 5500 }, session: { tokens: 14_000 } } } },
  );
  w.say(1, "modest");
  await w.shown("told: found");
  const spent = changesIn(await w.gateway.events("telegram:1")).at(-1)?.usage;
  assert.equal(spent?.input_tokens, 4000);
  const [today] = (await w.gateway.gateway.api.usage(1)).days;
  const ofSender = today?.senders.find(({ sender }) => sender === "telegram:1");
  assert.equal(ofSender?.usage.input_tokens, 4300);
  w.say(1, "greedy");
  await w.shown(/told: failed: The budget for one sub-agent .* It stopped here\./);
  w.say(1, "modest again");
  await w.shown(/The budget of this conversation is (used up|not enough)/);
});

test("who deletes a conversation deletes its sub-agents, and nothing of them begins it again", async () => {
  await using w = await startWorld(
    cast({
      parent: (_, count) => (count === 0 ? startOne("hang") : { text: "started" }),
      child: () => ({ hang: "start" }),
    }),
  );
  w.say(1, "go");
  await w.shown("started");
  await w.model.waitForRequests(3);
  const { api } = w.gateway.gateway;
  await api.deleteSession("telegram:1");
  assert.deepEqual((await api.listSessions({ limit: 10, offset: 0 })).sessions, []);
  w.gateway = await w.gateway.restart();
  assert.deepEqual((await w.gateway.gateway.api.listSessions({ limit: 10, offset: 0 })).sessions, []);
  assert.equal(w.telegram.sent.length, 1);
});

test("a model of its own is for owners, and skills are given by name", async () => {
  await using w = await startWorld(
    cast({
      parent: (_, count) =>
        count === 0 ? startOne("work", { model: "openai/other", skills: ["none"] }) : { text: "started" },
      child: (request) => ({ text: `by ${request.body.model}` }),
      told: (request) => ({ text: `told ${/by \S+/.exec(request.userText)?.[0]}` }),
    }),
    { config: { owners: ["telegram:1"] } },
  );
  w.say(1, "go");
  await w.shown("told by other");
  w.say(7, "go");
  await until("a guest's is refused", async () =>
    (await eventsOf(w.gateway, "telegram:7")).some(
      (event) => event.type === "tool_execution_complete" && /Only an owner/.test(event.payload.output),
    ),
  );
});
