import type { ChannelHarness } from "../../support/worlds/channels/channel-harness.js";
import {
  type HarnessWorld,
  type HarnessWorldOptions,
  openHarnessWorld,
} from "../../support/worlds/channels/harness-world.js";

export type OpenHarness = () => Promise<ChannelHarness>;

/** One promise of every channel to people. */
export interface ChannelPromise {
  readonly title: string;
  readonly run: (openHarness: OpenHarness) => Promise<void>;
}

/** `run` gets a gateway of its own with this channel. */
export function channelTest(
  title: string,
  options: HarnessWorldOptions,
  run: (world: HarnessWorld, harness: ChannelHarness) => Promise<void>,
): ChannelPromise {
  return harnessTest(title, async (openHarness) => {
    await using world = await openHarnessWorld(openHarness, options);
    await run(world, world.harness);
  });
}

/** `run` opens the gateway itself. */
export function harnessTest(title: string, run: ChannelPromise["run"]): ChannelPromise {
  return { title, run };
}
