import assert from "node:assert/strict";
import { test } from "node:test";
import { ProcessMetrics } from "../../../src/reactors/process-metrics.js";
import { until } from "../../support/engine/engine-kit.js";

test("the delay of the event loop is measured from the first time somebody asks", async () => {
  using metrics = new ProcessMetrics();
  await holdUp();
  assert.equal(longest(metrics), 0, "nobody has asked before");
  await until("the delay is measured", async () => {
    await holdUp();
    return longest(metrics) > 0.1;
  });
});

/** Keeps the event loop busy between two of its turns. */
async function holdUp(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 60));
  const end = performance.now() + 250;
  while (performance.now() < end);
  await new Promise((resolve) => setTimeout(resolve, 60));
}

function longest(metrics: ProcessMetrics): number {
  return Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(metrics.text())?.[1]);
}
