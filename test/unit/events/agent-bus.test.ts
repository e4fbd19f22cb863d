import assert from "node:assert/strict";
import { test } from "node:test";
import { createAgentBus } from "../../../src/events/bus/agent-bus.js";
import { silentLog } from "../../../src/log.js";
import { keepLog } from "../../support/log.js";

test("the agent bus gives each input to its listeners, in order, until they are undone", () => {
  const bus = createAgentBus({ log: silentLog });
  const inputs: string[] = [];
  const undo = bus.subscribe((input) => inputs.push(input.kind));
  bus.publish({ kind: "interrupted" });
  bus.publish({ kind: "limit_reached" });
  undo();
  bus.publish({ kind: "limit_reached" });
  assert.deepEqual(inputs, ["interrupted", "limit_reached"]);
});

test("the same listener subscribed twice hears twice, and each undo undoes one of them", () => {
  const bus = createAgentBus({ log: silentLog });
  let heard = 0;
  const listener = (): void => {
    heard += 1;
  };
  const undo = bus.subscribe(listener);
  bus.subscribe(listener);
  bus.publish({ kind: "limit_reached" });
  undo();
  undo();
  bus.publish({ kind: "limit_reached" });
  assert.equal(heard, 3);
});

test("a listener that throws is logged and delays nobody; one that is undone meanwhile hears nothing more", () => {
  const log = keepLog();
  const bus = createAgentBus({ log });
  const heard: string[] = [];
  bus.subscribe(() => {
    undoLast();
    throw new Error("broken");
  });
  bus.subscribe(() => heard.push("second"));
  const undoLast = bus.subscribe(() => heard.push("last"));
  bus.publish({ kind: "limit_reached" });
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
  one.subscribe(() => (heard += 1));
  other.publish({ kind: "limit_reached" });
  assert.equal(heard, 0);
});
