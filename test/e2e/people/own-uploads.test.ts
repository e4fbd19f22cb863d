import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../support/engine/engine-kit.js";
import {
  askedIn,
  type ChatWorld,
  lastResult,
  resultsIn,
  startWorld,
} from "../../support/worlds/channels/chat-world.js";
import type { RecordedRequest, ScriptedAnswer } from "../../support/worlds/model-script.js";
import { withoutSandbox } from "../../support/worlds/needs.js";

interface Call {
  readonly name: string;
  readonly input: object;
}

/** Makes these calls one after the other in each turn. */
function calling(calls: () => readonly Call[]): (request: RecordedRequest) => ScriptedAnswer {
  return (request) => {
    const call = calls()[resultsIn(request)];
    return call === undefined
      ? { text: `done: ${lastResult(request)}` }
      : { toolCalls: [{ id: `call_${request.index}`, ...call }] };
  };
}

function send(
  w: ChatWorld,
  from: number,
  filename: string,
  more: object = {},
  chat: object = { id: from, type: "private" },
) {
  w.telegram.pushMessage({
    chat: { ...chat, first_name: "Ann" },
    from: { id: from, is_bot: false, first_name: "Ann" },
    caption: `look at ${filename}`,
    document: { file_id: w.telegram.keepFile(Buffer.from("call me")), file_name: filename, mime_type: "text/plain" },
    ...more,
  });
}

const isMarked = (request: RecordedRequest | undefined): boolean => /<untrusted/.test(lastResult(request));

test("what an owner sends is the owner's own: reading it makes nothing foreign, and Always is offered", {
  skip: withoutSandbox(),
}, async () => {
  let calls: readonly Call[] = [
    { name: "read_file", input: { path: "letter.txt" } },
    { name: "exec", input: { command: "cat received/* > copy.txt; cat copy.txt" } },
    { name: "read_file", input: { path: "copy.txt" } },
  ];
  await using w = await startWorld(calling(() => calls));
  send(w, 1, "letter.txt");
  await w.shown(/^done: call me/);
  assert.deepEqual(w.model.requests.map(isMarked), [false, false, false, false]);
  calls = [{ name: "write_file", input: { path: join(w.home, "workspace", "notes.txt"), content: "call me" } }];
  w.say(1, "note it");
  const question = await w.shown("May I write notes.txt");
  assert.deepEqual(
    question.buttons?.flat().map(({ text }) => text),
    ["1. Allow once", "2. Always allow", "3. Deny"],
  );
  w.press(question, "2. Always allow", 1);
  await w.shown(/^done: created/);
  // After a restart as well; and what was passed on is others', beside it and by itself.
  w.gateway = await w.gateway.restart();
  calls = [
    { name: "read_file", input: { path: "letter.txt" } },
    { name: "read_file", input: { path: "notes.txt" } },
  ];
  let from = w.model.requests.length;
  w.say(1, "again");
  await until("it is read", () => w.model.requests.length === from + 3, 10_000);
  assert.deepEqual(w.model.requests.slice(from).map(isMarked), [false, false, false]);
  calls = [
    { name: "read_file", input: { path: "passed-on.txt" } },
    { name: "read_file", input: { path: "letter.txt" } },
    { name: "exec", input: { command: "cat received/*letter.txt" } },
  ];
  from = w.model.requests.length;
  send(w, 1, "passed-on.txt", { forward_origin: { type: "hidden_user", sender_user_name: "Eve", date: 1 } });
  await until("it is read", () => w.model.requests.length === from + 4, 10_000);
  assert.deepEqual(w.model.requests.slice(from).map(isMarked), [false, true, false, true]);
});

test("what a guest sends is nobody's own word: not in the guest's turn, not in the owner's, and not in a group", async () => {
  const calls: Call[] = [{ name: "read_file", input: { path: "offer.txt" } }];
  await using w = await startWorld(calling(() => calls));
  send(w, 7, "offer.txt");
  await until("the guest's turn", () => w.model.requests.length === 2, 10_000);
  await w.gateway.ask("what did they send?", { key: "telegram:7" });
  const group = { id: -100, type: "supergroup", title: "Team" };
  const reply = { reply_to_message: { message_id: 1, from: { id: 4242, is_bot: true, first_name: "Bot" } } };
  send(w, 8, "offer.txt", reply, group);
  await until("the group's turn", () => w.model.requests.length === 6, 10_000);
  w.sayInGroup(1, "Owner", "and what is in it?");
  await until("the owner's turn there", () => w.model.requests.length === 8, 10_000);
  const read = w.model.requests.filter((request) => resultsIn(request) === 1);
  assert.deepEqual(read.map(isMarked), [true, true, true, true]);
  assert.deepEqual(askedIn(await w.gateway.events("telegram:7")), []);
});

test("a file of the message that is answered belongs to who sent that one", async () => {
  const calls: Call[] = [{ name: "read_file", input: { path: "theirs.txt" } }];
  await using w = await startWorld(calling(() => calls));
  const file_id = w.telegram.keepFile(Buffer.from("call me"));
  const document = { file_id, file_name: "theirs.txt", mime_type: "text/plain" };
  w.telegram.pushMessage({
    chat: { id: 1, type: "private", first_name: "Ann" },
    from: { id: 1, is_bot: false, first_name: "Ann" },
    text: "what is this?",
    reply_to_message: { message_id: 900, from: { id: 9, is_bot: false, first_name: "Eve" }, document },
  });
  await w.shown(/done:/);
  assert.deepEqual(w.model.requests.map(isMarked), [false, true]);
});
