import { existsSync } from "node:fs";
import { z } from "zod";
import { statusSentence } from "../util/words/status-sentences.js";

/** The kind of the records that tell about damaged session logs, by session key. */
export const damageKind = "log_damage";

const logDamage = z.object({
  /** The session log. */
  file: z.string(),
  /** Unix ms. */
  at: z.number(),
  /** Sequence numbers of events that are gone. */
  lost: z.array(z.object({ from_seq: z.number(), to_seq: z.number() })),
  /** How many events were brought back from damaged lines or the journal. */
  restored: z.number(),
  /** The log as it was before it was mended. */
  keptIn: z.string().optional(),
  /** The event in the session's log that tells about it. */
  eventId: z.string(),
  /** The people of the chat and the owners were told. */
  isTold: z.boolean(),
});

/** What is known about a session log that was damaged. */
export type LogDamage = z.infer<typeof logDamage>;

export function parseLogDamage(value: unknown): LogDamage | undefined {
  return logDamage.safeParse(value).data;
}

/** How many events are gone. */
export function lostEvents({ lost }: Pick<LogDamage, "lost">): number {
  return lost.reduce((sum, { from_seq: from, to_seq: to }) => sum + to - from + 1, 0);
}

/** Where no damaged file is kept that somebody could delete, it is told for so long. */
const toldDays = 30;

/** False once its owner has seen it: the damaged file was deleted, or, where there is none, it was told for 30 days. */
export function isStillTold({ keptIn, at }: LogDamage, now = Date.now()): boolean {
  return keptIn === undefined ? now < goesAt(at) : existsSync(keptIn);
}

function goesAt(at: number): number {
  return at + toldDays * 86_400_000;
}

/** For `status`, `doctor` and owners. */
export function damageSentence(sessionKey: string, damage: LogDamage): string {
  const said = { key: sessionKey, time: new Date(damage.at).toISOString(), reason: outcomeOf(damage) };
  return damage.keptIn === undefined
    ? statusSentence("log_mended", { ...said, date: new Date(goesAt(damage.at)).toISOString().slice(0, 10) })
    : statusSentence("log_kept", { ...said, file: damage.keptIn });
}

function outcomeOf(damage: LogDamage): string {
  if (lostEvents(damage) === 0) return statusSentence("all_restored");
  const ranges = damage.lost.map(({ from_seq: from, to_seq: to }) => (from === to ? `${from}` : `${from} to ${to}`));
  return statusSentence(lostEvents(damage) === 1 ? "lost_event" : "lost_events", { list: ranges.join(", ") });
}
