import type { EventsApi } from "../../../../../src/api/messages/events-api.js";
import type { MessagesApi, SendRequest } from "../../../../../src/api/messages/messages-api.js";
import { openSessionFeed } from "../../../../../src/api/sessions/feed.js";
import { RequestError } from "../../../../../src/errors.js";
import type { Payload } from "../../../../../src/events/catalogue.js";
import { newId } from "../../../../../src/util/ids.js";
import type { MemoryLogs } from "./logs.js";

/** What tests say about sends. */
export interface Sends {
  readonly sent: SendRequest[];
  readonly onSend: (key: string, messageId: string) => void;
  readonly refuseSend: Error | undefined;
}

export function memoryMessages(sessions: MemoryLogs, sends: Sends): MessagesApi {
  const messageIds = new Set<string>();
  return {
    async send(request) {
      if (sends.refuseSend !== undefined) throw sends.refuseSend;
      if (request.content === "") throw new RequestError("The message is empty", { status: 400, code: "bad_request" });
      sends.sent.push(request);
      const messageId = request.messageId ?? newId("msg");
      if (messageIds.has(messageId)) return { messageId, status: "duplicate" };
      messageIds.add(messageId);
      const queued: Payload<"user_message_queued"> = {
        message_id: messageId,
        channel: "webui",
        chat_id: "1",
        sender_id: "owner",
        content: [{ type: "text", text: request.content }],
        mode: "next",
        position: 0,
      };
      sessions.tell(request.sessionKey, "user_message_queued", queued, {});
      sends.onSend(request.sessionKey, messageId);
      return { messageId, status: "accepted" };
    },
    waitForTurn: (key, messageId, signal) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const outcome = sessions.outcomeOf(key, messageId);
          if (outcome === undefined) return;
          stop();
          resolve(outcome);
        };
        const stop = sessions.bus.asConsumer().onAny(look);
        const onAbort = (): void => {
          stop();
          reject(signal.reason);
        };
        if (signal.aborted) onAbort();
        else signal.addEventListener("abort", onAbort, { once: true });
        look();
      }),
  };
}

export function memoryEvents(sessions: MemoryLogs): EventsApi {
  const { bus, logs, snapshots } = sessions;
  return {
    async events(key, { fromSequence, limit }) {
      const after = sessions.mustExist(key).filter((event) => event.seq > fromSequence);
      return { events: after.slice(0, limit), hasMore: after.length > limit };
    },
    subscribe: (target, options, listener) =>
      openSessionFeed(
        {
          bus: bus.asConsumer(),
          events: async (key, { afterSeq, limit }) => {
            await new Promise(setImmediate);
            const after = (logs.get(key) ?? []).filter((event) => event.seq > afterSeq);
            return { events: after.slice(0, limit), hasMore: after.length > limit };
          },
          lastSequence: async (key) => logs.get(key)?.length ?? 0,
          snapshots,
          systemKey: "system:test",
        },
        target,
        options,
        listener,
      ),
  };
}
