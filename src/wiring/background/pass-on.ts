import { PassedQuestions } from "../../agent/questions/pass-on.js";
import { choicesFor } from "../../agent/questions/text.js";
import type { Presence } from "../../api/attention/presence.js";
import type { InboundMessage, OutboundMessage } from "../../bus/messages.js";
import { questionRepliesOf } from "../../bus/replies.js";
import { channelOf, chatOf } from "../../events/session-key.js";
import type { Releases } from "../../util/async/releases.js";
import { derivedId } from "../../util/ids.js";
import type { Assistant } from "../assistant/assistant.js";
import type { Core } from "../core/core.js";
import type { GatewayOptions } from "../options.js";

/** Questions that nobody sees go on to where the owner is. */
export async function startPassingOn(
  { log, now = Date.now }: GatewayOptions,
  { engine, events, sessions, messages }: Core,
  { people: { isOwner, owners }, platforms: { channels, shapes }, inbound: { questions }, live }: Assistant,
  presence: Pick<Presence, "isAt">,
  releases: Releases,
): Promise<void> {
  live.own({ sections: ["policy.passOnSeconds"], apply() {} });
  const ownerIn = (key: string): string | undefined =>
    owners().find((owner) => {
      const channel = channelOf(owner);
      return (key === owner || key.startsWith(`${owner}:`)) && channels.has(channel) && isOwner(channel, chatOf(owner));
    });
  const passing = new PassedQuestions({
    questions,
    events,
    isSeen: (keys) => presence.isAt(["inbox", ...keys]),
    async ownersChat() {
      // The newest comes first.
      const { sessions: found } = await sessions.page({ isWanted: (key) => ownerIn(key) !== undefined });
      return found[0] && ownerIn(found[0].key);
    },
    there: {
      messagesFor(asked, sessionKey, chat, content) {
        const channel = channelOf(chat);
        const id = `${asked.request_id}~${channel}`;
        const choices = choicesFor(asked).map(({ id: option, label, description }) => {
          return { label, description, value: `${asked.request_id}:${option}` };
        });
        const to = placeIn(chat, id, sessionKey);
        const shown = questionRepliesOf(shapes.get(channel), to, { id, content, choices }, "");
        return shown.map(({ body }) => outsideTurn(body, chat));
      },
      noticeFor(requestId, sessionKey, chat, content) {
        const channel = channelOf(chat);
        const id = `${requestId}~${channel}~end`;
        return outsideTurn({ id, channel, chatId: chatOf(chat), sessionKey, content, attachments: [] }, chat);
      },
      canChange: (chat) => channels.get(channelOf(chat))?.edit !== undefined,
    },
    messages,
    async causeOf({ sessionKey, asked }) {
      const { openTurn } = await sessions.open(sessionKey);
      return openTurn.find(
        ({ type, payload }) => type === "human_input_asked" && payload.request_id === asked.request_id,
      )?.event_id;
    },
    passed: await engine.records.open("passed_question"),
    afterSeconds: () => live.running.policy.passOnSeconds,
    now,
    log,
  });
  releases.defer(passing.start());
}

/** As if somebody there had written. */
function placeIn(chat: string, id: string, sessionKey: string): InboundMessage {
  const [channel, chatId] = [channelOf(chat), chatOf(chat)];
  return { id, channel, chatId, senderId: chatId, sessionKey, content: "", attachments: [], receivedAt: 0 };
}

/** The same message each time. */
function outsideTurn(message: OutboundMessage, chat: string): OutboundMessage {
  const { turnId: _turn, correlationId: _correlation, ...rest } = message;
  return { ...rest, queuedEventId: derivedId("evt", message.id, chat) };
}
