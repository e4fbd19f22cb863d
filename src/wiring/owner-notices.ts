import { messageOf } from "../errors.js";
import type { GatewayEvent } from "../events/event.js";
import { channelOf, chatOf } from "../events/session-key.js";
import { derivedId } from "../util/ids.js";
import type { Assistant } from "./assistant.js";
import type { Core } from "./core.js";
import type { GatewayOptions } from "./options.js";

type Asked = Extract<GatewayEvent, { readonly type: "human_input_asked" }>;

/**
 * Tells owners, in their own direct chats, of a question in a chat of others that only they can allow. Whoever has never
 * written to the assistant cannot be written to, and finds the question on the page.
 */
export function tellOwnersOfQuestions(
  { config: { config }, log }: GatewayOptions,
  core: Core,
  { readers, channels, isOwner }: Assistant,
): () => void {
  const tell = async (owner: string, { session_key, event_id, payload }: Asked, content: string): Promise<void> => {
    const channel = channelOf(owner);
    if (!channels.has(channel) || !isOwner(channel, chatOf(owner)) || !(await core.sessions.exists(owner))) return;
    const id = derivedId("msg", payload.request_id, owner);
    // It belongs to the conversation that asks, whose log tells what was sent to whom.
    const message = {
      id: `${id}#1`,
      channel,
      chatId: chatOf(owner),
      sessionKey: session_key,
      content,
      attachments: [],
    };
    const queuedEventId = derivedId("evt", payload.request_id, owner);
    await core.messages.publishOutbound({ ...message, queuedEventId }, event_id);
  };
  return core.events.on("human_input_asked", (event) => {
    const { session_key, payload } = event;
    const { kind, approver, question, request_id } = payload;
    if (kind !== "permission" || approver === "asker") return;
    if (readers.ofSession(session_key).audience === "owner") return;
    const how = `Answer on the web page, or in the terminal: maxclaw answer ${request_id}`;
    const content = `In the chat ${session_key} I am waiting for you: ${question}\n\n${how}`;
    for (const owner of new Set(config.owners))
      void tell(owner, event, content).catch((error: unknown) => {
        log.warn(`An owner could not be told of a question: ${messageOf(error)}`, { session: session_key });
      });
  });
}
