import type { ChannelHarness } from "../support/channel-harness.js";
import { openDiscordHarness } from "../support/discord-harness.js";
import { openTelegramHarness } from "../support/telegram-harness.js";
import { openWebSocketHarness } from "../support/websocket-harness.js";

/** The channels of the fault table, in its order. */
export const harnesses: readonly (() => Promise<ChannelHarness>)[] = [
  openTelegramHarness,
  openDiscordHarness,
  openWebSocketHarness,
];
