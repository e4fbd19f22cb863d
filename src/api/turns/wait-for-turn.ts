import type { Engine } from "../../engine/engine.js";
import { EngineError, RequestError } from "../../errors.js";
import type { EventConsumer } from "../../events/bus/system-bus.js";
import { textOf, withRemark } from "../../events/content.js";
import { type GatewayEvent, isDeletion } from "../../events/event.js";
import type { SessionStore } from "../../sessions/session-store.js";
import type { TurnOutcome } from "../messages/messages-api.js";

export interface WaitPorts {
  readonly bus: EventConsumer;
  readonly sessions: Pick<SessionStore, "open">;
  readonly engine: Pick<Engine, "events">;
}

const pageSize = 1000;

/** What says how a turn ends, or that nobody will know. */
const watchedTypes = [
  "assistant_message",
  "turn_execution_start",
  "turn_execution_complete",
  "turn_execution_failed",
  "turn_execution_cancelled",
  "error_occurred",
  "session_state_changed",
] as const;

/** Watches a session's events for the end of the turn that holds one message. */
function createWatcher(messageId: string): (event: GatewayEvent) => TurnOutcome | undefined {
  const texts = new Map<string, string>();
  return (event) => {
    switch (event.type) {
      case "assistant_message":
        if (event.payload.answers === messageId)
          return { end: "complete", response: textOf(event.payload.content), turnId: event.turn_id ?? "" };
        texts.set(event.payload.message_id, textOf(event.payload.content));
        return undefined;
      case "turn_execution_start":
        texts.clear();
        return undefined;
      case "turn_execution_complete":
        return of(event, "complete", withRemark(texts.get(event.payload.message_id) ?? "", event.payload.remark));
      case "turn_execution_failed":
        return of(event, "failed", event.payload.message);
      case "turn_execution_cancelled":
        return of(event, "cancelled", texts.get(event.payload.partial_message_id ?? "") ?? "");
      case "error_occurred":
        // The message was given up without a turn.
        return event.correlation_id === messageId && !event.payload.recoverable
          ? { end: "failed", response: event.payload.message, turnId: event.turn_id ?? "" }
          : undefined;
      default:
        return undefined;
    }
  };

  function of(
    event: Extract<GatewayEvent, { payload: { message_ids: string[] } }>,
    end: TurnOutcome["end"],
    response: string,
  ): TurnOutcome | undefined {
    if (!event.payload.message_ids.includes(messageId)) return undefined;
    const turnId = event.turn_id ?? "";
    if (event.type === "turn_execution_complete") {
      const { stop_reason: stopReason, usage } = event.payload;
      return { end, response, turnId, stopReason, usage };
    }
    return event.type === "turn_execution_failed"
      ? { end, response, turnId, usage: event.payload.usage }
      : { end, response, turnId };
  }
}

/** Resolves with how the turn of this message ended, also when that was long ago. */
export async function waitForTurn(
  { bus, sessions, engine }: WaitPorts,
  sessionKey: string,
  messageId: string,
  signal: AbortSignal,
): Promise<TurnOutcome> {
  const undo: (() => void)[] = [];
  try {
    return await new Promise<TurnOutcome>((resolve, reject) => {
      const watch = createWatcher(messageId);
      const notFound = (what: string): RequestError => new RequestError(what, { status: 404, code: "not_found" });
      const find = (search: Promise<TurnOutcome | "pending" | "unknown">, unknown: string): void => {
        search.then(
          (outcome) => {
            if (outcome === "unknown") reject(notFound(unknown));
            else if (outcome !== "pending") resolve(outcome);
          },
          (error: unknown) => reject(unreadEnd(error, messageId)),
        );
      };
      undo.push(
        bus.on(
          watchedTypes,
          (event) => {
            const outcome = watch(event);
            if (outcome !== undefined) resolve(outcome);
            // The message may have come after the deletion: then it is in the log.
            else if (isDeletion(event)) find(findInLog(sessionKey, messageId, engine), `${sessionKey} was deleted`);
          },
          { sessionKey },
        ),
      );
      const onAbort = (): void => reject(signal.reason);
      if (signal.aborted) return onAbort();
      signal.addEventListener("abort", onAbort, { once: true });
      undo.push(() => signal.removeEventListener("abort", onAbort));
      find(
        findInPast(sessionKey, messageId, { sessions, engine }),
        `There is no message ${messageId} in ${sessionKey}`,
      );
    });
  } finally {
    for (const one of undo) one();
  }
}

async function findInPast(
  sessionKey: string,
  messageId: string,
  { sessions, engine }: Pick<WaitPorts, "sessions" | "engine">,
): Promise<TurnOutcome | "pending" | "unknown"> {
  const session = await sessions.open(sessionKey);
  if (session.messages.queued.has(messageId)) return "pending";
  return await findInLog(sessionKey, messageId, engine);
}

/** Another node may have taken the message, or have deleted the session, a moment before this one sees that. */
async function findInLog(
  sessionKey: string,
  messageId: string,
  engine: WaitPorts["engine"],
): Promise<TurnOutcome | "pending" | "unknown"> {
  const watch = createWatcher(messageId);
  let isThere = false;
  for (let afterSeq = 0; ; ) {
    const page = await engine.events(sessionKey, { afterSeq, limit: pageSize });
    for (const event of page.events) {
      const outcome = watch(event);
      if (outcome !== undefined) return outcome;
      isThere ||= event.type === "user_message_queued" && event.payload.message_id === messageId;
    }
    if (!page.hasMore) return isThere ? "pending" : "unknown";
    afterSeq = page.events.at(-1)?.seq ?? afterSeq;
  }
}

/**
 * That a message which was taken before was taken here. Who cannot be told because of a log that cannot be read is let
 * through: waiting for the answer says so.
 *
 * @throws {RequestError} 409
 */
export async function assertOwnId(
  sessionKey: string,
  messageId: string,
  { sessions, engine }: Pick<WaitPorts, "sessions" | "engine">,
): Promise<void> {
  try {
    const session = await sessions.open(sessionKey);
    if (session.messages.queued.has(messageId)) return;
    for (let afterSeq = 0; ; ) {
      const page = await engine.events(sessionKey, { afterSeq, limit: pageSize });
      if (page.events.some((event) => names(event, messageId))) return;
      if (!page.hasMore) break;
      afterSeq = page.events.at(-1)?.seq ?? afterSeq;
    }
  } catch (error) {
    if (error instanceof EngineError) return;
    throw error;
  }
  throw new RequestError(
    `The message was not taken: its id ${messageId} was used before, in another conversation or in one that was deleted. Ids are unique over all conversations: send it again with a new id.`,
    { status: 409, code: "id_used" },
  );
}

function names({ type, payload }: GatewayEvent, messageId: string): boolean {
  if (type === "user_message_queued" || type === "user_message") return payload.message_id === messageId;
  return "message_ids" in payload && payload.message_ids.includes(messageId);
}

/** Who waits has handed the message in: a failure to read says nothing of that. */
function unreadEnd(error: unknown, messageId: string): unknown {
  if (!(error instanceof EngineError) || error.kind === "closed") return error;
  return new RequestError(
    `The message ${messageId} was accepted and is worked on. How that ends cannot be read right now. Ask again with the same message id.`,
    {
      status: 503,
      code: error.kind === "corrupt" ? "STORED_DATA_DAMAGED" : "READ_FAILED",
      retryAfterMs: 5000,
      cause: error,
    },
  );
}
