import { crc32 } from "node:zlib";
import type { Engine } from "../../engine/engine.js";
import type { StoredEvent } from "../../events/event.js";
import { takenBy } from "../../events/folds/taken-messages.js";
import { type Cursor, textLine } from "./line.js";
import { type Spoken, spokenIn } from "./spoken.js";

type Log = Pick<Engine, "events">;

/** What an undo has taken back. */
export interface Undone {
  readonly seqs: Set<number>;
  readonly messageIds: Set<string>;
}

/** What a session's log says beyond what was read of it. */
export interface News {
  /** What was read before is of another log of this name: it counts no more. */
  readonly isOther: boolean;
  readonly undone: Undone;
  readonly lines: string;
  readonly cursor: Cursor;
}

interface Found {
  readonly seq: number;
  readonly part: number;
  readonly spoken: Spoken;
}

const pageSize = 1000;
const stepChars = 1_000_000;

export function markOf(event: StoredEvent): number {
  return crc32(event.event_id);
}

/** Reads a session's log from where it was read to, in steps that can be kept one by one. */
export async function* newsOf(log: Log, key: string, known: Cursor | undefined): AsyncGenerator<News> {
  const first =
    known === undefined ? undefined : (await log.events(key, { afterSeq: known.seq - 1, limit: 1 })).events[0];
  const isSame = first !== undefined && first.seq === known?.seq && markOf(first) === known.mark;
  let isOther = known !== undefined && !isSame;
  let found: Found[] = [];
  let undone: Undone = { seqs: new Set(), messageIds: new Set() };
  let chars = 0;
  let last: StoredEvent | undefined;
  const step = (end: StoredEvent): News => {
    const lines = found.map(({ seq, part, spoken }) => textLine(key, seq, part, spoken)).join("");
    const news = { isOther, undone, lines, cursor: { seq: end.seq, mark: markOf(end) } };
    isOther = false;
    found = [];
    undone = { seqs: new Set(), messageIds: new Set() };
    chars = 0;
    last = undefined;
    return news;
  };
  for await (const event of eventsAfter(log, key, isSame && known !== undefined ? known.seq : 0)) {
    last = event;
    if (event.type === "session_history_changed" && ["undo", "deletion"].includes(event.payload.kind)) {
      await addUndone(log, key, event.payload.to_seq ?? 0, event, undone);
      found = found.filter(({ seq, spoken }) => !isUndone(undone, seq, spoken.messageId));
    }
    for (const [part, spoken] of spokenIn(event).entries()) {
      found.push({ seq: event.seq, part, spoken });
      chars += spoken.text.length;
    }
    if (chars > stepChars) yield step(event);
  }
  if (last !== undefined) yield step(last);
}

export function isUndone({ seqs, messageIds }: Undone, seq: number, messageId: string | undefined): boolean {
  return seqs.has(seq) || (messageId !== undefined && messageIds.has(messageId));
}

/** What waits is not undone, nor what the undo's own turn has begun with. */
async function addUndone(log: Log, key: string, toSeq: number, undo: StoredEvent, undone: Undone): Promise<void> {
  for await (const event of eventsAfter(log, key, toSeq)) {
    if (event.seq >= undo.seq) return;
    if (undo.turn_id !== undefined && event.turn_id === undo.turn_id) continue;
    for (const id of takenBy(event)) undone.messageIds.add(id);
    if (event.type === "assistant_message" || event.type === "session_history_changed") undone.seqs.add(event.seq);
  }
}

async function* eventsAfter(log: Log, key: string, afterSeq: number): AsyncGenerator<StoredEvent> {
  for (let after = afterSeq; ; ) {
    const { events, hasMore } = await log.events(key, { afterSeq: after, limit: pageSize });
    yield* events;
    after = events.at(-1)?.seq ?? after;
    if (!hasMore || events.length === 0) return;
  }
}
