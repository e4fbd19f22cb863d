import type { Engine } from "../../engine/engine.js";
import { RequestError } from "../../errors.js";
import type { StoredEvent } from "../../events/event.js";

/** A longer log is replayed by `maxclaw replay`, which does nothing else meanwhile. */
const mostEvents = 50_000;
const mostBytes = 64 * 1024 * 1024;
/** Of one page. A page of long messages has fewer events, so that nobody else waits long for it. */
const pageBytes = 2 * 1024 * 1024;
const longestPage = 1000;
const firstPage = 20;

interface Wanted {
  readonly key: string;
  readonly turnId: string;
  readonly maxBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The session's log up to the end of the turn, and a little more. @throws {RequestError} 404, or 409 where it is too long */
export async function readLog(
  engine: Pick<Engine, "events">,
  { key, turnId, maxBytes = mostBytes, signal }: Wanted,
): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  let bytes = 0;
  let isKnown = false;
  for (let afterSeq = 0, limit = firstPage; ; ) {
    signal?.throwIfAborted();
    const page = await engine.events(key, { afterSeq, limit });
    for (const event of page.events) bytes += JSON.stringify(event).length;
    events.push(...page.events);
    if (events.length > mostEvents || bytes > maxBytes)
      throw notNow(`This conversation is too long to play a turn of it here. Run: maxclaw replay ${turnId}`);
    const isHere = page.events.some((event) => event.turn_id === turnId);
    isKnown ||= isHere;
    if (!page.hasMore || (isKnown && !isHere)) break;
    afterSeq = page.events.at(-1)?.seq ?? afterSeq;
    limit = Math.max(1, Math.min(longestPage, limit * 2, Math.floor((pageBytes * events.length) / bytes)));
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (!isKnown) throw noSuchTurn(key, turnId);
  return events;
}

export function noSuchTurn(key: string, turnId: string): RequestError {
  return new RequestError(`There is no turn ${turnId} in ${key}`, { status: 404, code: "not_found" });
}

export function notNow(message: string): RequestError {
  return new RequestError(message, { status: 409, code: "not_replayable" });
}
