import assert from "node:assert/strict";
import { test } from "node:test";
import { createAgentBus } from "../../../src/events/agent-bus.js";
import { silentLog } from "../../../src/log.js";
import { keepLog } from "../../support/log.js";

test("the agent bus gives each topic's values to its own listeners, in order, until they are undone", () => {
  const bus = createAgentBus({ log: silentLog });
  const inputs: string[] = [];
  const outputs: number[] = [];
  const undo = bus.subscribe("input", (input) => inputs.push(input.kind));
  bus.subscribe("outputs", (value) => outputs.push(value.outputs.stream.length));
  bus.publish("input", { kind: "interrupted" });
  bus.publish("outputs", { input: { kind: "interrupted" }, outputs: { stream: [], stored: [] } });
  bus.publish("input", { kind: "limit_reached" });
  undo();
  bus.publish("input", { kind: "limit_reached" });
  assert.deepEqual(inputs, ["interrupted", "limit_reached"]);
  assert.deepEqual(outputs, [0]);
});

test("the same listener subscribed twice hears twice, and each undo undoes one of them", () => {
  const bus = createAgentBus({ log: silentLog });
  let heard = 0;
  const listener = (): void => {
    heard += 1;
  };
  const undo = bus.subscribe("input", listener);
  bus.subscribe("input", listener);
  bus.publish("input", { kind: "limit_reached" });
  undo();
  undo();
  bus.publish("input", { kind: "limit_reached" });
  assert.equal(heard, 3);
});

test("a listener that throws is logged and delays nobody; one that is undone meanwhile hears nothing more", () => {
  const log = keepLog();
  const bus = createAgentBus({ log });
  const heard: string[] = [];
  bus.subscribe("input", () => {
    undoLast();
    throw new Error("broken");
  });
  bus.subscribe("input", () => heard.push("second"));
  const undoLast = bus.subscribe("input", () => heard.push("last"));
  bus.publish("input", { kind: "limit_reached" });
  assert.deepEqual(heard, ["second"]);
  assert.deepEqual(
    log.lines.map(({ level, fields }) => [level, String(fields.error)]),
    [["error", "Error: broken"]],
  );
});

test("two agents' buses know nothing of each other", () => {
  const one = createAgentBus({ log: silentLog });
  const other = createAgentBus({ log: silentLog });
  let heard = 0;
  one.subscribe("input", () => (heard += 1));
  other.publish("input", { kind: "limit_reached" });
  assert.equal(heard, 0);
});
