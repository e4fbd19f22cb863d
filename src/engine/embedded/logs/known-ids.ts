import { crc32 } from "node:zlib";
import type { EventDraft, StoredEvent } from "../../../events/event.js";
import { isNewId } from "../../../util/ids.js";
import { eachLineNow } from "./line-walk.js";
import { parseEventLine } from "./log-reading.js";

/** The id is at the beginning of each line. */
const beginning = 160;

/** What is remembered of a stored event. */
export interface LoggedEvent {
  readonly seq: number;
  /** Checksum of what it tells. */
  readonly content: number;
}

/** The stored event that has a draft's id. */
export interface KnownEvent {
  readonly seq: number;
  /** The draft tells something else. */
  readonly isChanged: boolean;
}

export function asKnown(event: StoredEvent | LoggedEvent, draft: EventDraft): KnownEvent {
  const content = "content" in event ? event.content : contentOf(event);
  return { seq: event.seq, isChanged: content !== contentOf(draft) };
}

/** A checksum of what an event tells, which is the same for the draft and for what a reader of the file gets. */
function contentOf({ type, payload }: Pick<EventDraft, "type" | "payload">): number {
  return crc32(JSON.stringify([type, payload]));
}

export function toLogged(event: StoredEvent): LoggedEvent {
  return { seq: event.seq, content: contentOf(event) };
}

/**
 * The events in the first `size` bytes of a session log whose ids may be given again, such as those that are derived
 * from what they tell about: a restart, or time, must not make them new. Events up to `afterSeq` are of an earlier life.
 */
export function readLoggedIds(path: string, size: number, afterSeq: number): Map<string, LoggedEvent> {
  const found = new Map<string, LoggedEvent>();
  eachLineNow(path, size, (line) => {
    const id = /"event_id":"([^"]+)"/.exec(line.toString("latin1", 0, beginning))?.[1];
    if (id === undefined || isNewId(id)) return;
    const event = parseEventLine(line);
    if (event !== undefined && event.seq > afterSeq) found.set(event.event_id, toLogged(event));
  });
  return found;
}
