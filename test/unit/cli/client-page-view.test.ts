import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EventType, Payload } from "../../../src/events/catalogue.js";
import { catalogue } from "../../../src/events/catalogue.js";
import { noUsage } from "../../../src/events/content.js";
import type { GatewayEvent } from "../../../src/events/event.js";
import { parseSessionList } from "../../../src/web/panes/chats/session-list.js";
import { hashOf, newSessionKey, sessionKeyFromHash } from "../../../src/web/session/session-key.js";
import { applyEvents } from "../../../src/web/session/view-model.js";
import { emptyView, type Item, isWorking, type ViewState } from "../../../src/web/session/view-state.js";
import { assertSoon } from "../../support/cost.js";

const key = "webui:0000beef";

/** Numbers events as the gateway does: stored ones get the next seq, the others none. */
function story(): {
  readonly events: GatewayEvent[];
  tell<T extends EventType>(type: T, payload: Payload<T>, turn?: string): void;
} {
  const events: GatewayEvent[] = [];
  let seq = 0;
  return {
    events,
    tell(type, payload, turn) {
      const isStored = catalogue[type].stored;
      if (isStored) seq += 1;
      // The union is distributive over the type, which the generic argument hides.
      events.push({
        schema_version: "1.0",
        event_id: `evt_${events.length}`,
        type,
        session_key: key,
        seq: isStored ? seq : null,
        timestamp: "2026-01-01T00:00:00.000Z",
        source: "agent",
        ...(turn === undefined ? {} : { turn_id: turn }),
        payload,
        metadata: { instance_id: "gw_test" },
      } as unknown as GatewayEvent);
    },
  };
}

const text = (value: string): { readonly type: "text"; readonly text: string }[] => [{ type: "text", text: value }];
const sender = { channel: "webui", chat_id: "0000beef", sender_id: "owner", mode: "next" as const, position: 0 };
const call = { tool_call_id: "call_1", tool_name: "list_dir" };

/** One whole turn with thinking and a tool call, streamed and stored, as the gateway tells it. */
function toolTurn({ tell }: ReturnType<typeof story>, turn: string): void {
  const [question, first, second] = [`${turn}_q`, `${turn}_a`, `${turn}_b`];
  const answer = { model: "m", usage: noUsage, partial: false };
  tell("user_message_queued", { message_id: question, content: text("Look around"), ...sender });
  tell("turn_execution_start", { message_ids: [question], queued_ms: 0, attempt: 1 }, turn);
  tell("user_message", { message_id: question, content: text("Look around"), iteration: 1 }, turn);
  tell("agent_state_changed", { from: "idle", to: "thinking", cause: "message" }, turn);
  tell("message_stream_start", { message_id: first, model: "m", iteration: 1 }, turn);
  tell("thinking_delta", { message_id: first, text: "Hm, " }, turn);
  tell("thinking_delta", { message_id: first, text: "a folder." }, turn);
  tell("tool_call_start", { message_id: first, ...call }, turn);
  tell("tool_input_delta", { tool_call_id: "call_1", partial_json: '{"path":' }, turn);
  tell("tool_input_delta", { tool_call_id: "call_1", partial_json: '"."}' }, turn);
  tell("message_stream_end", { message_id: first, stop_reason: "tool_use", usage: noUsage }, turn);
  const uses = { type: "tool_use" as const, id: "call_1", name: "list_dir", input: { path: "." } };
  const content = [{ type: "thinking" as const, text: "Hm, a folder." }, uses];
  tell(
    "assistant_message",
    { message_id: first, content, iteration: 1, stop_reason: "tool_use", final: false, ...answer },
    turn,
  );
  const execution = { tool_execution_id: `${turn}_x`, ...call };
  tell("tool_execution_start", { ...execution, input: { path: "." }, iteration: 1, origin: "builtin" }, turn);
  const result = { output: "a.txt", is_error: false, duration_ms: 12, summary: "1 entry" };
  tell("tool_execution_complete", { ...execution, ...result }, turn);
  tell("message_stream_start", { message_id: second, model: "m", iteration: 2 }, turn);
  tell("text_delta", { message_id: second, text: "One " }, turn);
  tell("text_delta", { message_id: second, text: "file." }, turn);
  tell("message_stream_end", { message_id: second, stop_reason: "end_turn", usage: noUsage }, turn);
  const final = { content: text("One file."), iteration: 2, stop_reason: "end_turn" as const, final: true };
  tell("assistant_message", { message_id: second, ...final, ...answer }, turn);
  tell("agent_state_changed", { from: "responding", to: "idle", cause: "end_turn" }, turn);
  const end = { message_ids: [question], message_id: second, stop_reason: "end_turn" as const, iterations: 2 };
  tell("turn_execution_complete", { ...end, usage: noUsage, duration_ms: 9, tool_calls: [], errors: [] }, turn);
}

const view = (events: readonly GatewayEvent[]): ViewState => applyEvents(emptyView(key), events);
const lines = (state: ViewState): string[] => state.items.map(lineOf);

function lineOf(item: Item): string {
  if (item.kind === "tool") return `tool ${item.name} ${item.status}`;
  if (item.kind === "plan") return `plan ${item.goal} ${item.steps.map((step) => step.status).join(",")}`;
  if (item.kind === "file") return `file ${item.filename} ${item.status} ${item.size}`;
  return `${item.kind} ${item.text}`;
}

describe("the page's view of a session", () => {
  it("shows a turn as question, thinking, tool line and answer", () => {
    const { events, ...teller } = story();
    toolTurn({ events, ...teller }, "t1");
    const state = view(events);
    assert.deepEqual(lines(state), ["user Look around", "assistant ", "tool list_dir done", "assistant One file."]);
    const [, thought, tool] = state.items;
    assert.equal(thought?.kind === "assistant" && thought.thinking, "Hm, a folder.");
    assert.ok(tool?.kind === "tool");
    assert.deepEqual(
      [tool.input, tool.output, tool.summary, tool.durationMs],
      ['{\n  "path": "."\n}', "a.txt", "1 entry", 12],
    );
    assert.equal(isWorking(state), false);
  });

  it("looks the same live, replayed from the log, and one event at a time", () => {
    const told = story();
    for (const turn of ["t1", "t2", "t3"]) toolTurn(told, turn);
    const live = view(told.events);
    const stored = view(told.events.filter(({ seq }) => seq !== null));
    const single = told.events.reduce((state, event) => applyEvents(state, [event]), emptyView(key));
    assert.deepEqual(stored, live);
    assert.deepEqual(single, live);
    assert.equal(
      live.items.filter((item) => item.kind === "tool").length,
      3,
      "the same call id in another turn is another line",
    );
  });

  it("changes nothing in place", () => {
    const told = story();
    toolTurn(told, "t1");
    const freeze = (state: ViewState): ViewState => {
      for (const item of state.items) Object.freeze(item);
      Object.freeze(state.items);
      return Object.freeze(state);
    };
    told.events.reduce((state, event) => freeze(applyEvents(state, [event])), freeze(emptyView(key)));
  });

  it("passes over events that it has seen", () => {
    const told = story();
    toolTurn(told, "t1");
    const stored = told.events.filter(({ seq }) => seq !== null);
    const state = view(stored);
    assert.deepEqual(applyEvents(state, stored.slice(3)), state);
  });

  it("shows text, tool and state while they happen", () => {
    const told = story();
    toolTurn(told, "t1");
    const until = (type: EventType, count = 1): ViewState => {
      const places = told.events.flatMap((event, index) => (event.type === type ? [index] : []));
      return view(told.events.slice(0, (places[count - 1] ?? 0) + 1));
    };
    assert.equal(until("agent_state_changed").agentState, "thinking");
    assert.equal(isWorking(until("turn_execution_start")), true);
    assert.equal(lines(until("tool_call_start")).at(-1), "tool list_dir preparing");
    const preparing = until("tool_input_delta").items.at(-1);
    assert.equal(preparing?.kind === "tool" && preparing.input, '{"path":');
    assert.equal(lines(until("tool_execution_start")).at(-1), "tool list_dir running");
    const writing = until("text_delta").items.at(-1);
    assert.deepEqual(writing?.kind === "assistant" && [writing.text, writing.isStreaming], ["One ", true]);
  });

  it("starts a streamed text over when the stream of the same message starts again", () => {
    const { events, tell } = story();
    tell("turn_execution_start", { message_ids: ["q"], queued_ms: 0, attempt: 1 }, "t1");
    for (const pieces of [
      ["Hel", "lo"],
      ["Hello w", "orld"],
    ]) {
      tell("message_stream_start", { message_id: "a", model: "m", iteration: 1 }, "t1");
      for (const piece of pieces) tell("text_delta", { message_id: "a", text: piece }, "t1");
      tell("tool_call_start", { message_id: "a", ...call }, "t1");
      tell("tool_input_delta", { tool_call_id: "call_1", partial_json: "{}" }, "t1");
    }
    const state = view(events);
    assert.deepEqual(lines(state), ["assistant Hello world", "tool list_dir preparing"]);
    const tool = state.items[1];
    assert.equal(tool?.kind === "tool" && tool.input, "{}");
  });

  it("takes an abandoned answer away: after an error of the model, a restart, or the end of the turn", () => {
    const endings: readonly ((told: ReturnType<typeof story>) => void)[] = [
      ({ tell }) => tell("message_stream_end", { message_id: "a", stop_reason: "error", usage: noUsage }, "t1"),
      ({ tell }) => tell("turn_execution_start", { message_ids: ["q"], queued_ms: 0, attempt: 2 }, "t1"),
      ({ tell }) => tell("agent_state_changed", { from: "responding", to: "idle", cause: "restart" }, "t1"),
    ];
    for (const end of endings) {
      const told = story();
      told.tell("turn_execution_start", { message_ids: ["q"], queued_ms: 0, attempt: 1 }, "t1");
      told.tell("message_stream_start", { message_id: "a", model: "m", iteration: 1 }, "t1");
      told.tell("text_delta", { message_id: "a", text: "half a tho" }, "t1");
      assert.equal(view(told.events).items.length, 1);
      end(told);
      assert.deepEqual(view(told.events).items, []);
    }
  });

  it("ends a cancelled turn with its partial text, its open tool line and one notice", () => {
    const { events, tell } = story();
    tell("turn_execution_start", { message_ids: ["q"], queued_ms: 0, attempt: 1 }, "t1");
    const answer = { model: "m", iteration: 1, usage: noUsage, stop_reason: "interrupted" as const };
    tell("assistant_message", { message_id: "a", content: text("half"), ...answer, final: false, partial: true }, "t1");
    tell("tool_execution_start", { tool_execution_id: "x", ...call, input: {}, iteration: 1, origin: "builtin" }, "t1");
    tell("turn_execution_cancelled", { message_ids: ["q"], reason: "user_interrupt", mode: "cancel" }, "t1");
    const state = view(events);
    assert.deepEqual(lines(state), ["assistant half", "tool list_dir unknown", "notice Stopped."]);
    assert.equal(isWorking(state), false);
  });

  it("has a clear line for each kind of trouble", () => {
    const { events, tell } = story();
    const failure = { code: "AUTH_FAILED", category: "driver" as const, recoverable: false };
    const end = { usage: noUsage, duration_ms: 1 };
    tell("turn_execution_failed", { message_ids: [], ...failure, message: "The key was refused.", ...end }, "t1");
    const complete = { message_ids: [], message_id: "", iterations: 20, tool_calls: [], errors: [], ...end };
    tell("turn_execution_complete", { ...complete, stop_reason: "max_iterations" }, "t2");
    tell("budget_exceeded", { scope: "day", limit: 2, used: 2.5, unit: "usd" });
    tell("error_occurred", { ...failure, message: "No connection.", scope: "provider" });
    const asked = { request_id: "r", kind: "permission" as const, timeout_seconds: 300, expires_at: "" };
    const options = [
      { id: "y", label: "Yes" },
      { id: "n", label: "No" },
    ];
    tell("human_input_asked", {
      ...asked,
      question: "Run it?",
      input: { command: "ls" },
      options,
      allow_custom: false,
    });
    assert.deepEqual(lines(view(events)), [
      "notice The key was refused.",
      "notice Stopped after 20 steps, the limit for one answer.",
      "notice The limit of $2.00 per day is reached ($2.50 used).",
      "notice No connection.",
      "notice Run it?",
    ]);
  });

  it("holds the question that waits, with what would run, until it is answered or its turn is over", () => {
    const { events, tell } = story();
    const asked = {
      request_id: "ask_1",
      kind: "permission" as const,
      question: "Run it?",
      input: { command: "ls", env: { A: "1" } },
      options: [{ id: "deny", label: "Deny", recommended: true }],
      allow_custom: false,
      timeout_seconds: 300,
      expires_at: "2026-01-01T00:05:00.000Z",
    };
    tell("human_input_asked", asked, "t1");
    assert.deepEqual(view(events).question, {
      requestId: "ask_1",
      kind: "permission",
      question: "Run it?",
      input: [
        { name: "command", value: "ls" },
        { name: "env", value: '{\n  "A": "1"\n}' },
      ],
      options: [{ id: "deny", label: "Deny", description: undefined, isRecommended: true }],
      allowCustom: false,
      fields: [],
      expiresAt: "2026-01-01T00:05:00.000Z",
    });
    const other = { request_id: "ask_0", kind: "permission" as const, outcome: "timeout" as const, responder_id: "" };
    tell("human_input_answered", { ...other, answer: "Deny" }, "t1");
    assert.notEqual(view(events).question, undefined, "another one was answered");
    tell("human_input_answered", { ...other, request_id: "ask_1", answer: "Deny" }, "t1");
    assert.equal(view(events).question, undefined);
    tell("human_input_asked", { ...asked, request_id: "ask_2" }, "t2");
    tell("turn_execution_cancelled", { message_ids: [], reason: "user_interrupt", mode: "stop" }, "t2");
    assert.equal(view(events).question, undefined);
    assert.ok(lines(view(events)).includes("notice Nobody answered in time: Deny"));
  });

  it("updates what goes on in its one line: sub-tasks, files, plans", () => {
    const { events, tell } = story();
    const task = { task_id: "1", label: "search", child_session_key: "x:y" };
    tell("subagent_state_changed", { ...task, from: "none", to: "pending" });
    tell("subagent_state_changed", { ...task, from: "pending", to: "completed", summary: "found" });
    const file = { artifact_id: "f", filename: "a.pdf", mime_type: "application/pdf", source_tool: "write_file" };
    tell("artifact_state_changed", { ...file, status: "created" });
    tell("artifact_state_changed", { ...file, status: "ready", size_bytes: 12_000 });
    for (const status of ["pending", "completed"] as const) {
      const plan = { goal: "Move", status: "running" as const, steps: [{ id: "1", description: "Pack", status }] };
      tell("plan_updated", { plan, change: "revised" }, "t1");
    }
    const expected = ["notice Sub-task “search”: completed", "file a.pdf ready 12 kB", "plan Move completed"];
    assert.deepEqual(lines(view(events)), expected);
  });

  it("shows an unknown type, and a known one of another shape, as its bare name", () => {
    const told = story();
    toolTurn(told, "t1");
    const sound = view(told.events).items.length;
    const odd = [
      { type: "new_event_type", payload: { anything: [] } },
      { type: "assistant_message", payload: {} },
      { type: "user_message_queued", payload: { content: "text" } },
      { type: "toString", payload: {} },
    ];
    const events = odd.map((event, index) => ({ ...told.events[0], ...event, event_id: `odd_${index}`, seq: null }));
    const state = applyEvents(view(told.events), events as unknown as GatewayEvent[]);
    assert.deepEqual(
      lines(state).slice(sound),
      odd.map(({ type }) => `notice ${type}`),
    );
  });

  it("follows the history: undo, a new conversation, imported messages", () => {
    const told = story();
    toolTurn(told, "t1");
    const end = view(told.events).lastSequence;
    toolTurn(told, "t2");
    told.tell("session_history_changed", { kind: "undo", to_seq: end });
    told.tell("session_history_changed", { kind: "new" });
    const messages = [
      { role: "user", content: "Old question" },
      { role: "assistant", content: "Old answer" },
      { role: "error", content: "Old trouble" },
    ];
    told.tell("session_history_changed", { kind: "import", messages });
    const shown = lines(view(told.events));
    assert.equal(shown.filter((line) => line.startsWith("tool")).length, 1);
    assert.deepEqual(shown.slice(-5), [
      "divider Undone",
      "divider New conversation",
      "user Old question",
      "assistant Old answer",
      "notice Old trouble",
    ]);
  });

  it("stays fast with a long history", () => {
    const told = story();
    for (let turn = 0; turn < 1000; turn += 1) toolTurn(told, `t${turn}`);
    assertSoon(() => assert.equal(view(told.events).items.length, 4000), 1500);
  });
});

describe("the page's addresses and list", () => {
  it("takes a session key from the hash and nothing that is none", () => {
    const fresh = newSessionKey();
    assert.match(fresh, /^webui:[0-9a-f]{8}$/);
    for (const known of [fresh, "telegram:42:7", "webui:a b/ü?#"])
      assert.equal(sessionKeyFromHash(hashOf(known)), known);
    for (const wrong of ["", "#", "#nothing", "#system:local", "#%zz"]) {
      assert.equal(sessionKeyFromHash(wrong), undefined, wrong);
    }
  });

  it("reads the list of chats newest first and leaves out what is not a chat", () => {
    const sessions = [
      { key: "webui:1", lastMessage: "**Bold** `x`\n| y", lastMessageAt: "2026-01-01T00:00:00.000Z" },
      { key: "telegram:2", title: "Trip", lastMessageAt: "2026-01-02T00:00:00.000Z", summary: "First" },
      { title: "no key" },
      null,
    ];
    const { entries, total } = parseSessionList({ sessions, total: 9 });
    assert.deepEqual(
      entries.map(({ key: entry, channel, title, text: known }) => [entry, channel, title, known]),
      [
        ["telegram:2", "telegram", "Trip", "First"],
        ["webui:1", "webui", "", "Bold x y"],
      ],
    );
    assert.equal(total, 9);
    assert.deepEqual(parseSessionList("nonsense"), { entries: [], total: 0 });
  });
});
