import { isDeepStrictEqual } from "node:util";
import type { EngineSource, EngineTarget, MovedSession } from "../../engine/moving.js";
import { EngineError } from "../../errors.js";
import type { StoredEvent } from "../../events/event.js";

/** What was copied and read again, or would be. */
export interface Moved {
  readonly sessions: number;
  readonly events: number;
  readonly messages: number;
  readonly replies: number;
  readonly deadLetters: number;
  readonly records: number;
}

export interface CopyOptions {
  /** Nothing is written: only what would be is counted. */
  readonly target: EngineTarget | undefined;
  readonly onProgress: (sessions: number, events: number) => void;
  readonly signal: AbortSignal;
}

const toldEach = 1000;

/**
 * Copies all of an engine to another one, and compares each session with what the other one gives back. A session that an earlier
 * try has brought and that differs by now is copied once more.
 *
 * @throws {EngineError} `corrupt`: a copy differs
 */
export async function copyEngine(source: EngineSource, { target, onProgress, signal }: CopyOptions): Promise<Moved> {
  let sessions = 0;
  let events = 0;
  const keys = new Set<string>();
  for await (const session of source.sessions()) {
    signal.throwIfAborted();
    keys.add(session.key);
    events += target === undefined ? await countOf(session) : await copySession(session, target);
    sessions += 1;
    if (sessions % toldEach === 0) onProgress(sessions, events);
  }
  const state = await source.state();
  if (target !== undefined) {
    // Deleted between two tries, without a trace where it had none.
    for (const key of await target.keys()) if (!keys.has(key)) await target.remove(key);
    await target.finish(state, source.seen());
  }
  const count = (queue: string): number => state.work.filter(({ work }) => work.queue === queue).length;
  const { length: deadLetters } = state.dead;
  return {
    ...{ sessions, events, messages: count("inbound"), replies: count("outbound"), deadLetters },
    records: state.records.length,
  };
}

async function copySession(session: MovedSession, target: EngineTarget): Promise<number> {
  await target.write(session);
  const first = await compare(session, target);
  if (first.differs === undefined) return first.events;
  await target.remove(session.key);
  await target.write(session);
  const second = await compare(session, target);
  if (second.differs === undefined) return second.events;
  throw new EngineError(
    `${session.key}: event ${second.differs} came back otherwise than it was written. Nothing has changed where the conversations are now.`,
    { kind: "corrupt" },
  );
}

/** Reads a session on both sides. `differs`: the number of the first event that is not the same. */
async function compare(
  session: MovedSession,
  target: EngineTarget,
): Promise<{ readonly events: number; readonly differs: number | undefined }> {
  const copies = eachEvent(target.read(session.key))[Symbol.asyncIterator]();
  let events = 0;
  try {
    for await (const event of eachEvent(session.events())) {
      const copy = await copies.next();
      if (copy.done || !isDeepStrictEqual(plain(copy.value), plain(event))) return { events, differs: event.seq };
      events += 1;
    }
    const more = await copies.next();
    return { events, differs: more.done ? undefined : more.value.seq };
  } finally {
    await copies.return?.(undefined);
  }
}

/** What is undefined is in no file. */
function plain(event: StoredEvent): unknown {
  return JSON.parse(JSON.stringify(event));
}

async function* eachEvent(pages: AsyncIterable<readonly StoredEvent[]>): AsyncGenerator<StoredEvent, void, undefined> {
  for await (const page of pages) yield* page;
}

async function countOf(session: MovedSession): Promise<number> {
  let events = 0;
  for await (const page of session.events()) events += page.length;
  return events;
}
