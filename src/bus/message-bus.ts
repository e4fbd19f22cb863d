import type { Acceptance, ConsumeOptions, Cursor, Engine, Handler, Work } from "../engine/engine.js";
import { EngineError } from "../errors.js";
import type { ContentPart } from "../events/content.js";
import { draft, type EventDraft } from "../events/event.js";
import type { InboundMessage, OutboundMessage } from "./messages.js";

/** The typed, bounded front of the engine: what channels and the agent exchange. */
export interface MessageBus {
  /**
   * Resolves once the message is durable. Waits while the bus is full, 10 s at most. `isUrgent`: it must act at once, and
   * is taken where its chat has no room for other messages.
   *
   * @throws {EngineError} `buffer_full`, `lane_full`, `persistence`, or `closed` after {@link close}
   */
  publishInbound(
    message: InboundMessage,
    options?: { readonly cursor?: Cursor | undefined; readonly isUrgent?: boolean },
  ): Promise<Acceptance>;
  /**
   * Resolves once it is durable that this message is never taken, should its platform give it again. False: it was taken
   * or refused before.
   *
   * @throws {EngineError}
   */
  refuseInbound(message: InboundMessage, cursor?: Cursor): Promise<boolean>;
  consumeInbound(options: ConsumeOptions, handler: Handler<"inbound">, signal: AbortSignal): Promise<void>;
  /** For messages outside any turn; a turn's replies are part of its commit. `causedBy`: id of the event that it follows from. */
  publishOutbound(message: OutboundMessage, causedBy?: string): Promise<Acceptance>;
  consumeOutbound(options: ConsumeOptions, handler: Handler<"outbound">, signal: AbortSignal): Promise<void>;
  /** From now on publishing fails by name; what is queued drains. */
  close(): void;
}

export function createMessageBus(engine: Pick<Engine, "accept" | "refuse" | "consume">): MessageBus {
  const state = { closed: false };
  const assertOpen = (): void => {
    if (state.closed) throw new EngineError("The message bus is closed: the gateway is stopping", { kind: "closed" });
  };
  return {
    async publishInbound(message, { cursor, isUrgent = false } = {}) {
      assertOpen();
      return await engine.accept(inboundWork(message), {
        events: (ahead) => [queuedEvent(message, ahead)],
        isUrgent,
        ...(cursor === undefined ? {} : { cursor }),
      });
    },
    async refuseInbound(message, cursor) {
      assertOpen();
      // Only that it was there has to be remembered.
      return await engine.refuse(inboundWork({ ...message, content: "", attachments: [] }), cursor);
    },
    consumeInbound: (options, handler, signal) => engine.consume("inbound", options, handler, signal),
    async publishOutbound(message, causedBy) {
      assertOpen();
      return await engine.accept(outboundWork(message), { events: [outboundQueued(message, causedBy)] });
    },
    consumeOutbound: (options, handler, signal) => engine.consume("outbound", options, handler, signal),
    close() {
      state.closed = true;
    },
  };
}

/** An inbound message as a piece of work: its lane is its session. */
export function inboundWork(message: InboundMessage): Work<"inbound"> {
  const { id, sessionKey, dedupId } = message;
  return { queue: "inbound", id, key: sessionKey, sessionKey, dedupId, body: message };
}

/** An outbound message as a piece of work: its lane is the chat it goes to. */
export function outboundWork(message: OutboundMessage): {
  readonly queue: "outbound";
  readonly id: string;
  readonly key: string;
  readonly sessionKey: string;
  readonly body: OutboundMessage;
} {
  return {
    queue: "outbound",
    id: message.id,
    key: `${message.channel}:${message.chatId}`,
    sessionKey: message.sessionKey,
    body: message,
  };
}

/** The event that a commit writes besides each outbound message it emits. */
export function outboundQueued(message: OutboundMessage, causationId: string | undefined): EventDraft {
  const queued = draft(
    "outbound_delivery_changed",
    {
      outbound_id: message.id,
      channel: message.channel,
      chat_id: message.chatId,
      status: "queued",
      attempt: 0,
      content: message.content,
    },
    {
      source: message.turnId === undefined ? "gateway" : "agent",
      ...(message.turnId === undefined ? {} : { turn_id: message.turnId }),
      ...(message.correlationId === undefined ? {} : { correlation_id: message.correlationId }),
      ...(causationId === undefined ? {} : { causation_id: causationId }),
    },
  );
  return message.queuedEventId === undefined ? queued : { ...queued, event_id: message.queuedEventId };
}

/** The event that tells about an accepted message, `position` others waiting before it. */
export function queuedEvent(message: InboundMessage, position: number): EventDraft {
  const content: ContentPart[] = message.content === "" ? [] : [{ type: "text", text: message.content }];
  for (const file of message.attachments)
    content.push({
      type: "file",
      path: file.path,
      filename: file.filename,
      mime_type: file.mimeType,
      size_bytes: file.sizeBytes,
    });
  return draft(
    "user_message_queued",
    {
      message_id: message.id,
      ...(message.platformMessageId === undefined ? {} : { platform_message_id: message.platformMessageId }),
      channel: message.channel,
      chat_id: message.chatId,
      ...(message.thread === undefined ? {} : { thread: message.thread }),
      sender_id: message.senderId,
      ...(message.senderName === undefined ? {} : { sender_name: message.senderName }),
      content,
      ...(message.quoted === undefined ? {} : { quoted: message.quoted }),
      ...(message.change === undefined ? {} : { change: message.change }),
      mode: message.mode ?? "next",
      position,
      ...(message.resultOf === undefined ? {} : { result_of: message.resultOf }),
      ...(message.answersTo === undefined ? {} : { answers_to_chat: true }),
      ...(message.retry === undefined ? {} : { retry_of: message.retry.of, retry_by: message.retry.by }),
    },
    { source: `channel:${message.channel}`, correlation_id: message.id },
  );
}
