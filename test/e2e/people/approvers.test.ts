import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { verifyEvents } from "../../../src/offline/events.js";
import { defineTool } from "../../../src/tools/tool.js";
import { until } from "../../support/engine/engine-kit.js";
import { foreignTool } from "../../support/foreign-tool.js";
import {
  answeredIn,
  askedIn,
  type ChatWorld,
  callThenDone,
  lastResult,
  resultsIn,
  startWorld,
} from "../../support/worlds/channels/chat-world.js";
import { assertSound } from "../../support/worlds/gateway.js";
import { openSocket } from "../../support/worlds/http/http-clients.js";

const needsOwner = "An owner of this assistant must allow this.";

/** A tool of which nobody knows what it does, and one that sends a text out. */
function probes(done: string[]) {
  const post = defineTool({
    name: "post",
    description: "",
    input: z.object({ url: z.string() }),
    effect: "write",
    risk: "access",
    origin: "builtin",
    async run({ url }, context) {
      const refusal = await context.permit({ kind: "network", url, sends: true });
      if (refusal !== undefined) return { text: refusal, isError: true, summary: "" };
      done.push(url);
      return { text: `posted ${url}`, isError: false, summary: "" };
    },
  });
  return [foreignTool(done), post];
}

async function startWriter(): Promise<ChatWorld & { readonly file: string }> {
  let file = "";
  const w = await startWorld((request) => callThenDone("write_file", { path: file, content: "by a guest" })(request));
  file = join(w.home, "workspace", "notes.txt");
  return Object.assign(w, { file });
}

async function onlyQuestion({ gateway }: ChatWorld) {
  const { api } = gateway.gateway;
  await until("it is asked", () => api.listQuestions().length === 1, 10_000);
  const [open] = api.listQuestions();
  assert.ok(open);
  return open;
}

/** How often the text was sent to this chat. */
function timesShown({ telegram }: ChatWorld, text: string): number {
  return telegram.sent.filter((one) => one.text === text).length;
}

test("an owner hears in their own chat of what only they can allow in a chat of others, once", async () => {
  await using w = await startWorld(
    (request) =>
      request.userText.endsWith("write it")
        ? callThenDone("write_file", { path: join(w.gateway.workspace, "notes.txt"), content: "x" })(request)
        : { text: "hello" },
    {},
  );
  w.say(1, "hi");
  await w.shown("hello");
  w.say(42, "write it");
  const notice = await w.shown(/In the chat telegram:42 I am waiting for you: May I write notes\.txt for User 42\?/);
  assert.equal(notice.chatId, "1");
  const [open] = w.gateway.gateway.api.listQuestions();
  assert.match(notice.text, new RegExp(`maxclaw answer ${open?.requestId}$`));
  await w.shown(/An owner of this assistant must allow this\. Without an answer it counts as a no\./);
  assert.equal(w.telegram.sent.filter(({ text }) => text.startsWith("In the chat")).length, 1);
  await w.gateway.gateway[Symbol.asyncDispose]();
  const { problems } = await verifyEvents(w.gateway, undefined, { signal: new AbortController().signal });
  assert.deepEqual(problems, []);
});

test("a guest's yes opens nothing that is shared, in whatever way it is said; an owner's on the page does", async () => {
  await using w = await startWriter();
  w.say(42, "write it down");
  const question = await w.shown("May I write notes.txt for User 42");
  assert.ok(question.text.includes(needsOwner));
  assert.equal(question.buttons, undefined);
  assert.doesNotMatch(question.text, /Allow once/);
  const open = await onlyQuestion(w);
  assert.deepEqual([open.approver, open.sessionKey, open.kind], ["owner", "telegram:42", "permission"]);
  const ways = ["yes", "Ok.", "同意", "1", "Allow once", "allow_once", "/approve", "/approve always"];
  for (const [index, text] of ways.entries()) {
    w.say(42, text);
    await until(`${text} is refused`, () => timesShown(w, needsOwner) === index + 1, 10_000);
  }
  // A button that is none: made up, or left over from an earlier version.
  for (const [index, option] of ["allow_once", "allow_always"].entries()) {
    w.telegram.pushUpdate({
      callback_query: {
        id: `made-up-${index}`,
        from: { id: 42, is_bot: false, first_name: "User 42" },
        message: { message_id: question.messageId, date: 1, chat: { id: 42, type: "private" } },
        chat_instance: "1",
        data: `${open.requestId}:${option}`,
      },
    });
    assert.equal((await w.toasts(index + 1))[index]?.text, needsOwner);
  }
  assert.ok(!existsSync(w.file));
  assert.equal((await onlyQuestion(w)).requestId, open.requestId);
  const url = `http://${w.gateway.gateway.address}/api/sessions/${encodeURIComponent(open.sessionKey)}/answer`;
  const listed = await (await fetch(`http://${w.gateway.gateway.address}/api/questions`)).json();
  assert.equal(z.object({ questions: z.array(z.object({ approver: z.string() })) }).parse(listed).questions.length, 1);
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ requestId: open.requestId, answer: "allow_once" }),
  });
  assert.deepEqual(await response.json(), { answer: "Allow once" });
  await w.shown(/^done: created/);
  assert.equal(readFileSync(w.file, "utf8"), "by a guest");
  const events = await w.gateway.events("telegram:42");
  assertSound(events);
  assert.equal(askedIn(events)[0]?.approver, "owner");
  assert.deepEqual(
    answeredIn(events).map(({ responder_id }) => responder_id),
    ["client:owner"],
  );
  assert.deepEqual(w.gateway.gateway.api.policy().grants, []);
});

test("a guest may turn down what only an owner may allow, and stop it", async () => {
  await using w = await startWriter();
  w.say(42, "write it down");
  await onlyQuestion(w);
  w.say(42, "no");
  await w.shown(/^done: write_file may not write notes\.txt: the person did not allow it/);
  w.say(42, "again");
  await onlyQuestion(w);
  w.say(42, "/stop");
  await until("it is withdrawn", () => w.gateway.gateway.api.listQuestions().length === 0, 10_000);
  assert.ok(!existsSync(w.file));
});

test("an owner's yes over a WebSocket counts for a guest's question", async () => {
  await using w = await startWriter();
  w.say(42, "write it down");
  const { requestId, sessionKey } = await onlyQuestion(w);
  const socket = await openSocket(`http://${w.gateway.gateway.address}`);
  const reply = await socket.command("human_input_reply", {
    session_key: sessionKey,
    request_id: requestId,
    answer: "allow_once",
  });
  assert.equal(reply.success, true);
  await w.shown(/^done: created/);
  socket.socket.terminate();
});

test("an owner's question in their own chat has buttons as before", async () => {
  await using w = await startWriter();
  w.say(1, "write it down");
  const question = await w.shown("May I write notes.txt");
  assert.doesNotMatch(question.text, /An owner of this assistant/);
  assert.equal(question.buttons?.flat().length, 3);
});

test("a tool of which nobody knows what it does is an owner's to allow, by typing in a group too", async () => {
  const done: string[] = [];
  await using w = await startWorld(callThenDone("foreign_do", { a: "x" }), { tools: probes(done) });
  w.say(42, "do it");
  const own = await w.shown("May I use foreign_do for User 42");
  assert.ok(own.text.includes(needsOwner) && own.buttons === undefined);
  w.say(42, "/approve");
  await w.shown(/^An owner of this assistant must allow this\.$/);
  w.say(42, "/stop");
  await until("it is withdrawn", () => w.gateway.gateway.api.listQuestions().length === 0, 10_000);
  w.sayInGroup(42, "Guest", "do it");
  await w.shown("May I use foreign_do for Guest");
  w.sayInGroup(43, "Other guest", "yes");
  w.sayInGroup(42, "Guest", "yes");
  await until("both are refused", () => w.telegram.sent.filter(({ chatId }) => chatId === "-100").length >= 3, 10_000);
  assert.deepEqual(done, []);
  w.sayInGroup(1, "Owner", "yes");
  await w.shown("done: did x");
  assert.deepEqual(done, ["x"]);
});

test("what a guest sends out of their own chat is theirs to allow, out of a group an owner's", async () => {
  const done: string[] = [];
  await using w = await startWorld(callThenDone("post", { url: "https://example.org/in" }), { tools: probes(done) });
  w.say(42, "send it");
  const question = await w.shown("May I send to https://example.org/in?");
  assert.deepEqual(
    question.buttons?.flat().map(({ text }) => text),
    ["Allow once", "Deny"],
  );
  assert.equal((await onlyQuestion(w)).approver, "asker");
  w.press(question, "Allow once", 42);
  await w.shown(/^done: posted/);
  w.sayInGroup(42, "Guest", "send it");
  const inGroup = await w.shown("May I send to https://example.org/in for Guest");
  assert.ok(inGroup.text.includes(needsOwner) && inGroup.buttons === undefined);
  assert.deepEqual(done, ["https://example.org/in"]);
});

test("what a rule asks about is an owner's to allow", async () => {
  const done: string[] = [];
  const rules = [{ tool: "post", argument: "https://*", verdict: "ask" }];
  await using w = await startWorld(callThenDone("post", { url: "https://example.org/in" }), {
    tools: probes(done),
    config: { policy: { rules } },
  });
  w.say(42, "send it");
  assert.ok((await w.shown("Policy.rules[0] says to ask")).text.includes(needsOwner));
});

test("a sub-agent's question follows the one it works for", async () => {
  let file = "";
  await using w = await startWorld((request) => {
    if (/write the file/.test(request.userText) && !/delegate/.test(request.userText))
      return callThenDone("write_file", { path: file, content: "x" })(request);
    return resultsIn(request) === 0 && /delegate/.test(request.userText)
      ? { toolCalls: [{ id: "call_s", name: "spawn", input: { action: "start", task: "write the file" } }] }
      : { text: `ok ${lastResult(request)}` };
  });
  file = join(w.home, "workspace", "notes.txt");
  w.say(42, "delegate it");
  const open = await onlyQuestion(w);
  assert.match(open.sessionKey, /^telegram:42:spawn:/);
  assert.equal(open.approver, "owner");
  w.say(42, "yes");
  await w.shown(/^An owner of this assistant must allow this\.$/);
  assert.ok(!existsSync(file));
  await w.gateway.gateway.api.answerQuestion({ ...open, answer: "allow_once" });
  await until("it is written", () => existsSync(file), 10_000);
});

test("a question that a restart has left open is still an owner's to allow", async () => {
  await using w = await startWriter();
  w.say(42, "write it down");
  await onlyQuestion(w);
  w.gateway = await w.gateway.restart();
  await onlyQuestion(w);
  w.say(42, "yes");
  await w.shown(/^An owner of this assistant must allow this\.$/);
  assert.ok(!existsSync(w.file));
});

test("an always for a script holds for what the script says now, and for this chat", async () => {
  await using w = await startWorld(callThenDone("exec", { command: "sh run.sh" }), {
    config: { tools: { exec: { sandbox: "off" } } },
  });
  const folder = join(w.home, "workspace", ".sessions", "telegram_1");
  mkdirSync(folder, { recursive: true });
  const script = (text: string) => writeFileSync(join(folder, "run.sh"), text);
  const asked = async () => askedIn(await w.gateway.events("telegram:1")).length;
  script("echo harmless");
  w.say(1, "run it");
  await w.shown("May I run sh run.sh");
  w.say(1, "/approve always");
  await w.shown(/^done: harmless/);
  const [grant] = w.gateway.gateway.api.policy().grants;
  assert.deepEqual(
    grant?.files.map(({ path }) => path),
    [join(folder, "run.sh")],
  );
  script("echo harmless # the same?");
  w.say(1, "again");
  await until("it is asked again", async () => (await asked()) === 2, 10_000);
  w.say(1, "no");
  await w.shown(/^done: exec may not run sh run\.sh/);
  script("echo harmless");
  const before = w.telegram.sent.length;
  w.say(1, "and again");
  await until("it ran", () => w.telegram.sent.slice(before).some(({ text }) => /^done: harmless/.test(text)), 10_000);
  assert.equal(await asked(), 2);
});

test("a script that is changed while a person looks at it is not run", async () => {
  await using w = await startWorld(callThenDone("exec", { command: "sh run.sh" }), {
    config: { tools: { exec: { sandbox: "off" } } },
  });
  const folder = join(w.home, "workspace", ".sessions", "telegram_1");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "run.sh"), "echo harmless");
  w.say(1, "run it");
  await w.shown("May I run sh run.sh");
  writeFileSync(join(folder, "run.sh"), `echo harmful; touch ${join(folder, "harm")}`);
  w.say(1, "/approve always");
  await w.shown(/^done: exec may not run sh run\.sh: a file that it names was changed/);
  assert.ok(!existsSync(join(folder, "harm")));
  assert.deepEqual(w.gateway.gateway.api.policy().grants, []);
});

test("a command without a sandbox that is not made of plain words has no always", async () => {
  await using w = await startWorld(callThenDone("exec", { command: "cd /tmp && sh $X" }), {
    config: { tools: { exec: { sandbox: "off" } } },
  });
  w.say(1, "run it");
  const question = await w.shown("May I run cd /tmp && sh $X");
  assert.deepEqual(
    question.buttons?.flat().map(({ text }) => text),
    ["Allow once", "Deny"],
  );
});

test("what was allowed for always in the chat's own folder is asked about in another one", async () => {
  let command = "sh run.sh";
  await using w = await startWorld((request) => callThenDone("exec", { command })(request), {
    config: { tools: { exec: { sandbox: "off" } } },
  });
  const folder = join(w.home, "workspace", ".sessions", "telegram_1");
  mkdirSync(join(folder, "sub"), { recursive: true });
  writeFileSync(join(folder, "run.sh"), "echo harmless");
  writeFileSync(join(folder, "sub", "run.sh"), "echo harmful");
  w.say(1, "run it");
  await w.shown("May I run sh run.sh");
  w.say(1, "/approve always");
  await w.shown(/^done: harmless/);
  command = "cd sub";
  w.say(1, "go there");
  await w.shown("May I run cd sub");
  w.say(1, "yes");
  await w.shown(/^done: .*now in/s);
  command = "sh run.sh";
  w.say(1, "run it");
  const open = await onlyQuestion(w);
  assert.deepEqual(
    open.options.map(({ id }) => id),
    ["allow_once", "deny"],
  );
});

test("what a rule allows runs as its words say, whatever earlier commands have left behind", async () => {
  let command = "";
  const rules = [
    { tool: "exec", verdict: "deny" },
    { tool: "exec", argument: "export *", verdict: "ask" },
    { tool: "exec", argument: "uptime *", verdict: "allow" },
  ];
  await using w = await startWorld((request) => callThenDone("exec", { command })(request), {
    config: { tools: { exec: { sandbox: "off" } }, policy: { rules } },
  });
  const folder = join(w.home, "workspace", ".sessions", "telegram_1");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "uptime"), "#!/bin/sh\necho harmful\n", { mode: 0o755 });
  command = `export PATH=${folder}:$PATH`;
  w.say(1, "prepare");
  await w.shown("May I run export PATH");
  w.say(1, "yes");
  await w.shown(/^done: /);
  // What it begins with, also where a function has its name.
  for (const attack of ["uptime --version", "uptime"]) {
    command = attack;
    const before = w.telegram.sent.length;
    w.say(1, `how long? ${attack}`);
    const fresh = () => w.telegram.sent.slice(before).find(({ text }) => text.startsWith("done:"));
    await until("it is answered", () => fresh() !== undefined, 10_000);
    assert.match(fresh()?.text ?? "", /uptime from|load average|up /);
    assert.doesNotMatch(fresh()?.text ?? "", /harmful/);
  }
  command = "id";
  w.say(1, "who?");
  await w.shown(/^done: exec may not run .+: policy\.rules\[0\] denies it\./);
});
