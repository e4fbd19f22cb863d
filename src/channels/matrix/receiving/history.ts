import { z } from "zod";
import { asDocumented } from "../../wire/call.js";
import { type MatrixApi, part } from "../api.js";
import { eventsIn, type MatrixEvent, parseEvent } from "../event.js";
import { title } from "../matrix-error.js";

const page = z.looseObject({
  chunk: z.array(z.unknown()).default([]),
  state: z.array(z.unknown()).optional(),
  end: z.string().optional(),
});

/** What of a room the bot reads. */
export const roomTypes = [
  ...["m.room.message", "m.room.encrypted", "m.room.encryption", "m.room.redaction", "m.room.member"],
  ...["m.room.tombstone", "m.reaction", "m.sticker"],
] as const;

const pageSize = 100;
/** More than this was missed in one room: the newest of it is taken. */
const mostPages = 100;

export interface ReadBack {
  /** Where to begin: a token of a sync or of an earlier page. */
  readonly from: string;
  /** A token of a sync: everything before it is known. */
  readonly to?: string | undefined;
  /** The first event, going back, that is not wanted any more. */
  readonly isEnd?: (event: MatrixEvent) => boolean;
  /** Who is in the room by what comes along. */
  readonly onState?: (event: MatrixEvent) => void;
}

/** What was read. */
export interface Missed {
  /** The oldest first. */
  readonly events: readonly MatrixEvent[];
  /** The event that is not wanted any more was found. */
  readonly hasEnd: boolean;
  /** Nothing was left out. */
  readonly isWhole: boolean;
}

/** What is in a room before a place in it. @throws {ChannelError} */
export async function readBack(
  api: MatrixApi,
  roomId: string,
  { from, to, isEnd = () => false, onState }: ReadBack,
  signal: AbortSignal,
): Promise<Missed> {
  const found = new Map<string, MatrixEvent>();
  const filter = JSON.stringify({ types: roomTypes, lazy_load_members: true });
  let token: string | undefined = from;
  for (let pages = 0; pages < mostPages && token !== undefined; pages += 1) {
    const query: Record<string, string> = { dir: "b", from: token, limit: String(pageSize), filter };
    if (to !== undefined) query.to = to;
    const path = `/client/v3/rooms/${part(roomId)}/messages`;
    const said: z.output<typeof page> = asDocumented(
      title,
      page,
      await api.call({ path, query, what: "the history" }, signal),
    );
    for (const member of eventsIn(said.state)) onState?.(member);
    for (const event of eventsIn(said.chunk)) {
      if (isEnd(event)) return { events: oldestFirst(found), hasEnd: true, isWhole: true };
      found.set(event.event_id, event);
    }
    // A page may be empty although there are more, and repeats its own token at the end.
    token = said.end === token ? undefined : said.end;
  }
  return { events: oldestFirst(found), hasEnd: false, isWhole: token === undefined };
}

function oldestFirst(found: ReadonlyMap<string, MatrixEvent>): readonly MatrixEvent[] {
  return [...found.values()].reverse();
}

/** One event; undefined: it is not as documented. @throws {ChannelError} */
export async function readEvent(
  api: MatrixApi,
  roomId: string,
  eventId: string,
  signal: AbortSignal,
): Promise<MatrixEvent | undefined> {
  const path = `/client/v3/rooms/${part(roomId)}/event/${part(eventId)}`;
  return parseEvent(await api.call({ path, what: "a message" }, signal));
}
