import type { OpenQuestions, Responder } from "../agent/questions/open-questions.js";
import type { InboundMessage } from "../bus/messages.js";
import type { ReceivedMessage } from "../channels/channel.js";
import { sessionKeyOf } from "../events/session-key.js";
import { newId } from "../util/ids.js";

/** A message of somebody who may talk, on its way to its session. */
export interface Arrival {
  /** As it will be stored, but without its files. */
  readonly message: InboundMessage;
  /** As its channel gave it. */
  readonly received: ReceivedMessage;
  readonly from: Responder;
}

/** Gives a message its id, its time and its session. What answers a sub-agent's question belongs to the session that asks. */
export function toArrival(
  received: ReceivedMessage,
  { from, receivedAt }: { readonly from: Responder; readonly receivedAt: number },
  questions: Pick<OpenQuestions, "routeOf">,
): Arrival {
  const message = toInbound(received, from.channel, receivedAt);
  const { sessionKey, content, change, outside } = message;
  if (change !== undefined || outside !== undefined) return { message, received, from };
  return { message: { ...message, sessionKey: questions.routeOf(sessionKey, content, from) }, received, from };
}

function toInbound(received: ReceivedMessage, channel: string, receivedAt: number): InboundMessage {
  const {
    chatType: _chatType,
    addressed: _addressed,
    cursor: _cursor,
    files: _files,
    quotedFiles: _quotedFiles,
    unreadable: _unreadable,
    hasFilesOfOthers: _hasFilesOfOthers,
    isLeftOut: _isLeftOut,
    ...rest
  } = received;
  return {
    ...rest,
    attachments: [],
    id: newId("msg"),
    channel,
    sessionKey: sessionKeyOf(channel, received.chatId, received.thread),
    receivedAt,
  };
}
