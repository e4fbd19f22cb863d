import { z } from "zod";
import type { Records } from "../../engine/engine.js";
import { isBelow } from "../../events/session-key.js";

const record = z.object({
  pinned: z.boolean().default(false),
  archived: z.boolean().default(false),
  readSeq: z.number().optional(),
});
const beginning = z.object({ since: z.number() });
/** Not a session's key. */
const beginningId = "since";

/** How the owner keeps a conversation. */
export interface SessionMarks {
  readonly pinned: boolean;
  readonly archived: boolean;
  /** The last event that the owner has read; absent where nothing was read since marks are kept. */
  readonly readSeq?: number | undefined;
}

/** What the owner has pinned, archived and read. */
export interface MarkedSessions {
  /** Unix ms: what was said before counts as read. */
  readonly since: number;
  of(key: string): SessionMarks;
  /** Sets those that are given. */
  set(
    key: string,
    marks: { readonly pinned?: boolean | undefined; readonly archived?: boolean | undefined },
  ): Promise<SessionMarks>;
  /** Never goes back. */
  read(key: string, seq: number): Promise<SessionMarks>;
  /** Of a session that is deleted, and of those below it. */
  forget(key: string): Promise<void>;
}

/** The marks that are in these records, to be looked at. Nothing is unread where nobody has kept marks yet. */
export function readMarks(records: ReadonlyMap<string, unknown>): Pick<MarkedSessions, "of" | "since"> {
  const { since = Number.POSITIVE_INFINITY } = beginning.safeParse(records.get(beginningId)).data ?? {};
  return { since, of: (key) => parse(records.get(key)) };
}

/** `records` are those of a kind of their own. */
export async function openMarks(records: Records, now: () => number): Promise<MarkedSessions> {
  const first = await records.update(beginningId, (old) => (beginning.safeParse(old).success ? old : { since: now() }));
  const change = async (key: string, to: (old: SessionMarks) => SessionMarks): Promise<SessionMarks> =>
    parse(await records.update(key, (old) => to(parse(old))));
  return {
    since: beginning.parse(first).since,
    of: (key) => parse(records.get(key)),
    set: (key, { pinned, archived }) =>
      change(key, (old) => ({ ...old, pinned: pinned ?? old.pinned, archived: archived ?? old.archived })),
    read: (key, seq) => change(key, (old) => ({ ...old, readSeq: Math.max(old.readSeq ?? 0, seq) })),
    async forget(key) {
      for (const { id } of records.list()) if (id === key || isBelow(id, key)) await records.delete(id);
    },
  };
}

function parse(value: unknown): SessionMarks {
  return record.safeParse(value).data ?? { pinned: false, archived: false };
}
