import assert from "node:assert/strict";
import { ChannelError } from "../../../src/errors.js";
import { until } from "../../support/engine/engine-kit.js";
import { recordPublish, startChannel, textsOf } from "../../support/worlds/channels/channel-kit.js";
import { type ChannelTest, channelTest, limitMs } from "./far-side.js";

/** How a run ends. */
export const endingTests: readonly ChannelTest[] = [
  channelTest("ends soon after an abort, also before it is connected", async (far) => {
    const gateway = recordPublish();
    const early = startChannel(far.open(), gateway.publish);
    await early.stop();
    assert.equal(await early.ended, undefined);
    const running = startChannel(far.open(), gateway.publish);
    await until("it is connected", () => running.connections() >= 1, limitMs);
    const began = Date.now();
    await running.stop();
    assert.ok(Date.now() - began < 5000);
    assert.equal(await running.ended, undefined);
  }),
  channelTest(
    "a lost connection ends the run with an error that says to try again, and nothing is lost by it",
    async (far) => {
      const [chat] = far.chats;
      const gateway = recordPublish();
      const channel = far.open();
      await using first = startChannel(channel, gateway.publish);
      await until("it is connected", () => first.connections() >= 1, limitMs);
      far.loseConnection();
      const lost = await first.ended;
      assert.ok(lost instanceof ChannelError && lost.retryable);
      far.write(chat, "meanwhile");
      await using _second = startChannel(channel, gateway.publish);
      await until("the message came", () => gateway.messages.length > 0, limitMs);
      assert.deepEqual(gateway.texts(), ["meanwhile"]);
    },
  ),
  channelTest("a wrong secret ends the run with an error that trying again cannot cure", async (far) => {
    await using running = startChannel(far.openWithWrongSecret(), recordPublish().publish);
    const failure = await running.ended;
    assert.ok(failure instanceof ChannelError && !failure.retryable);
    assert.equal(running.connections(), 0);
    for (const secret of far.secrets) assert.ok(!textsOf(failure).includes(secret));
  }),
];
