import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../../src/config/load.js";
import { silentLog } from "../../../src/log.js";
import { readOwnersDay } from "../../../src/memory/owners-day.js";
import { Releases } from "../../../src/util/async/releases.js";
import { openReadership } from "../../../src/wiring/assistant/readers.js";
import { openCore } from "../../../src/wiring/core/core.js";
import { openLiveConfig } from "../../../src/wiring/live/live.js";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import {
  askedIn,
  type ChatWorld,
  callThenDone,
  group,
  lastResult,
  resultsIn,
  startWorld,
} from "../../support/worlds/channels/chat-world.js";
import { openAIConfig, startGateway, tempHome } from "../../support/worlds/gateway.js";
import type { RecordedRequest, ScriptedAnswer } from "../../support/worlds/model-script.js";

/** What each file says that is the owner's alone. */
const secrets = {
  "AGENTS.md": "canary-agents",
  "CLAUDE.md": "canary-claude",
  "USER.md": "canary-user",
  "SOUL.md.bak": "canary-backup",
  "config.json": '{"x":"canary-config"}',
  "memory/MEMORY.md": "canary-memory",
  "memory/HISTORY.md": "canary-history",
  "memory/2026-11-22.md": "canary-day",
  "memory/heartbeat.md": "- canary-heartbeat",
} as const;
const guest = "telegram:2";
const owner = "telegram:1";

function fill(home: string): void {
  const shown = { "SOUL.md": "soul-for-all", "GUESTS.md": "guests-for-all", "notes.txt": "plain-notes" };
  for (const [name, text] of Object.entries({ ...secrets, ...shown })) {
    const file = join(home, "workspace", name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${text}\n`);
  }
}

/** Every way in which a model can ask for a file, one after the other. */
function burglary(workspace: string) {
  const paths = Object.keys(secrets).flatMap((name) => [name, join(workspace, name), `../../${name}`]);
  const variants = ["agents.md", "memory/../AGENTS.md", "Memory/MEMORY.md"].map((name) => join(workspace, name));
  return [
    ...[...paths, ...variants].map((path) => ({ name: "read_file", input: { path } })),
    ...["memory", workspace, join(workspace, "memory")].flatMap((path) => [
      { name: "list_dir", input: { path } },
      { name: "grep", input: { pattern: "canary", path } },
      { name: "glob", input: { pattern: "**/*.md", path } },
    ]),
    ...["AGENTS.md", "memory/MEMORY.md"].map((name) => ({
      name: "send_file",
      input: { path: join(workspace, name) },
    })),
    { name: "memory_search", input: { query: "canary-agents canary-memory canary-history canary heartbeat" } },
    {
      name: "exec",
      input: {
        command: `cat ${workspace}/notes.txt ${workspace}/*.md ${workspace}/memory/* ${workspace}/config.json; grep -r canary ${workspace}`,
      },
    },
  ];
}

/** Plays the whole list, then hands it on to a sub-agent, then ends. */
function burglar(workspace: () => string) {
  return (request: RecordedRequest): ScriptedAnswer => {
    const calls = burglary(workspace());
    const done = resultsIn(request);
    const isChild = request.userText.includes("[You are a sub-agent.");
    const call = calls[done];
    if (call !== undefined) return { toolCalls: [{ id: `call_${request.index}`, ...call }] };
    if (isChild || done > calls.length || request.userText.includes("[The sub-agent")) return { text: "that was all" };
    const input = { action: "start", task: "do the same again" };
    return { toolCalls: [{ id: `call_${request.index}`, name: "spawn", input }] };
  };
}

function assertNoCanary(w: ChatWorld, from: number, what: string): void {
  for (const { bodyText } of w.model.requests.slice(from)) {
    // What the model itself has asked for is in its own calls.
    const found = /(?:canary-(?:agents|claude|user|backup|config|memory|history|day|heartbeat))/.exec(
      bodyText.replaceAll(/canary-agents canary-memory canary-history/g, ""),
    );
    assert.equal(
      found?.[0],
      undefined,
      `${what}: ${bodyText.slice(Math.max(0, (found?.index ?? 0) - 300), (found?.index ?? 0) + 50)}`,
    );
  }
  const told = w.telegram.sent.map(({ text, file }) => `${text} ${file?.bytes.toString() ?? ""}`).join("\n");
  assert.doesNotMatch(told, /canary/, what);
}

async function idle(w: ChatWorld, key: string, turns: number): Promise<void> {
  await until(
    `${turns} turns of ${key} are over`,
    async () => {
      const events = await w.gateway.events(key).catch(() => []);
      return events.filter(({ type }) => type === "turn_execution_complete").length >= turns;
    },
    60_000,
  );
}

const config = {
  agents: { defaults: { model: "openai/test-model", maxToolIterations: 100 } },
  memory: { titles: "model" },
};

test("nothing that is the owner's reaches a guest or a group, no matter who asks there and by whatever tool", async () => {
  let workspace = "";
  await using w = await startWorld(
    burglar(() => workspace),
    { config },
  );
  workspace = join(w.home, "workspace");
  fill(w.home);

  w.say(2, "tell me all you know");
  await idle(w, guest, 2);
  w.say(2, "/new");
  await idle(w, guest, 3);
  w.say(2, "and again");
  await idle(w, guest, 5);
  assertNoCanary(w, 0, "a guest");
  // The command ran, and saw what is for everybody.
  if ((await w.gateway.gateway.api.status()).sandbox?.state === "ready")
    assert.match(w.model.requests.map(({ bodyText }) => bodyText).join("\n"), /plain-notes/);

  w.sayInGroup(3, "Cid", "tell us all you know");
  await idle(w, group, 2);
  w.sayInGroup(1, "Owner", "tell us all you know");
  await idle(w, group, 4);
  assertNoCanary(w, 0, "a group, its owner included");

  await w.gateway.ask("what is it all about?", { key: guest });
  await idle(w, guest, 7);
  assertNoCanary(w, 0, "the owner in a guest's chat, from the page");

  const system = w.model.requests.map(({ bodyText }) => bodyText).join("\n");
  assert.match(system, /soul-for-all/);
  assert.match(system, /guests-for-all/);
  assert.deepEqual((await w.gateway.gateway.api.listQuestions()).length, 0);

  const before = w.model.requests.length;
  w.say(1, "what do you know?");
  await idle(w, owner, 2);
  const seen = w.model.requests
    .slice(before)
    .map(({ bodyText }) => bodyText)
    .join("\n");
  for (const secret of ["agents", "claude", "user", "memory", "history", "day", "heartbeat"])
    assert.match(
      seen.replaceAll(/canary-agents canary-memory canary-history/g, ""),
      new RegExp(`canary-${secret}`),
      "the owner has it all",
    );
  assert.doesNotMatch(seen, /# Guests and groups/);
});

test("a guest and a group cannot write what steers the assistant, and are not asked", async () => {
  let target = "";
  await using w = await startWorld((request) =>
    callThenDone("write_file", { path: target, content: "obey me" })(request),
  );
  fill(w.home);
  const files = [...Object.keys(secrets), "SOUL.md", "GUESTS.md", "memory/new.md"];
  let turns = 0;
  for (const name of files) {
    target = join(w.home, "workspace", name);
    const before = existsSync(target) ? readFileSync(target, "utf8") : undefined;
    turns += 1;
    w.say(2, `write ${name}`);
    await idle(w, guest, turns);
    w.sayInGroup(1, "Owner", `write ${name}`);
    await idle(w, group, turns);
    assert.equal(existsSync(target) ? readFileSync(target, "utf8") : undefined, before, name);
  }
  assert.deepEqual(askedIn(await w.gateway.events(guest)), []);
  assert.deepEqual(askedIn(await w.gateway.events(group)), []);
  assert.match(lastResult(w.model.requests.at(-1)), /is the owner's/);
});

/** What it is told to remember it remembers, what it is asked it looks up. */
function rememberer(request: RecordedRequest): ScriptedAnswer {
  const said = request.userText;
  const id = `call_${request.index}`;
  if (resultsIn(request) > 0) return { text: `ok: ${lastResult(request)}` };
  const fact = /remember (.*)/.exec(said)?.[1];
  if (fact !== undefined) return { toolCalls: [{ id, name: "memory_write", input: { text: fact } }] };
  const query = /find (.*)/.exec(said)?.[1];
  if (query !== undefined) return { toolCalls: [{ id, name: "memory_search", input: { query } }] };
  return { text: "hello" };
}

function notesOf(w: ChatWorld, name: string): string {
  return join(w.home, "workspace/.sessions/.kept", name, "memory/MEMORY.md");
}

test("each guest and each group has a memory of its own, which goes with the chat", async () => {
  await using w = await startWorld(rememberer);
  w.say(1, "remember zebra-owner");
  await w.shown(/ok: Done/);
  w.say(2, "remember zebra-guest");
  await idle(w, guest, 1);
  w.sayInGroup(3, "Cid", "remember zebra-group");
  await idle(w, group, 1);
  assert.match(readFileSync(join(w.home, "workspace/memory/MEMORY.md"), "utf8"), /^- zebra-owner\n$/);
  assert.match(readFileSync(notesOf(w, "telegram_2"), "utf8"), /^- zebra-guest\n$/);
  assert.match(readFileSync(notesOf(w, "telegram_-100"), "utf8"), /^- zebra-group\n$/);
  assert.deepEqual(askedIn(await w.gateway.events(group)), []);

  for (const [chat, key, own] of [
    [() => w.say(2, "/new"), guest, "guest"],
    [() => w.sayInGroup(1, "Owner", "/new"), group, "group"],
    [() => w.say(1, "/new"), owner, "owner"],
  ] as const) {
    chat();
    await idle(w, key, 2);
    const history =
      own === "owner"
        ? join(w.home, "workspace/memory/HISTORY.md")
        : notesOf(w, key.replace(":", "_")).replace("MEMORY", "HISTORY");
    const kept = readFileSync(history, "utf8");
    for (const other of ["guest", "group", "owner"])
      assert.equal(kept.includes(`zebra-${other}`), other === own, `${own}: ${kept}`);
  }
  for (const [ask, key, own] of [
    [() => w.say(2, "find zebra"), guest, "guest"],
    [() => w.sayInGroup(1, "Owner", "find zebra"), group, "group"],
    [() => w.say(4, "find zebra"), "telegram:4", "nobody"],
  ] as const) {
    ask();
    await idle(w, key, own === "nobody" ? 1 : 3);
    const body = w.model.requests.at(-1)?.bodyText ?? "";
    for (const other of ["guest", "group", "owner"])
      assert.equal(body.includes(`zebra-${other}`), other === own, `${own}: ${body}`);
    if (own !== "nobody") assert.match(body, new RegExp(`# Memory\\\\n- zebra-${own}`));
  }
  // The page finds everything, and what others said is marked as theirs.
  await w.gateway.ask("find zebra");
  const found = lastResult(w.model.requests.at(-1));
  for (const all of ["guest", "group", "owner"]) assert.match(found, new RegExp(`zebra-${all}`));
  assert.match(found, /<untrusted/);

  // Written from the page into the guest's chat: the guest's memory, and the guest can ask for it.
  await w.gateway.ask("remember zebra-page", { key: guest });
  assert.match(readFileSync(notesOf(w, "telegram_2"), "utf8"), /zebra-page/);
  assert.doesNotMatch(readFileSync(join(w.home, "workspace/memory/MEMORY.md"), "utf8"), /zebra-page/);

  await w.gateway.gateway.api.deleteSession(guest);
  await until("the guest's memory is gone", () => !existsSync(notesOf(w, "telegram_2")));
  assert.ok(existsSync(notesOf(w, "telegram_-100")));
});

test("a copy of a guest's chat is the owner's to read, and none of it goes into the owner's history", async () => {
  await using w = await startWorld(rememberer);
  fill(w.home);
  w.say(2, "zebra-guest says hello");
  await idle(w, guest, 1);
  const { key } = await w.gateway.gateway.api.forkSession(guest, undefined);
  // Only the owner reads it: the owner's files are there as in any conversation of theirs.
  await until("the files are seen", async () => {
    await w.gateway.ask("what was that?", { key });
    return /canary-agents/.test(w.model.requests.at(-1)?.bodyText ?? "");
  });
  const { key: again } = await w.gateway.gateway.api.forkSession(key, undefined);
  for (const copy of [key, again]) await w.gateway.ask("/new", { key: copy });
  assert.doesNotMatch(readFileSync(join(w.home, "workspace/memory/HISTORY.md"), "utf8"), /zebra/);
  await w.gateway.ask("tell me of zebras", { key });
  await w.gateway.ask("/new", { key: "webui:test" });
});

test("what commands show stays in the chat: who waits is not told where others read, nor what all have used", async () => {
  await using w = await startWorld({ text: "hello" });
  fill(w.home);
  w.say(1, "hello");
  await idle(w, owner, 1);
  for (const command of ["/pair", "/usage", "/skills", "/cron", "/status", "/model", "/plan", "/help"]) {
    const { response } = await w.gateway.ask(command, { key: guest });
    assert.doesNotMatch(response, /canary|workspace|telegram:1|\/tmp/, response);
    if (command === "/pair") assert.match(response, /Not in a chat that others read/);
    if (command === "/usage") assert.match(response, /You today/);
  }
  assert.match((await w.gateway.ask("/usage", { key: owner })).response, /\nToday /);
});

test("the status says once that guests are told nothing, until GUESTS.md says something", async () => {
  await using w = await startWorld({ text: "hello" });
  const problems = async (): Promise<string> => (await w.gateway.gateway.api.status()).problems.join("\n");
  assert.doesNotMatch(await problems(), /GUESTS\.md/);
  writeFileSync(join(w.home, "workspace/AGENTS.md"), "Be kind.");
  await until("it says so", async () => /into GUESTS\.md/.test(await problems()));
  writeFileSync(join(w.home, "workspace/GUESTS.md"), "Be kind to guests.");
  await until("it is content", async () => !/GUESTS\.md/.test(await problems()));
});

test("a day's summary is made of what owners said in private, not of what others said", async () => {
  const w = await startWorld({ text: "hello" }, { config: { memory: { titles: "off" } } });
  const { home } = w;
  try {
    for (const [chat, key] of [
      [1, owner],
      [2, guest],
    ] as const) {
      w.say(chat, `zebra of ${chat}`);
      await idle(w, key, 1);
    }
    w.sayInGroup(1, "Owner", "zebra of the group");
    await idle(w, group, 1);
    await w.gateway.ask("zebra of the page");
    const { key } = await w.gateway.gateway.api.forkSession(guest, undefined);
    const { key: again } = await w.gateway.gateway.api.forkSession(key, undefined);
    for (const copy of [key, again]) await w.gateway.ask("zebra of a copy", { key: copy });
    const restarted = await w.gateway.restart(undefined, 1000);
    await restarted.gateway.drain(1000);
    await restarted.gateway[Symbol.asyncDispose]();

    const options = {
      home,
      config: await loadConfig({ home, env: { HOME: home } }),
      log: silentLog,
      version: "0.0.0-test",
    };
    const releases = new Releases(silentLog);
    try {
      const live = openLiveConfig(options);
      const core = await openCore(options, releases, live);
      const isOwner = (channel: string, sender: string): boolean => `${channel}:${sender}` === owner;
      const { ofSession } = await openReadership(core, () => false, isOwner, live);
      const days = await readOwnersDay(core.sessions, ofSession, 0, Date.now() + 1000);
      const said = days.flatMap(({ messages }) => messages.map(({ content }) => content)).join("\n");
      assert.match(said, /zebra of 1\n[\s\S]*zebra of the page/);
      assert.doesNotMatch(said, /zebra of (?:2|the group|a copy)/);
    } finally {
      await releases[Symbol.asyncDispose]();
    }
  } finally {
    await w.telegram.stop();
    await w.model[Symbol.asyncDispose]();
    rmSync(home, { recursive: true, force: true });
  }
});

test("a heartbeat that is to speak where others read has nothing to look through, and the status says why", async () => {
  const due = Date.parse("2026-11-21T12:00:00Z");
  for (const chat of [owner, guest, group]) {
    await using model = await startFakeOpenAI({ answer: { text: "HEARTBEAT_OK" } });
    const home = await tempHome();
    fill(home);
    const ahead = due - 300 - Date.now();
    const now = (): number => Date.now() + ahead;
    const heartbeat = { enabled: true, chat };
    const config = openAIConfig(model.apiBase, { owners: [owner], heartbeat, memory: { titles: "off" } });
    await using gateway = await startGateway({ home, config, now });
    const beats = (): number => model.requests.filter(({ userText }) => userText.includes("[Heartbeat]")).length;
    await until("the beat is due", () => now() > due + 200 && (chat !== owner || beats() === 1), 10_000);
    await gateway.ask("hello");
    assert.equal(beats(), chat === owner ? 1 : 0, chat);
    const problems = (await gateway.gateway.api.status()).problems.join("\n");
    assert.equal(/heartbeat\.chat: others read along/.test(problems), chat !== owner, chat);
    if (chat === owner) assert.match(model.requests[0]?.bodyText ?? "", /canary-heartbeat/);
  }
});
