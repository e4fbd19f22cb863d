import assert from "node:assert/strict";
import { test } from "node:test";
import type { StoredEvent } from "../../../src/events/event.js";
import { gate, until } from "../../support/engine/engine-kit.js";
import { assertSound, startWithModel } from "../../support/worlds/gateway.js";
import { postJson } from "../../support/worlds/http/http-server.js";

const twoCalls = {
  text: "Let me look.",
  toolCalls: [
    { id: "call_a", name: "list_dir", input: { path: "." } },
    { id: "call_b", name: "write_file", input: { path: "x.txt", content: "message_id" } },
  ],
};

interface WireMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly { readonly id: string }[];
  readonly tool_call_id?: string;
}

/** The rules of chat completions: each call is followed by its result, and no result is alone. */
function assertValidRequest(messages: readonly WireMessage[]): void {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      assert.equal(message.tool_call_id, open.shift());
      continue;
    }
    assert.deepEqual(open, [], "a call without a result");
    open = (message.tool_calls ?? []).map(({ id }) => id);
  }
  assert.deepEqual(open, []);
  assert.equal(messages.at(-1)?.role, "user");
}

const ours = /\b(?:evt|turn|exe|msg)_[0-9a-f]{20}\b/g;
const idsIn = (events: readonly StoredEvent[]): ReadonlySet<string> =>
  new Set(
    events.flatMap(({ metadata: _metadata, ...event }) =>
      // What the model sees is the same: only ids of the log are others.
      "content" in event.payload ? [event.event_id] : (JSON.stringify(event).match(ours) ?? []),
    ),
  );

test("a fork at any event of a log is a sound session, whose next request is valid and whose past is the same", async () => {
  await using t = await startWithModel(({ userText, index }) => {
    if (userText.endsWith("work") && index === 0) return twoCalls;
    return { text: `answer ${index}` };
  });
  await t.gateway.ask("work");
  await t.gateway.ask("mistake");
  await t.gateway.ask("/undo");
  await t.gateway.ask("and now?");
  const events = await t.gateway.events();
  const ids = idsIn(events);
  const forkAt = async (seq: number): Promise<void> => {
    const answer = await postJson(`${t.url}/api/sessions/webui:test/fork`, { at: seq });
    assert.equal(answer.status, 201);
    const { key, forkedFrom } = (await answer.json()) as { readonly key: string; readonly forkedFrom: unknown };
    assert.match(key, /^webui:fork-[0-9a-f]{8}$/);
    assert.deepEqual(forkedFrom, { key: "webui:test", seq });
    const copy = await t.gateway.events(key);
    assertSound(copy);
    assert.ok(
      [...idsIn(copy)].every((id) => !ids.has(id)),
      "no id of the old log is in the new one",
    );
    const waiting = events[seq - 1]?.type === "user_message_queued";
    const types = events.slice(0, waiting ? seq - 1 : seq).map(({ type }) => type);
    assert.deepEqual(
      copy.slice(0, types.length).map(({ type }) => type),
      types,
    );
    // The title of the copy is its own.
    assert.equal(copy.findLast(({ type }) => type !== "session_title_generated")?.type, "session_history_changed");
    const document = await t.api.getSession(key);
    assert.deepEqual(document.metadata.forkedFrom, { key: "webui:test", seq });
    assert.ok(document.metadata.state === "idle" || document.metadata.state === "created", document.metadata.state);
    assert.equal((await t.gateway.ask(`go on from ${seq}`, { key })).end, "complete");
    const request = t.model.requests.find(({ userText }) => userText.endsWith(`go on from ${seq}`));
    assertValidRequest((request?.body.messages ?? []) as readonly WireMessage[]);
    assertSound(await t.gateway.events(key));
  };
  await Promise.all(events.map(({ seq }) => forkAt(seq)));
  const last = t.model.requests.find(({ userText }) => userText.endsWith(`go on from ${events.length}`));
  const whole = JSON.stringify(last?.body.messages);
  assert.match(whole, /work.*and now\?.*go on/s);
  assert.doesNotMatch(whole, /mistake/);
  assert.deepEqual(await t.gateway.events(), events, "the old session is as it was");
  const lost = (await t.api.ledger()).filter(({ end }) => end !== "answered" && end !== "cancelled");
  assert.deepEqual(lost, []);
});

test("what waits stays behind, and a turn that runs is ended in the copy and goes on in the original", async () => {
  const held = gate();
  await using t = await startWithModel(async ({ index }) => {
    if (index === 1) await held.opened;
    return { text: `answer ${index}` };
  });
  await t.gateway.ask("hello");
  const running = await t.gateway.post("hold");
  await t.model.waitForRequests(2);
  const waiting = await t.gateway.post("/status");
  await until("it waits", async () => (await t.gateway.events()).at(-1)?.type === "user_message_queued");
  const { key } = await t.api.forkSession("webui:test", undefined);
  const copy = await t.gateway.events(key);
  assertSound(copy);
  assert.doesNotMatch(JSON.stringify(copy), /\/status/);
  assert.deepEqual(
    copy.flatMap((event) =>
      event.type.startsWith("turn_execution_") && event.type !== "turn_execution_start" ? [event.type] : [],
    ),
    ["turn_execution_complete", "turn_execution_cancelled"],
  );
  assert.equal((await t.gateway.ask("elsewhere", { key })).response, "answer 2");
  held.open();
  assert.equal((await t.gateway.outcome(running)).response, "answer 1");
  assert.equal((await t.gateway.outcome(waiting)).end, "complete");
  await using again = await t.gateway.restart();
  assert.deepEqual((await again.gateway.api.getSession(key)).metadata.forkedFrom?.key, "webui:test");
  assert.ok((await again.gateway.api.listSessions({ limit: 10, offset: 0 })).sessions.some((each) => each.key === key));
});

test("a fork can be forked, and undone back to before it was one", async () => {
  await using t = await startWithModel(({ index }) => ({ text: `answer ${index}` }));
  await t.gateway.ask("apples");
  await t.gateway.ask("pears");
  const first = await t.api.forkSession("webui:test", undefined);
  await t.gateway.ask("plums", { key: first.key });
  const second = await t.api.forkSession(first.key, undefined);
  await t.gateway.ask("/undo", { key: second.key });
  await t.gateway.ask("/undo", { key: second.key });
  await t.gateway.ask("figs", { key: second.key });
  const request = t.model.requests.at(-1)?.bodyText ?? "";
  assert.match(request, /apples.*figs/s);
  assert.doesNotMatch(request, /pears|plums/);
  assert.deepEqual((await t.api.getSession(second.key)).metadata.forkedFrom, second.forkedFrom);
  assert.equal(second.forkedFrom.key, first.key);
});

test("a fork in the second life of a session counts from one again", async () => {
  await using t = await startWithModel({ text: "ok" });
  await t.gateway.ask("old");
  await t.api.deleteSession("webui:test");
  await t.gateway.ask("apples");
  await t.gateway.ask("pears");
  await t.gateway.ask("/undo");
  const { firstSequence, lastSequence } = await t.api.sessionStatus("webui:test", { includeRecovery: false });
  assert.ok(firstSequence > 1);
  const { key } = await t.api.forkSession("webui:test", undefined);
  const copy = await t.gateway.events(key);
  assertSound(copy);
  // The title of the copy is its own.
  const untitled = (events: readonly StoredEvent[]) => events.filter(({ type }) => type !== "session_title_generated");
  assert.equal(untitled(copy).length, untitled(await t.gateway.events()).length + 1);
  await t.gateway.ask("figs", { key });
  assert.match(t.model.requests.at(-1)?.bodyText ?? "", /apples/);
  assert.doesNotMatch(t.model.requests.at(-1)?.bodyText ?? "", /pears/);

  for (const at of [0, firstSequence - 1, lastSequence + 1, 1.5]) {
    const answer = await postJson(`${t.url}/api/sessions/webui:test/fork`, { at });
    assert.equal(answer.status, 400);
    const { error } = (await answer.json()) as { readonly error: string };
    if (Number.isInteger(at)) assert.match(error, new RegExp(`${firstSequence} to ${lastSequence}, and no ${at}`));
  }
  assert.equal((await postJson(`${t.url}/api/sessions/webui:none/fork`, {})).status, 404);
});
