import { textOf } from "./content.js";
import type { EventOf } from "./event.js";
import { channelOf, clientChannels, placeOf } from "./session-key.js";

/** What the event of an accepted message tells about the message itself; who its sender was to us then is not in it. */
export function messageIn(sessionKey: string, { payload, timestamp }: EventOf<"user_message_queued">) {
  return {
    id: payload.message_id,
    channel: payload.channel,
    chatId: payload.chat_id,
    thread: payload.thread,
    senderId: payload.sender_id,
    senderName: payload.sender_name,
    sessionKey,
    content: textOf(payload.content),
    attachments: payload.content.flatMap((part) =>
      part.type === "file"
        ? [{ path: part.path, filename: part.filename, mimeType: part.mime_type, sizeBytes: part.size_bytes ?? 0 }]
        : [],
    ),
    platformMessageId: payload.platform_message_id,
    quoted: payload.quoted,
    change: payload.change,
    // The copy of a chat has no chat on a platform: its answers are read on the page.
    answersTo:
      payload.answers_to_chat === true && !clientChannels.has(channelOf(sessionKey)) ? placeOf(sessionKey) : undefined,
    retry: payload.retry_of === undefined ? undefined : { of: payload.retry_of, by: payload.retry_by ?? "person" },
    receivedAt: Date.parse(timestamp),
  };
}
