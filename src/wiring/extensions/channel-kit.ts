import { renderMarkdown } from "../../channels/formatting/markdown.js";
import { toPlainText } from "../../channels/formatting/plain-text.js";
import { splitMarkdown } from "../../channels/formatting/split.js";
import { Inbox } from "../../channels/intake/inbox.js";
import { Position } from "../../channels/intake/position.js";
import { callPlatform, jsonOf, statusError } from "../../channels/wire/call.js";
import { keepSocket } from "../../channels/wire/socket.js";
import { openWebhook } from "../../channels/wire/webhook.js";

/** What the built-in channels are made of, for those of extensions. */
export const channelKit = {
  Inbox,
  Position,
  callPlatform,
  jsonOf,
  keepSocket,
  openWebhook,
  renderMarkdown,
  splitMarkdown,
  statusError,
  toPlainText,
};

export type ChannelKit = Readonly<typeof channelKit>;
