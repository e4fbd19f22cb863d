import { LRUCache } from "lru-cache";
import type { Engine } from "../engine/engine.js";
import { messageOf } from "../errors.js";
import { answerMark } from "../events/answer-mark.js";
import type { Unsubscribe } from "../events/bus/system-bus.js";
import type { Payload } from "../events/catalogue.js";
import type { EventOf, StoredEvent } from "../events/event.js";
import type { Logger } from "../log.js";
import type { Reactor } from "./reactor.js";

/** The part of a channel that changes a message of ours. */
export interface Editor {
  edit?(
    message: { readonly chatId: string; readonly platformMessageId: string; readonly content: string },
    signal: AbortSignal,
  ): Promise<void>;
}

export interface AnsweredOptions {
  readonly channels: ReadonlyMap<string, Editor>;
  readonly engine: Pick<Engine, "events">;
  readonly log: Logger;
}

type Answered = Payload<"human_input_answered">;

/** A message that shows a question's buttons. There are two where the question was passed on. */
interface Shown {
  readonly channel: string;
  readonly chatId: string;
  readonly content: string;
  /** Undefined while it is still being sent. */
  readonly platformMessageId: string | undefined;
}

const pageSize = 200;
/** A question whose message is never sent is forgotten after so many others. */
const mostUnsent = 100;

/**
 * Writes below a question in a chat how it ended, and takes its buttons away. Only decorates: a button that stays is
 * refused with its reason when somebody presses it.
 */
export function createAnsweredReactor({ channels, engine, log }: AnsweredOptions): Reactor {
  const stop = new AbortController();
  const subscriptions: Unsubscribe[] = [];
  /** Answered before their message was sent, by the id of the question. */
  const unsent = new LRUCache<string, Answered>({ max: mostUnsent });

  async function mark(sessionKey: string, answered: Answered, beforeSeq: number): Promise<void> {
    try {
      for (const shown of await findShown(engine, sessionKey, answered.request_id, beforeSeq))
        await markOne(shown, answered);
    } catch (error) {
      if (!stop.signal.aborted)
        log.debug("an answered question was not marked", { session: sessionKey, error: messageOf(error) });
    }
  }

  async function markOne(shown: Shown, answered: Answered): Promise<void> {
    const { channel, chatId, content, platformMessageId } = shown;
    const editor = channels.get(channel);
    if (editor?.edit === undefined) return;
    if (platformMessageId === undefined) return void unsent.set(answered.request_id, answered);
    const text = `${content}\n\n${answerMark(answered)}`;
    await editor.edit({ chatId, platformMessageId, content: text }, stop.signal);
  }

  function onSent(event: EventOf<"outbound_delivery_changed">): void {
    const requestId = event.payload.outbound_id.split(/[#~]/)[0] ?? "";
    const answered = event.payload.status === "sent" ? unsent.get(requestId) : undefined;
    if (answered === undefined || event.seq === null) return;
    unsent.delete(requestId);
    void mark(event.session_key, answered, event.seq + 1);
  }

  return {
    name: "answers",
    start(bus) {
      subscriptions.push(
        bus.on("human_input_answered", (event) => {
          if (event.seq !== null) void mark(event.session_key, event.payload, event.seq);
        }),
        bus.on("outbound_delivery_changed", onSent),
      );
    },
    stop() {
      stop.abort();
      for (const unsubscribe of subscriptions.splice(0)) unsubscribe();
    },
  };
}

/** Reads the log backwards to where the question was asked: what was sent of it is behind that. */
async function findShown(
  engine: Pick<Engine, "events">,
  sessionKey: string,
  requestId: string,
  beforeSeq: number,
): Promise<readonly Shown[]> {
  const found: StoredEvent[] = [];
  for (let before = beforeSeq; before > 1; ) {
    const afterSeq = Math.max(0, before - 1 - pageSize);
    const { events } = await engine.events(sessionKey, { afterSeq, limit: before - 1 - afterSeq });
    found.unshift(...events);
    const isWhole = events.some(
      (event) => event.type === "human_input_asked" && event.payload.request_id === requestId,
    );
    if (isWhole || events.length === 0) break;
    before = events[0]?.seq ?? 0;
  }
  const changes = found.flatMap((event) => {
    if (event.type !== "outbound_delivery_changed") return [];
    const [replyId = ""] = event.payload.outbound_id.split("#");
    const isOfQuestion = replyId === requestId || replyId.startsWith(`${requestId}~`);
    return isOfQuestion ? [{ ...event.payload, replyId }] : [];
  });
  return [...new Set(changes.map(({ replyId }) => replyId))].flatMap((replyId) => {
    const ofReply = changes.filter((change) => change.replyId === replyId);
    // The buttons are below the last piece.
    const queued = ofReply.filter(({ status }) => status === "queued").at(-1);
    if (queued === undefined) return [];
    const sent = ofReply.find(({ status, outbound_id }) => status === "sent" && outbound_id === queued.outbound_id);
    const { channel, chat_id: chatId, content = "" } = queued;
    return [{ channel, chatId, content, platformMessageId: sent?.platform_message_id }];
  });
}
