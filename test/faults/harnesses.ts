import { withoutMailServer } from "../support/fakes/mail/mail-server.js";
import { withoutProsody } from "../support/fakes/xmpp/prosody.js";
import type { ChannelHarness } from "../support/worlds/channels/channel-harness.js";
import { openDiscordHarness } from "../support/worlds/channels/discord-harness.js";
import { createEmailHarnesses } from "../support/worlds/channels/email-harness.js";
import { openFeishuHarness } from "../support/worlds/channels/feishu/feishu-harness.js";
import { openMatrixHarness } from "../support/worlds/channels/matrix/matrix-harness.js";
import { openQqHarness } from "../support/worlds/channels/qq-harness.js";
import { openSlackHarness } from "../support/worlds/channels/slack-harness.js";
import { openTelegramHarness } from "../support/worlds/channels/telegram-harness.js";
import { openWebSocketHarness } from "../support/worlds/channels/websocket-harness.js";
import { openOwnBridgeHarness } from "../support/worlds/channels/whatsapp/own-bridge-harness.js";
import { openWhatsAppBusinessHarness } from "../support/worlds/channels/whatsapp/whatsapp-business-harness.js";
import { openWhatsAppHarness } from "../support/worlds/channels/whatsapp/whatsapp-harness.js";
import { createXmppHarnesses } from "../support/worlds/channels/xmpp/xmpp-harness.js";

const email = createEmailHarnesses();
const xmpp = createXmppHarnesses();

async function openEmailHarness(): Promise<ChannelHarness> {
  return await email.open();
}

async function openXmppHarness(): Promise<ChannelHarness> {
  return await xmpp.open();
}

/** The channels of the fault table, in its order. */
export const harnesses: readonly (() => Promise<ChannelHarness>)[] = [
  openTelegramHarness,
  openDiscordHarness,
  openSlackHarness,
  openMatrixHarness,
  openWebSocketHarness,
  openEmailHarness,
  openFeishuHarness,
  openQqHarness,
  openOwnBridgeHarness,
  openWhatsAppHarness,
  openWhatsAppBusinessHarness,
  openXmppHarness,
];

/** For a test's `skip`: why one of them cannot run on this machine. */
export function missingFor(openHarness: () => Promise<ChannelHarness>): string | false {
  if (openHarness === openXmppHarness) return withoutProsody();
  return openHarness === openEmailHarness && withoutMailServer();
}

/** Ends the servers that harnesses share. */
export async function closeHarnesses(): Promise<void> {
  await email[Symbol.asyncDispose]();
  await xmpp[Symbol.asyncDispose]();
}
