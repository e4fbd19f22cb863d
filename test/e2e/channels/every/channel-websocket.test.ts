import assert from "node:assert/strict";
import { test } from "node:test";
import { testChannelEndToEnd } from "../../../contracts/channel-end-to-end.js";
import { until } from "../../../support/engine/engine-kit.js";
import { openHarnessWorld } from "../../../support/worlds/channels/harness-world.js";
import { openWebSocketHarness } from "../../../support/worlds/channels/websocket-harness.js";
import { startProgram } from "../../../support/worlds/channels/websocket-program.js";

testChannelEndToEnd("websocket", openWebSocketHarness);

test("a message that a program sends again, also after a restart, is taken once and confirmed each time", async () => {
  await using world = await openHarnessWorld(openWebSocketHarness);
  const { port, token } = world.harness.config;
  await using program = startProgram(`ws://127.0.0.1:${String(port)}/ws?chatId=shop&token=${String(token)}`);
  const send = () => program.write({ type: "message", id: "order-1", content: "one box" });
  const confirmed = (count: number) =>
    until(
      `${count} are confirmed`,
      () => program.raw.filter(({ type }) => type === "accepted").length === count,
      10_000,
    );
  send();
  await confirmed(1);
  send();
  await confirmed(2);
  await until("it is answered", () => program.frames.some(({ content }) => content === "You said: one box"), 10_000);
  await world.restart();
  send();
  await confirmed(3);
  await world.quiet();
  assert.equal((await world.gateway.gateway.api.ledger()).length, 1);
  assert.equal(world.model.requests.length, 1);
});
