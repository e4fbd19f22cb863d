import type { InboundMessage, Retry } from "../../bus/messages.js";
import type { Engine } from "../../engine/engine.js";
import { RequestError } from "../../errors.js";
import { retryMessage, whyNotAgain } from "../../events/retries/message.js";
import type { SessionStore } from "../../sessions/session-store.js";
import type { SendOutcome } from "../messages/messages-api.js";
import { assertSession } from "../sessions/assert-session.js";
import type { RetryWish } from "../sessions/sessions-api.js";

export interface RetryPorts {
  readonly engine: Pick<Engine, "waiting" | "dead">;
  readonly sessions: Pick<SessionStore, "open" | "exists">;
  /** Accepts it in the present life of its session, unless `mayStill` throws. */
  readonly again: (message: InboundMessage, mayStill: () => Promise<void>) => Promise<SendOutcome["status"]>;
  /** Whether its sender may talk in its chat, as things are now. */
  readonly maySpeak: (message: InboundMessage) => boolean;
}

/** Has the last turn of a session tried again, which has failed. @throws {RequestError} where that cannot be */
export async function retryTurn(
  { engine, sessions, again, maySpeak }: RetryPorts,
  { sessionKey, turnId, messageId }: RetryWish,
  by: Retry["by"],
): Promise<SendOutcome> {
  await assertSession(sessions, sessionKey);
  const { retries } = await sessions.open(sessionKey);
  const { asked } = retries;
  // Sent again by somebody who did not hear that it had arrived.
  if (messageId !== undefined && asked?.of === turnId && asked.messageId === messageId)
    return { messageId, status: "duplicate" };
  const why = whyNotAgain(retries, turnId);
  const { failed } = retries;
  if (why !== undefined) throw refused(why.code, why.sentence);
  if (failed === undefined) throw new Error("A turn that can be tried again is not there");
  // Somebody has written since, and wants no answer that comes by itself.
  if (by === "gateway" && !failed.waits) throw refused("not_waiting", `The turn ${turnId} does not wait any more.`);
  const message = retryMessage(failed, { by, id: messageId, now: Date.now() });
  if (!maySpeak(message)) throw refused("not_allowed", `Who had asked in ${sessionKey} may not talk there any more.`);
  const status = await again(message, async () => {
    await assertSession(sessions, sessionKey);
    const { retries: present } = await sessions.open(sessionKey);
    // The same wish has come twice at once: the second one changes nothing.
    if (present.asked?.of === turnId && present.asked.messageId === message.id) return;
    const now = whyNotAgain(present, turnId);
    if (now !== undefined) throw refused(now.code, now.sentence);
    if ((await engine.waiting("inbound", sessionKey)).length === 0) return;
    throw refused("turn_running", `${sessionKey} is at work on something else. Wait until that has ended.`);
  });
  // Where it was given up, it does not wait for a person any more.
  await engine.dead.drop(failed.message.id);
  return { messageId: message.id, status };
}

function refused(code: string, sentence: string): RequestError {
  return new RequestError(sentence, { status: 409, code });
}
