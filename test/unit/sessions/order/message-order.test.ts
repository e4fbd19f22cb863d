import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deserialize, serialize } from "node:v8";
import fc from "fast-check";
import type { EventType, Payload } from "../../../../src/events/catalogue.js";
import { noUsage } from "../../../../src/events/content.js";
import {
  type DraftContext,
  draft,
  type GatewayEvent,
  isStored,
  type StoredEvent,
} from "../../../../src/events/event.js";
import { forkLog } from "../../../../src/events/fork-log.js";
import { DocumentFold } from "../../../../src/sessions/document/document.js";
import { History } from "../../../../src/sessions/history/history.js";
import { TurnTrail } from "../../../../src/sessions/history/turn-trail.js";
import { applyEvents } from "../../../../src/web/session/view-model.js";
import { emptyView, type ViewState } from "../../../../src/web/session/view-state.js";
import { fuzzOptions } from "../../../support/fuzz.js";

const key = "webui:order";
const content = (text: string) => [{ type: "text" as const, text }];

interface Said {
  readonly text: string;
  /** The model sees it. */
  isSeen: boolean;
  /** The turn that it belongs to. */
  readonly turn: string;
}

/** A chat as somebody watches it, and its log: what is said is told as the gateway tells it. */
class Chat {
  readonly events: GatewayEvent[] = [];
  readonly trail = new TurnTrail();
  /** What was seen, oldest first. */
  said: Said[] = [];
  readonly waiting: string[] = [];
  turn: string | undefined;
  /** Messages of the turn that runs. */
  #ofTurn: string[] = [];
  #seq = 0;
  #count = 0;
  #calls = 0;

  get stored(): readonly StoredEvent[] {
    return this.events.filter(isStored);
  }

  tell<T extends EventType>(type: T, payload: Payload<T>, context: Partial<DraftContext> = {}, isStored = true): void {
    if (isStored) this.#seq += 1;
    const event = {
      ...draft(type, payload, {
        source: "agent",
        ...(this.turn === undefined ? {} : { turn_id: this.turn }),
        ...context,
      }),
      schema_version: "1.0",
      session_key: key,
      seq: isStored ? this.#seq : null,
      timestamp: new Date(this.#seq).toISOString(),
      metadata: { instance_id: "gw" },
      // The union is distributive over the type, which the generic argument hides.
    } as GatewayEvent;
    this.events.push(event);
    if (isStored) this.trail.apply(event as StoredEvent);
  }

  queue(what = "message"): string {
    this.#count += 1;
    const text = `${what} ${this.#count}`;
    const sender = { channel: "webui", chat_id: "order", sender_id: "owner", mode: "next" as const, position: 0 };
    const { turn } = this;
    // What arrives belongs to no turn yet.
    this.turn = undefined;
    this.tell("user_message_queued", { message_id: text, content: content(text), ...sender }, { correlation_id: text });
    this.turn = turn;
    this.waiting.push(text);
    return text;
  }

  begin(): void {
    if (this.turn !== undefined) return;
    const text = this.waiting.shift();
    if (text === undefined) return;
    this.turn = `turn_${this.#seq}`;
    this.#ofTurn = [text];
    this.tell("turn_execution_start", { message_ids: [text], queued_ms: 0, attempt: 1 }, { correlation_id: text });
    this.said.push({ text, isSeen: !text.startsWith("/"), turn: this.turn });
    if (!text.startsWith("/")) this.tell("user_message", { message_id: text, content: content(text), iteration: 1 });
    if (text.startsWith("/new")) {
      this.tell("session_history_changed", { kind: "new" });
      for (const each of this.said) each.isSeen = false;
    }
    if (text.startsWith("/undo") && this.trail.last !== undefined) this.#undo(this.trail.last);
  }

  /** What waits joins the answer, after a step of it. */
  join(): void {
    this.step();
    const text = this.waiting.find((each) => !each.startsWith("/"));
    if (this.turn === undefined || text === undefined || !this.#isOfModel) return;
    this.waiting.splice(this.waiting.indexOf(text), 1);
    this.#ofTurn.push(text);
    this.tell("user_message", { message_id: text, content: content(text), iteration: 2 });
    this.said.push({ text, isSeen: true, turn: this.turn });
  }

  /** The model uses a tool. */
  step(): void {
    if (this.turn === undefined || !this.#isOfModel) return;
    this.#calls += 1;
    const call = { tool_call_id: `call_${this.#calls}`, tool_name: "list_dir" };
    const use = { type: "tool_use" as const, id: call.tool_call_id, name: call.tool_name, input: {} };
    const message_id = `step_${this.#calls}`;
    this.tell("message_stream_start", { message_id, model: "m", iteration: 1 }, {}, false);
    this.tell("tool_call_start", { message_id, ...call }, {}, false);
    const rest = { model: "m", iteration: 1, stop_reason: "tool_use" as const, usage: noUsage };
    this.tell("assistant_message", { message_id, content: [use], ...rest, final: false, partial: false });
    const execution = { tool_execution_id: `exe_${this.#calls}`, ...call };
    this.tell("tool_execution_start", { ...execution, input: {}, iteration: 1, origin: "builtin" });
    const end = { output: "a", is_error: false, duration_ms: 1, summary: "one" };
    this.tell("tool_execution_complete", { ...execution, ...end });
  }

  /** The assistant asks, and what is typed answers it. */
  answerQuestion(): void {
    if (this.turn === undefined || !this.#isOfModel) return;
    const text = this.queue("yes");
    this.waiting.splice(this.waiting.indexOf(text), 1);
    this.#ofTurn.push(text);
    const answer = { kind: "decision" as const, outcome: "answered" as const, answer: "yes", responder_id: "owner" };
    this.tell("human_input_answered", { request_id: `ask_${text}`, ...answer }, { correlation_id: text });
    this.said.push({ text, isSeen: false, turn: this.turn });
  }

  /** Something is said besides while the answer grows. */
  sayBesides(): void {
    this.#count += 1;
    const text = `besides ${this.#count}`;
    const { turn } = this;
    this.turn = undefined;
    this.tell("session_history_changed", { kind: "said", messages: [{ role: "assistant", content: text }] });
    this.turn = turn;
    this.said.push({ text, isSeen: true, turn: "none" });
  }

  /** The process is killed, and the turn begun again. */
  kill(): void {
    if (this.turn === undefined) return;
    this.tell("agent_state_changed", { from: "responding", to: "idle", cause: "restart" });
    this.tell("turn_execution_start", { message_ids: [...this.#ofTurn], queued_ms: 0, attempt: 2 });
  }

  /** `during` happens while the answer is streamed. */
  answer(during: () => void = () => undefined, isStopped = false): void {
    if (this.turn === undefined) return;
    const [first = ""] = this.#ofTurn;
    const text = `answer to ${first}`;
    const message_id = `a_${first}`;
    const isCommand = first.startsWith("/");
    if (!isCommand) {
      this.tell("message_stream_start", { message_id, model: "m", iteration: 1 }, {}, false);
      this.tell("text_delta", { message_id, text: text.slice(0, 6) }, {}, false);
    }
    during();
    const stop_reason = isStopped ? ("interrupted" as const) : ("end_turn" as const);
    const how = { model: "m", iteration: 1, stop_reason, usage: noUsage, final: !isStopped, partial: isStopped };
    const source = isCommand ? "gateway" : "provider:m";
    this.tell("assistant_message", { message_id, content: content(text), ...how }, { source });
    this.said.push({ text, isSeen: !isCommand, turn: this.turn });
    if (isStopped) this.#stop();
    else {
      const end = { message_id, stop_reason: "end_turn" as const, iterations: 1, usage: noUsage, duration_ms: 1 };
      this.tell("turn_execution_complete", { message_ids: this.#ofTurn, ...end, tool_calls: [], errors: [] });
    }
    this.turn = undefined;
  }

  #stop(): void {
    const text = this.queue("/stop");
    this.waiting.splice(this.waiting.indexOf(text), 1);
    const message_ids = [...this.#ofTurn, text];
    this.tell("turn_execution_cancelled", { message_ids, reason: "user_interrupt", mode: "stop" });
    this.said.push({ text, isSeen: false, turn: this.turn ?? "" });
  }

  get #isOfModel(): boolean {
    return this.#ofTurn[0]?.startsWith("/") === false;
  }

  #undo(last: { readonly turnId: string; readonly beforeSeq: number }): void {
    this.tell("session_history_changed", { kind: "undo", to_seq: last.beforeSeq });
    const at = this.said.findIndex(({ turn }) => turn === last.turnId);
    const own = this.said.filter(({ turn }) => turn === this.turn);
    if (at !== -1) this.said = [...this.said.slice(0, at), ...own];
  }
}

const textsOfView = ({ items }: ViewState): readonly string[] =>
  items.flatMap((item) => (item.kind === "user" || item.kind === "assistant" ? [item.text] : [])).filter(Boolean);

function textsOfDocument(document: DocumentFold): readonly string[] {
  return document
    .toDocument()
    .messages.flatMap(({ role, content: text }) => (role === "user" || role === "assistant" ? [text] : []));
}

function textsOfModel(events: readonly StoredEvent[]): readonly string[] {
  const history = new History();
  for (const event of events) history.apply(event);
  return history
    .toMessages(undefined)
    .flatMap((message) => message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])));
}

function documentOf(events: readonly StoredEvent[], restoredAt = -1): DocumentFold {
  let document = new DocumentFold(key);
  for (const [index, event] of events.entries()) {
    document.apply(event);
    const { folded } = document;
    if (index < restoredAt || restoredAt < 0 || folded === undefined) continue;
    const copy = new DocumentFold(key);
    // What was serialised is what comes back.
    copy.restore(deserialize(serialize(folded)) as NonNullable<DocumentFold["folded"]>);
    document = copy;
  }
  return document;
}

/** What is inside of one answer counts as one: the document shows an answer as a whole, after all that joined it. */
function check(chat: Chat): void {
  const seen = [...chat.said.map(({ text }) => text), ...chat.waiting];
  const { stored } = chat;
  assert.deepEqual(textsOfView(applyEvents(emptyView(key), stored)), seen, "the page after a reload");
  const live = chat.events.reduce((view, event) => applyEvents(view, [event]), emptyView(key));
  assert.deepEqual(textsOfView(live), seen, "the page that was open");
  assert.deepEqual(textsOfDocument(documentOf(stored)), seen, "the document");
  assert.deepEqual(textsOfDocument(documentOf(stored, 0)), seen, "the document from folds in files");
  const ofModel = chat.said.filter(({ isSeen }) => isSeen).map(({ text }) => text);
  assert.deepEqual(textsOfModel(stored), ofModel, "what the model gets");
}

describe("the order of a conversation", () => {
  test("a message that came during the answer before it is below that answer, live and after a reload", () => {
    const chat = new Chat();
    chat.queue();
    chat.begin();
    chat.answer(() => chat.queue());
    chat.begin();
    chat.answer();
    const texts = ["message 1", "answer to message 1", "message 2", "answer to message 2"];
    assert.deepEqual(textsOfView(applyEvents(emptyView(key), chat.stored)), texts);
    assert.deepEqual(textsOfDocument(documentOf(chat.stored)), texts);
    assert.deepEqual(textsOfModel(chat.stored), texts);
    check(chat);
  });

  test("what waits is below the answer that grows, and stays there", () => {
    const chat = new Chat();
    chat.queue();
    chat.begin();
    chat.queue();
    chat.queue();
    chat.answer();
    const seen = ["message 1", "answer to message 1", "message 2", "message 3"];
    assert.deepEqual(textsOfView(applyEvents(emptyView(key), chat.stored)), seen);
    assert.deepEqual(textsOfDocument(documentOf(chat.stored)), seen);
  });

  test("a command comes before what it answers, a stop after what it stopped", () => {
    const chat = new Chat();
    chat.queue();
    chat.begin();
    chat.answer(() => chat.queue("/help"), true);
    chat.begin();
    chat.answer();
    assert.deepEqual(
      chat.said.map(({ text }) => text),
      ["message 1", "answer to message 1", "/stop 3", "/help 2", "answer to /help 2"],
    );
    check(chat);
  });

  test("a copy has the order of its source", () => {
    const chat = new Chat();
    chat.queue();
    chat.begin();
    chat.answer(() => chat.queue());
    chat.begin();
    chat.answer();
    const copied = forkLog(chat.stored, { key, seq: chat.stored.length }).map((each, index) => ({
      ...each,
      schema_version: "1.0",
      session_key: key,
      seq: index + 1,
      timestamp: new Date(index).toISOString(),
      metadata: { instance_id: "gw" },
    }));
    // The drafts are those of stored events.
    const texts = textsOfDocument(documentOf(copied as StoredEvent[]));
    assert.deepEqual(
      texts,
      chat.said.map(({ text }) => text),
    );
  });

  test("whatever is said, joined, asked, stopped, undone and killed: everybody has the order in which it was seen", (t) => {
    const steps = {
      message: (chat: Chat) => void chat.queue(),
      undo: (chat: Chat) => void chat.queue("/undo"),
      fresh: (chat: Chat) => void chat.queue("/new"),
      help: (chat: Chat) => void chat.queue("/help"),
      begin: (chat: Chat) => chat.begin(),
      step: (chat: Chat) => chat.step(),
      question: (chat: Chat) => chat.answerQuestion(),
      kill: (chat: Chat) => chat.kill(),
      besides: (chat: Chat) => {
        if (chat.turn === undefined) chat.sayBesides();
      },
      answer: (chat: Chat) => chat.answer(),
      "answer and message": (chat: Chat) => chat.answer(() => chat.queue()),
      stop: (chat: Chat) => chat.answer(() => chat.queue(), true),
    };
    const step = fc.constantFrom(...(Object.keys(steps) as (keyof typeof steps)[]));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (names) => {
        const chat = new Chat();
        for (const name of names) steps[name](chat);
        // In the middle of a turn too, except for the text that is only streamed.
        check(chat);
      }),
      fuzzOptions(t, 400),
    );
  });

  test("what is said besides while an answer grows is above it, live and after a reload", () => {
    const chat = new Chat();
    chat.queue();
    chat.begin();
    chat.answer(() => chat.sayBesides());
    const texts = ["message 1", "besides 2", "answer to message 1"];
    assert.deepEqual(textsOfView(chat.events.reduce((v, e) => applyEvents(v, [e]), emptyView(key))), texts);
    assert.deepEqual(textsOfView(applyEvents(emptyView(key), chat.stored)), texts);
  });

  test("what joins an answer is where it joined it, on the page, for the model and before the whole in the document", () => {
    const chat = new Chat();
    chat.queue();
    chat.begin();
    chat.queue();
    chat.join();
    chat.answer();
    check(chat);
  });
});
