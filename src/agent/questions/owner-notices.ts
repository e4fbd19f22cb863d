import type { MessageBus } from "../../bus/message-bus.js";
import { messageOf } from "../../errors.js";
import type { EventConsumer } from "../../events/bus/system-bus.js";
import type { GatewayEvent } from "../../events/event.js";
import { channelOf, chatOf } from "../../events/session-key.js";
import type { Logger } from "../../log.js";
import { derivedId } from "../../util/ids.js";

type Asked = Extract<GatewayEvent, { readonly type: "human_input_asked" }>;

export interface OwnerNoticePorts {
  readonly events: EventConsumer;
  readonly sessions: { exists(key: string): Promise<boolean> };
  readonly messages: Pick<MessageBus, "publishOutbound">;
  /** `channel:sender` from the config. */
  readonly owners: () => readonly string[];
  readonly isOwner: (channel: string, senderId: string) => boolean;
  /** Nobody but an owner reads along there. */
  readonly isOwnersChat: (sessionKey: string) => boolean;
  readonly channels: { has(name: string): boolean };
  readonly log: Logger;
}

/**
 * Notifies owners, in their own direct chats, of a question in a chat of others that only they can allow. Anyone who has never
 * written to the assistant cannot be written to, and finds the question on the page. Returns the undo.
 */
export function notifyOwnersOfQuestions(ports: OwnerNoticePorts): () => void {
  const { events, owners, isOwnersChat, log } = ports;
  return events.on("human_input_asked", (event) => {
    const { session_key, payload } = event;
    const { kind, approver, question, request_id } = payload;
    if (kind !== "permission" || approver === "asker") return;
    if (isOwnersChat(session_key)) return;
    const how = `Answer on the web page, or in the terminal: maxclaw answer ${request_id}`;
    const content = `In the chat ${session_key} I am waiting for you: ${question}\n\n${how}`;
    for (const owner of new Set(owners()))
      void notify(ports, owner, event, content).catch((error: unknown) => {
        log.warn(`An owner could not be notified of a question: ${messageOf(error)}`, { session: session_key });
      });
  });
}

async function notify(
  { sessions, messages, isOwner, channels }: OwnerNoticePorts,
  owner: string,
  { session_key, event_id, payload }: Asked,
  content: string,
): Promise<void> {
  const channel = channelOf(owner);
  if (!channels.has(channel) || !isOwner(channel, chatOf(owner)) || !(await sessions.exists(owner))) return;
  const id = derivedId("msg", payload.request_id, owner);
  // It belongs to the conversation that asks, whose log tells what was sent to whom.
  const message = { id: `${id}#1`, channel, chatId: chatOf(owner), sessionKey: session_key, content, attachments: [] };
  const queuedEventId = derivedId("evt", payload.request_id, owner);
  await messages.publishOutbound({ ...message, queuedEventId }, event_id);
}
