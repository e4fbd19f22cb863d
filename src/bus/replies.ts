import type { Work } from "../engine/engine.js";
import { clientChannels } from "../events/session-key.js";
import { newId } from "../util/ids.js";
import { outboundWork } from "./message-bus.js";
import type { InboundMessage } from "./messages.js";

/** Several people may write in this message's chat. */
export function isGroup(message: InboundMessage): boolean {
  return !clientChannels.has(message.channel) && message.chatId !== message.senderId;
}

/**
 * The platform messages that show `content` in the chat of `message`, in order. None for the web page and the terminal:
 * people there read the session's events themselves. In a group the first one answers the message. A channel that is
 * off at the moment gets its reply when it is back.
 */
export function repliesOf(
  channel: { split(content: string): readonly string[] } | undefined,
  message: InboundMessage,
  replyId: string,
  content: string,
  turnId: string,
): readonly Work<"outbound">[] {
  if (clientChannels.has(message.channel) || message.internal === true) return [];
  return (channel?.split(content) ?? [content]).map((piece, index) =>
    outboundWork({
      id: `${replyId}#${index + 1}`,
      channel: message.channel,
      chatId: message.chatId,
      thread: message.thread,
      sessionKey: message.sessionKey,
      replyTo: isGroup(message) && index === 0 ? message.platformMessageId : undefined,
      content: piece,
      attachments: [],
      turnId,
      correlationId: message.id,
      queuedEventId: newId("evt"),
    }),
  );
}
