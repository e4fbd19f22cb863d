import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { z } from "zod";
import { eventsSchema } from "../../../scripts/events-schema.js";
import { cellsOf, eventsTable, eventTypes, partOf, payloadSchema, withPart } from "../../../scripts/events-table.js";
import { waitingTable, waitingTypes } from "../../../scripts/events-waiting.js";
import { agentStates } from "../../../src/events/catalogue/spec.js";
import { catalogue, type EventType, specOf } from "../../../src/events/catalogue.js";
import type { GatewayEvent } from "../../../src/events/event.js";
import { deltaTypes, hitlTypes, internalTypes, terminalTypes } from "../../../src/events/sets.js";
import { makeEvent } from "../../support/engine/histories/events.js";

/** What was agreed with the people who read events: layer, kept in the log, goes to. Named one by one on purpose. */
const agreed: Readonly<Record<EventType, string>> = {
  message_stream_start: "stream, no, clients",
  text_delta: "stream, no, clients and chat",
  thinking_delta: "stream, no, clients",
  tool_call_start: "stream, no, clients",
  tool_input_delta: "stream, no, clients",
  message_stream_end: "stream, no, clients",
  agent_state_changed: "state, detail, clients and chat",
  session_state_changed: "state, yes, clients",
  session_marks_changed: "state, no, clients",
  subagent_state_changed: "state, yes, clients",
  user_message_queued: "message, yes, clients",
  user_message: "message, yes, clients",
  assistant_message: "message, yes, clients and chat",
  tool_execution_start: "message, yes, clients",
  tool_execution_complete: "message, yes, clients",
  artifact_state_changed: "message, yes, clients and chat",
  turn_execution_start: "turn, yes, clients",
  turn_iteration_start: "turn, detail, clients",
  skill_matched: "turn, yes, clients",
  context_compressed: "turn, yes, clients and chat",
  doom_loop_detected: "turn, yes, clients",
  turn_execution_complete: "turn, terminal, clients",
  turn_execution_failed: "turn, terminal, clients and chat",
  turn_execution_cancelled: "turn, terminal, clients and chat",
  session_title_generated: "state, yes, clients",
  human_input_asked: "hitl, yes, clients and chat",
  human_input_answered: "hitl, yes, clients",
  gateway_state_changed: "system, yes, clients",
  connection_state_changed: "system, yes, clients",
  outbound_delivery_changed: "system, yes, clients",
  node_asked: "system, no, nobody",
  node_answered: "system, no, nobody",
  error_occurred: "system, yes, clients",
  plan_updated: "turn, yes, clients and chat",
  budget_exceeded: "system, yes, clients and chat",
  environment_state_changed: "system, yes, clients",
  session_history_changed: "state, yes, clients",
  session_log_mended: "system, yes, clients and chat",
  settings_changed: "system, yes, clients",
  schedule_run_changed: "system, yes, clients",
  context_compaction_needed: "system, no, nobody",
  llm_retry_scheduled: "system, no, nobody",
};

test("the catalogue holds the agreed types, in the agreed order, each with its layer and its readers", () => {
  const actual = eventTypes.map((type) => {
    const { layer, stored, detail, terminal, goesTo } = specOf(type);
    const kept = !stored ? "no" : detail ? "detail" : terminal ? "terminal" : "yes";
    return [type, `${layer}, ${kept}, ${goesTo}`];
  });
  assert.deepEqual(actual, Object.entries(agreed));
  assert.equal(eventTypes.length, 42);
});

test("names are snake_case, noun first, at least two parts", () => {
  for (const type of eventTypes) {
    assert.match(type, /^[a-z]+(_[a-z]+)+$/, type);
    const verbs = [
      "get",
      "set",
      "start",
      "stop",
      "add",
      "create",
      "update",
      "delete",
      "send",
      "on",
      "is",
      "has",
      "did",
    ];
    assert.ok(!verbs.includes(type.slice(0, type.indexOf("_"))), `${type} begins with a verb`);
  }
});

test("the sets of types are exactly those that clients and logs rely on", () => {
  assert.deepEqual(
    [...deltaTypes],
    [
      "message_stream_start",
      "text_delta",
      "thinking_delta",
      "tool_call_start",
      "tool_input_delta",
      "message_stream_end",
    ],
  );
  assert.deepEqual(
    [...internalTypes],
    ["node_asked", "node_answered", "context_compaction_needed", "llm_retry_scheduled"],
  );
  assert.deepEqual(
    [...terminalTypes],
    ["turn_execution_complete", "turn_execution_failed", "turn_execution_cancelled"],
  );
  assert.deepEqual([...hitlTypes], ["human_input_asked", "human_input_answered"]);
  for (const type of [...deltaTypes, ...internalTypes]) assert.equal(specOf(type).stored, false, type);
  for (const type of terminalTypes) assert.equal(specOf(type).stored, true, type);
});

test("each payload has a JSON schema of an object with snake_case fields, whose required ones are those zod requires", () => {
  for (const type of eventTypes) {
    const schema = payloadSchema(type);
    assert.equal(schema.type, "object", type);
    const fields = Object.keys(schema.properties ?? {});
    assert.deepEqual(fields, Object.keys(catalogue[type].payload.shape), type);
    for (const field of fields) assert.match(field, /^[a-z]+(_[a-z0-9]+)*$/, `${type}.${field}`);
    const optional = fields.filter((field) => !schema.required?.includes(field));
    const missing = specOf(type).payload.safeParse({});
    const complained = missing.success ? [] : missing.error.issues.map((issue) => String(issue.path[0]));
    assert.deepEqual(
      fields.filter((field) => !complained.includes(field)),
      optional,
      type,
    );
  }
});

const schemaFile = JSON.parse(readFileSync("docs/events.schema.generated.json", "utf8"));

test("the JSON schema in docs/ has one branch for each type, in the catalogue's order, made from the catalogue", () => {
  assert.deepEqual(
    schemaFile.oneOf.map((branch: { title: string; properties: { type: { const: string } } }) => [
      branch.title,
      branch.properties.type.const,
    ]),
    eventTypes.map((type) => [type, type]),
  );
  assert.deepEqual(schemaFile, JSON.parse(JSON.stringify(eventsSchema())), "run: node dist/scripts/events-docs.js");
});

test("the JSON schema takes a whole event, and none with a field too many, too few or of another kind", () => {
  const schema = z.fromJSONSchema(schemaFile);
  const event = makeEvent("user_message", { message_id: "m", content: [{ type: "text", text: "hi" }], iteration: 1 });
  const delta = { ...makeEvent("text_delta", { message_id: "m", text: "x" }), seq: null, after_seq: 3, delta_index: 0 };
  for (const good of [event, delta]) assert.ok(schema.safeParse(good).success, good.type);
  const { source: _source, ...withoutSource } = event;
  for (const bad of [
    withoutSource,
    { ...event, more: 1 },
    { ...event, seq: null },
    { ...event, seq: 0 },
    { ...event, type: "user_shouted" },
    { ...event, delta_index: 0 },
    { ...event, event_id: "evt_1" },
    { ...event, timestamp: "yesterday" },
    { ...event, payload: { ...event.payload, iteration: "one" } },
    { ...event, payload: { ...event.payload, loud: true } },
    { ...event, payload: { ...event.payload, content: [{ type: "hologram" }] } },
    { ...delta, seq: 4 },
  ])
    assert.ok(!schema.safeParse(bad).success, JSON.stringify(bad));
});

// Fails to compile when the union of all events and the table part ways.
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;
const unionIsTheTable: Same<GatewayEvent["type"], keyof typeof catalogue> = true;

test("the union of all events is the table", () => assert.ok(unionIsTheTable));

test("the agent's states are the seven that clients draw", () => {
  assert.deepEqual([...agentStates].sort(), [
    "awaiting_human",
    "awaiting_tool_result",
    "error",
    "idle",
    "planning_tool",
    "responding",
    "thinking",
  ]);
});

test("docs/events.md shows the catalogue as it is, and what of it waits", () => {
  const page = readFileSync("docs/events.md", "utf8");
  const made = cellsOf(eventsTable());
  assert.deepEqual(cellsOf(partOf(page, "table")), made, "run: node dist/scripts/events-docs.js");
  assert.equal(made.length, eventTypes.length + 1);
  assert.deepEqual(cellsOf(partOf(withPart(page, "table", eventsTable()), "table")), made);
  assert.deepEqual(cellsOf(partOf(page, "waiting")), cellsOf(waitingTable()), "run: node dist/scripts/events-docs.js");
});

test("what waits is in the catalogue, in its order", () => {
  const waiting = Object.keys(waitingTypes);
  assert.deepEqual(
    waiting,
    eventTypes.filter((type) => waiting.includes(type)),
  );
});
