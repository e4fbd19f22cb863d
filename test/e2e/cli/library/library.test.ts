import assert from "node:assert/strict";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { z } from "zod";
import { openEmbeddedEngine } from "../../../../src/engine/embedded/open.js";
import {
  type Agent,
  type AgentConfig,
  type AgentDependencies,
  ConfigError,
  createAgent,
  defineTool,
  EngineError,
  type GatewayEvent,
  type Machine,
  type ModelRequest,
  type Provider,
  type ProviderChunk,
  type Reactor,
  RequestError,
} from "../../../../src/index.js";
import { createMemoryStorage } from "../../../../src/sessions/storage/memory.js";
import { projectFile } from "../../../support/project.js";
import { tempHome } from "../../../support/worlds/gateway.js";

const quiet = { memory: { titles: "first" } };

const opened = new WeakMap<TestContext, { readonly agents: Agent[]; readonly homes: Set<string> }>();

/** A home goes away only when nobody uses it any more. */
function disposeAfter(t: TestContext, agent: Agent, home: string): void {
  const { agents, homes } = opened.get(t) ?? { agents: [], homes: new Set() };
  if (agents.length === 0) {
    opened.set(t, { agents, homes });
    t.after(async () => {
      for (const each of agents) await each.dispose();
      for (const each of homes) await rm(each, { recursive: true, force: true });
    });
  }
  agents.push(agent);
  homes.add(home);
}

async function openAgent(t: TestContext, dependencies: AgentDependencies = {}, config: AgentConfig = {}) {
  const home = config.home ?? (await tempHome());
  const agent = createAgent({ ...quiet, ...config, home }, dependencies);
  disposeAfter(t, agent, home);
  await agent.initialize();
  return { agent, home };
}

const usageOf = (input: number, output: number) => ({
  input_tokens: input,
  output_tokens: output,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
});

/** A provider as somebody else would write one: it repeats the last message, and calls a tool named by `call …`. */
function echoProvider(requests: ModelRequest[] = []): Provider {
  return {
    name: "echo",
    async *stream(request, signal): AsyncGenerator<ProviderChunk> {
      requests.push(request);
      const last = request.messages.at(-1);
      const text = last?.content.map((part) => (part.type === "text" ? part.text : "")).join("") ?? "";
      if (text.includes("never"))
        await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      const call = /call (\w+)/.exec(text)?.[1];
      if (last?.role === "user" && call !== undefined) {
        yield { kind: "tool_call", id: "call_1", name: call };
        yield { kind: "tool_input", id: "call_1", json: '{"sides":6}' };
        yield { kind: "end", stopReason: "tool_use", usage: usageOf(5, 2) };
        return;
      }
      const result = last?.role === "tool" ? last.content.map(({ content }) => content).join() : text;
      yield { kind: "text", text: "You said: " };
      yield { kind: "text", text: result.trim().split("\n").at(-1) ?? "" };
      yield { kind: "end", stopReason: "end_turn", usage: usageOf(10, 3) };
    },
  };
}

const isRequestError =
  (status: number, words: RegExp) =>
  (error: unknown): boolean =>
    error instanceof RequestError && error.status === status && words.test(error.message);

test("without a key and without a config it talks, and keeps what was said", async (t) => {
  const home = await tempHome();
  t.after(() => rm(home, { recursive: true, force: true }));
  await using agent = createAgent({ ...quiet, home });
  await agent.initialize();
  const { end, response } = await agent.chat("what time is it?");
  assert.equal(end, "complete");
  assert.match(response, /\d/);
  const document = JSON.parse(await whenWritten(join(home, "workspace/.sessions/webui_main.json"), agent));
  assert.deepEqual(
    document.messages.map(({ role }: { role: string }) => role),
    ["user", "assistant"],
  );
});

async function whenWritten(path: string, agent: Agent): Promise<string> {
  await agent.dispose();
  return await readFile(path, "utf8");
}

test("it works between initialize and dispose only, and initialize works once", async (t) => {
  const home = await tempHome();
  t.after(() => rm(home, { recursive: true, force: true }));
  const agent = createAgent({ ...quiet, home });
  assert.throws(() => agent.api, isRequestError(409, /initialize\(\) first/));
  await assert.rejects(agent.chat("hi"), isRequestError(409, /initialize\(\) first/));
  await assert.rejects(agent.createSession(), isRequestError(409, /initialize\(\) first/));
  const opening = agent.initialize();
  await assert.rejects(agent.initialize(), isRequestError(409, /already/));
  await opening;
  await assert.rejects(agent.initialize(), isRequestError(409, /already/));
  await agent.dispose();
  await agent.dispose();
  await assert.rejects(agent.chat("hi"), isRequestError(409, /disposed/));
  await assert.rejects(agent.initialize(), isRequestError(409, /disposed/));
});

test("a home is held by one agent at a time; the other may try again once it is free", async (t) => {
  const { agent, home } = await openAgent(t);
  const other = createAgent({ ...quiet, home });
  disposeAfter(t, other, home);
  await assert.rejects(other.initialize(), (error) => error instanceof EngineError && error.kind === "locked");
  await agent.dispose();
  await other.initialize();
  assert.equal((await other.chat("hello")).end, "complete");
});

test("mistakes in the config are told all at once, and nothing is opened", async (t) => {
  const home = await tempHome();
  t.after(() => rm(home, { recursive: true, force: true }));
  const agent = createAgent({ home, agents: { defaults: { maxToolIterations: "many" } }, chanels: {} });
  await assert.rejects(
    agent.initialize(),
    (error) => error instanceof ConfigError && /maxToolIterations/.test(error.message) && /chanels/.test(error.message),
  );
  await assert.rejects(readFile(join(home, "gateway.lock")), { code: "ENOENT" });
});

test("a third provider is one object; its models are chosen by its name, and it sees the built-in tools", async (t) => {
  const requests: ModelRequest[] = [];
  const provider = echoProvider(requests);
  const { agent } = await openAgent(t, { provider });
  assert.equal((await agent.chat("good morning")).response, "You said: good morning");
  assert.equal(requests[0]?.model, "default");
  assert.ok(requests[0]?.tools.some(({ name }) => name === "read_file"));

  const session = await agent.createSession({ model: "echo/large" });
  await session.chat("and you?");
  assert.equal(requests.at(-1)?.model, "large");
  await assert.rejects(agent.createSession({ model: "nobody/large" }), isRequestError(400, /nobody\/large/));
});

test("send tells every event of the turn in order, up to its end, to each reader", async (t) => {
  const { agent } = await openAgent(t, { provider: echoProvider() });
  const session = await agent.createSession();
  const stream = session.send("tell me");
  const events: GatewayEvent[] = [];
  for await (const event of stream) events.push(event);
  const types = events.map(({ type }) => type);
  assert.equal(types[0], "user_message_queued");
  assert.equal(types.at(-1), "turn_execution_complete");
  assert.equal(types.filter((type) => type === "text_delta").length > 0, true);
  const stored = events.flatMap((event) => (typeof event.seq === "number" ? [event.seq] : []));
  assert.deepEqual(
    stored,
    stored.map((_, index) => (stored[0] ?? 0) + index),
  );
  const again: GatewayEvent[] = [];
  for await (const event of stream) again.push(event);
  assert.deepEqual(again, events);

  await assert.rejects(
    async () => {
      for await (const event of session.send("  ")) void event;
    },
    isRequestError(400, /empty/),
  );
});

test("the same message id is answered once, and a reader of the repetition is not left waiting", async (t) => {
  const requests: ModelRequest[] = [];
  const { agent } = await openAgent(t, { provider: echoProvider(requests) });
  const session = await agent.createSession();
  const once = { messageId: "library-1" };
  assert.equal((await session.chat("only once", once)).response, "You said: only once");
  for await (const event of session.send("only once", once)) void event;
  assert.equal((await session.chat("only once", once)).response, "You said: only once");
  assert.equal(requests.length, 1);
});

test("stop, an abort signal and abort end the turn that runs", async (t) => {
  const { agent } = await openAgent(t, { provider: echoProvider() });
  const session = await agent.createSession();
  const stopping = new AbortController();
  const running = session.chat("never answer", { signal: stopping.signal });
  await seen(agent, session.key, "message_stream_start");
  stopping.abort();
  assert.equal((await running).end, "cancelled");

  const events = session.send("never answer, again");
  await seen(agent, session.key, "message_stream_start");
  assert.equal(await session.stop(), true);
  let last: GatewayEvent | undefined;
  for await (const event of events) last = event;
  assert.equal(last?.type, "turn_execution_cancelled");
  assert.equal(await session.stop(), false);

  await assert.rejects(session.abort(), isRequestError(409, /nothing to abort/));
  const third = session.chat("never, for the third time");
  await seen(agent, session.key, "message_stream_start");
  await session.abort();
  assert.equal((await third).end, "cancelled");
  await assert.rejects(session.chat("still there?"), isRequestError(409, /aborted/));
});

function seen(agent: Agent, sessionKey: string, type: GatewayEvent["type"]): Promise<void> {
  return new Promise((resolve) => {
    const undo = agent.onEvent(
      (event) => {
        if (event.type !== type) return;
        undo();
        resolve();
      },
      { sessionKey },
    );
  });
}

test("sessions are listed by page, read, completed and deleted", async (t) => {
  const { agent } = await openAgent(t, { provider: echoProvider() });
  for (const name of ["one", "two", "three"]) {
    const session = await agent.createSession({ key: `webui:${name}` });
    await session.chat(`I am ${name}`);
  }
  const first = await agent.getSessions({ limit: 2 });
  const second = await agent.getSessions({ limit: 2, offset: 2 });
  assert.deepEqual([first.sessions.length, second.sessions.length, first.total], [2, 1, 3]);
  assert.deepEqual([...first.sessions, ...second.sessions].map(({ key }) => key).sort(), [
    "webui:one",
    "webui:three",
    "webui:two",
  ]);

  const two = await agent.getSession("webui:two");
  assert.deepEqual(
    (await two.getMessages()).map(({ role, content }) => `${role}: ${content}`),
    ["user: I am two", "assistant: You said: I am two"],
  );
  const { usage } = await two.getTokenUsage();
  assert.deepEqual([usage.input_tokens, usage.output_tokens], [10, 3]);
  assert.ok((await two.getEvents()).length > 5);
  await two.complete();
  await assert.rejects(two.chat("more"), isRequestError(409, /completed/));
  await two.delete();
  await assert.rejects(two.getMessages(), isRequestError(404, /no session/));
  await assert.rejects(agent.getSession("webui:two"), isRequestError(404, /no session/));
  assert.equal((await agent.getSessions()).total, 2);
});

test("old sessions are there again, those of the Go maxclaw too", async (t) => {
  const { agent, home } = await openAgent(t, { provider: echoProvider() });
  await agent.chat("remember the plums");
  await agent.dispose();
  const old = {
    key: "webui:old",
    messages: [{ role: "user", content: "from before", timestamp: "2025-01-01T00:00:00Z" }],
  };
  await mkdir(join(home, "workspace/.sessions"), { recursive: true });
  await writeFile(join(home, "workspace/.sessions/webui_old.json"), JSON.stringify(old));

  const requests: ModelRequest[] = [];
  const next = await openAgent(t, { provider: echoProvider(requests) }, { home });
  assert.equal((await (await next.agent.getSession("webui:old")).getMessages())[0]?.content, "from before");
  await next.agent.chat("what did I say?");
  assert.match(JSON.stringify(requests.at(-1)?.messages), /remember the plums/);
});

test("the pieces of an answer that nobody reads along become one event; who reads along gets each", async (t) => {
  const texts: string[] = [];
  const reactor: Reactor = {
    name: "patient",
    start: (bus) => void bus.on("text_delta", ({ payload }) => void texts.push(payload.text), { isPatient: true }),
    stop() {},
  };
  const words: Provider = {
    name: "words",
    async *stream(): AsyncGenerator<ProviderChunk> {
      for (let n = 0; n < 50; n++) yield { kind: "text", text: `${n} ` };
      yield { kind: "end", stopReason: "end_turn", usage: usageOf(1, 50) };
    },
  };
  const { agent } = await openAgent(t, { provider: words, reactors: [reactor] });
  const { response } = await agent.chat("count");
  assert.deepEqual(texts.splice(0), [response]);
  const read: string[] = [];
  for await (const event of (await agent.getSession("webui:main")).send("again"))
    if (event.type === "text_delta") read.push(event.payload.text);
  assert.equal(read.length, 50);
  assert.deepEqual(texts, read);
  assert.equal(read.join(""), response);
});

test("tools, storage, reactors, machines, engine and clock can be given", async (t) => {
  const seenByReactor: string[] = [];
  const reactor: Reactor = {
    name: "listener",
    start: (bus) => void bus.onAny((event) => void seenByReactor.push(event.type)),
    stop() {},
  };
  const dice = defineTool({
    name: "dice",
    description: "Rolls a die.",
    input: z.object({ sides: z.number() }),
    effect: "read",
    risk: "none",
    origin: "builtin",
    run: async ({ sides }) => ({ text: `a die of ${sides} fell on 4`, isError: false, summary: "rolled" }),
  });
  const inputs: string[] = [];
  const counter: Machine<unknown> = {
    name: "counter",
    initial: 0,
    step(state, input) {
      inputs.push(input.kind);
      return [state, []];
    },
  };
  const engines: string[] = [];
  const storage = createMemoryStorage();
  const { agent, home } = await openAgent(t, {
    provider: echoProvider(),
    tools: [dice],
    reactors: [reactor],
    machines: [counter],
    storage,
    now: () => Date.parse("2031-05-06T07:08:09Z"),
    openEngine: async (options) => {
      engines.push(options.home);
      return await openEmbeddedEngine(options);
    },
  });
  const session = await agent.createSession({ key: "webui:parts" });
  assert.equal((await session.chat("call dice")).response, "You said: a die of 6 fell on 4");
  assert.ok(seenByReactor.includes("tool_execution_complete"));
  assert.ok(inputs.includes("tool_finished"));
  assert.deepEqual(engines, [home]);
  const [event] = await session.getEvents();
  assert.equal(event?.timestamp.slice(0, 10), "2031-05-06");
  await assert.doesNotReject(agent.getSession("webui:parts"));
  assert.ok((await agent.getSessions()).sessions.some(({ key }) => key === "webui:parts"));
  await agent.dispose();
  await assert.rejects(readFile(join(home, "workspace/.sessions/webui_parts.json")), { code: "ENOENT" });
});

test("its package exports what a program builds on, with types", async () => {
  // test/e2e/package/install.test.ts runs it.
  const about = JSON.parse(await readFile(projectFile("package.json"), "utf8"));
  assert.equal(about.exports["."].default, "./dist/bundle/index.js");
  const types = await readFile(projectFile(about.exports["."].types), "utf8");
  assert.match(types, /createAgent/);
});

test("a wrong config is refused with what is wrong alone: nothing of what a gateway would do about it", async () => {
  const wrong = {
    agents: { defaults: { maxTokens: "many", modle: "x" } },
    channels: { telegram: { enabled: true, token: 7 } },
  };
  await using agent = createAgent({ home: await tempHome(), ...wrong });
  await assert.rejects(agent.initialize(), (error: Error) => {
    assert.match(error.message, /^The config is wrong: /);
    for (const part of [
      /agents\.defaults\.maxTokens: expected a number, got a text/,
      /unknown key "agents\.defaults\.modle"/,
      /channels\.telegram\.token/,
    ])
      assert.match(error.message, part);
    assert.doesNotMatch(error.message, /default is used|ignored|is off/);
    return true;
  });
});
