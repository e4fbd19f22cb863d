import type { ChannelHarness } from "../channel-harness.js";

/** The same platform under the name of a further account, e.g. `slack-acme`. */
export async function openAsAccount(open: () => Promise<ChannelHarness>, name: string): Promise<ChannelHarness> {
  const harness = await open();
  return { ...harness, channel: name, [Symbol.asyncDispose]: () => harness[Symbol.asyncDispose]() };
}
