import type { ChannelHarness } from "../support/channel-harness.js";
import { openDiscordHarness } from "../support/discord-harness.js";
import { createEmailHarnesses } from "../support/email-harness.js";
import { withoutMailServer } from "../support/mail-server.js";
import { openTelegramHarness } from "../support/telegram-harness.js";
import { openWebSocketHarness } from "../support/websocket-harness.js";

const email = createEmailHarnesses();

async function openEmailHarness(): Promise<ChannelHarness> {
  return await email.open();
}

/** The channels of the fault table, in its order. */
export const harnesses: readonly (() => Promise<ChannelHarness>)[] = [
  openTelegramHarness,
  openDiscordHarness,
  openWebSocketHarness,
  openEmailHarness,
];

/** For a test's `skip`: why one of them cannot run on this machine. */
export function missingFor(openHarness: () => Promise<ChannelHarness>): string | false {
  return openHarness === openEmailHarness && withoutMailServer();
}

/** Ends the servers that harnesses share. */
export async function closeHarnesses(): Promise<void> {
  await email[Symbol.asyncDispose]();
}
