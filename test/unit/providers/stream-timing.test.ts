import assert from "node:assert/strict";
import { test } from "node:test";
import { type StreamTiming, watchStreamTiming } from "../../../src/agent/model/stream-timing.js";
import { createAgentBus } from "../../../src/events/bus/agent-bus.js";
import { noUsage } from "../../../src/events/content.js";
import { keepLog } from "../../support/log.js";

test("the debug log tells the time to the first piece and to the end of each model call", () => {
  const log = keepLog();
  const bus = createAgentBus({ log });
  let clock = 100;
  const timings: StreamTiming[] = [];
  const undo = watchStreamTiming(
    bus,
    log,
    (timing) => timings.push(timing),
    () => clock,
  );
  const play = (at: number, kind: "start" | "text" | "end"): void => {
    clock = at;
    if (kind === "start") bus.publish({ kind: "stream_started", messageId: "msg_1", model: "m", iteration: 1 });
    else if (kind === "text") bus.publish({ kind: "chunk", chunk: { kind: "text", text: "a" } });
    else bus.publish({ kind: "chunk", chunk: { kind: "end", stopReason: "end_turn", usage: noUsage } });
  };
  play(100, "start");
  play(130, "text");
  play(190, "text");
  play(250, "end");
  undo();
  play(300, "start");
  play(310, "end");
  assert.deepEqual(
    log.lines.map(({ level, fields }) => [level, fields]),
    [["debug", { message: "msg_1", firstMs: 30, totalMs: 150, outputTokens: 0 }]],
  );
  assert.deepEqual(timings, [{ model: "m", firstMs: 30, totalMs: 150 }]);
});
