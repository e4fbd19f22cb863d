import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { EventType, Payload } from "../../../src/events/catalogue.js";
import { noUsage } from "../../../src/events/content.js";
import { type DraftContext, draft, type StoredEvent } from "../../../src/events/event.js";
import { DocumentFold } from "../../../src/sessions/document/document.js";
import { History } from "../../../src/sessions/history/history.js";
import { TurnTrail } from "../../../src/sessions/history/turn-trail.js";
import { applyEvents } from "../../../src/web/session/view-model.js";
import { emptyView } from "../../../src/web/session/view-state.js";
import { fuzzOptions } from "../../support/fuzz.js";

const key = "webui:undo";

/** A chat whose log is told message by message, as the gateway tells it, and what should be left of it. */
function chat() {
  const events: StoredEvent[] = [];
  const trail = new TurnTrail();
  const waiting: string[] = [];
  /** Turns that count, oldest first; `isSeen` until a fresh start. */
  const turns: { readonly text: string; isSeen: boolean }[] = [];
  let count = 0;
  const tell = <T extends EventType>(type: T, payload: Payload<T>, context: Partial<DraftContext> = {}): void => {
    const event = {
      ...draft(type, payload, { source: "agent", ...context }),
      schema_version: "1.0",
      session_key: key,
      seq: events.length + 1,
      timestamp: new Date(events.length).toISOString(),
      metadata: { instance_id: "gw" },
      // The union is distributive over the type, which the generic argument hides.
    } as StoredEvent;
    events.push(event);
    trail.apply(event);
  };
  const content = (text: string) => [{ type: "text" as const, text }];

  const queue = (text: string): void => {
    const sender = { channel: "webui", chat_id: "undo", sender_id: "owner", mode: "next" as const, position: 0 };
    tell("user_message_queued", { message_id: text, content: content(text), ...sender });
    waiting.push(text);
  };
  /** Takes what has waited longest to its end; `during` happens in the middle. */
  const run = (during: () => void = () => {}, beginsAfresh = false): void => {
    const text = waiting.shift();
    if (text === undefined) return;
    const turn_id = `turn_${events.length}`;
    const isCommand = text.startsWith("/");
    const context = { turn_id };
    tell("turn_execution_start", { message_ids: [text], queued_ms: 0, attempt: 1 }, context);
    if (beginsAfresh) tell("session_history_changed", { kind: "new" }, context);
    if (!isCommand) tell("user_message", { message_id: text, content: content(text), iteration: 1 }, context);
    during();
    if (text.startsWith("/new")) {
      tell("session_history_changed", { kind: "new" }, context);
      for (const turn of turns) turn.isSeen = false;
    }
    if (text.startsWith("/undo") && trail.last !== undefined) {
      tell("session_history_changed", { kind: "undo", to_seq: trail.last.beforeSeq }, context);
      turns.pop();
    }
    const message = { model: "m", iteration: 1, stop_reason: "end_turn" as const, usage: noUsage };
    tell(
      "assistant_message",
      { message_id: `a_${text}`, content: content(`answer to ${text}`), ...message, final: true, partial: false },
      { ...context, source: isCommand ? "gateway" : "provider:m" },
    );
    if (!isCommand) turns.push({ text, isSeen: true });
    const end = {
      message_id: `a_${text}`,
      stop_reason: "end_turn" as const,
      iterations: 1,
      usage: { ...noUsage, input_tokens: 5 },
    };
    tell(
      "turn_execution_complete",
      { message_ids: [text], ...end, duration_ms: 1, tool_calls: [], errors: [] },
      context,
    );
  };
  const next = (text: string): string => {
    count += 1;
    return `${text}${count}`;
  };
  return { events, queue, run, next, waiting, turns: () => turns };
}

const isPlain = (text: string): boolean => !text.includes("/");

function check(
  events: readonly StoredEvent[],
  turns: readonly { text: string; isSeen: boolean }[],
  waits: readonly string[],
) {
  const history = new History();
  const document = new DocumentFold(key);
  for (const event of events) {
    history.apply(event);
    document.apply(event);
  }
  const told = (which: readonly { text: string }[]): string[] =>
    which.flatMap(({ text }) => [text, `answer to ${text}`]).sort();
  const seen = history
    .toMessages(undefined)
    .flatMap(({ content }) => content.flatMap((part) => (part.type === "text" ? [part.text] : [])));
  assert.deepEqual([...seen].sort(), told(turns.filter(({ isSeen }) => isSeen)), "the model's context");
  const shown = [...told(turns), ...waits.filter(isPlain)].sort();
  const written = document.toDocument().messages.map(({ content }) => content);
  assert.deepEqual(written.filter(isPlain).sort(), shown, "the document");
  const items = applyEvents(emptyView(key), events).items.flatMap((item) =>
    item.kind === "user" || item.kind === "assistant" ? [item.text] : [],
  );
  assert.deepEqual(items.filter(isPlain).sort(), shown, "the page");
  assert.deepEqual(
    document.conversation.messages.map(({ content }) => content).sort(),
    told(turns.filter(({ isSeen }) => isSeen)),
    "what a fresh start puts away",
  );
}

test("whatever is said, queued, begun afresh and undone: context, document and page leave out the same turns", (t) => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.constant("message") },
    { weight: 3, arbitrary: fc.constant("/undo") },
    { weight: 1, arbitrary: fc.constant("/new") },
    { weight: 1, arbitrary: fc.constant("/help") },
    { weight: 5, arbitrary: fc.constant("run") },
    // Somebody writes while a turn runs.
    { weight: 3, arbitrary: fc.constant("run and message") },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const c = chat();
      for (const each of steps) {
        if (each === "run") c.run();
        else if (each === "run and message") c.run(() => c.queue(c.next("message")));
        else c.queue(c.next(each));
      }
      check(c.events, c.turns(), c.waiting);
    }),
    fuzzOptions(t, 500),
  );
});

test("a message that was written during the turn before goes with its own turn", () => {
  const c = chat();
  c.queue("first");
  c.run(() => c.queue("second"));
  c.run();
  c.queue("/undo1");
  c.queue("third");
  c.run();
  check(c.events, [{ text: "first", isSeen: true }], ["third"]);
  const view = applyEvents(emptyView(key), c.events);
  const command = view.items.find((item) => item.kind === "user" && item.text === "/undo1");
  assert.equal(command?.kind === "user" && command.status, "taken", "a command that is over does not wait");
});

test("the turn that begins a conversation afresh is taken back up to there, not beyond", () => {
  const c = chat();
  c.queue("first");
  c.run();
  c.queue("second");
  c.run(() => undefined, true);
  const fresh = c.events.findLast(({ type }) => type === "session_history_changed")?.seq;
  c.queue("/undo1");
  c.run();
  const undo = c.events.findLast((event) => event.type === "session_history_changed");
  assert.equal(undo?.type === "session_history_changed" && undo.payload.to_seq, fresh);
  check(c.events, [{ text: "first", isSeen: false }], []);
});

test("an undo leaves the cost and the log as they are", () => {
  const c = chat();
  c.queue("first");
  c.run();
  c.queue("/undo1");
  c.run();
  const document = new DocumentFold(key);
  for (const event of c.events) document.apply(event);
  const { metadata } = document.toDocument();
  assert.deepEqual([metadata.lastSequence, metadata.usage.input_tokens], [c.events.length, 10]);
  assert.deepEqual(
    c.events.map(({ seq }) => seq),
    c.events.map((_, index) => index + 1),
  );
});
