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

/** False once the damaged file was deleted: its owner has seen it. */
export function isKept({ keptIn }: LogDamage): boolean {
  return keptIn === undefined || existsSync(keptIn);
}

/** For `status`, `doctor` and owners. */
export function damageSentence(sessionKey: string, damage: LogDamage): string {
  const said = { key: sessionKey, time: new Date(damage.at).toISOString(), reason: outcomeOf(damage) };
  return damage.keptIn === undefined
    ? statusSentence("log_mended", said)
    : statusSentence("log_kept", { ...said, file: damage.keptIn });
}

function outcomeOf(damage: LogDamage): string {
  if (lostEvents(damage) === 0) return statusSentence("all_restored");
  const ranges = damage.lost.map(({ from_seq: from, to_seq: to }) => (from === to ? `${from}` : `${from} to ${to}`));
  return statusSentence(lostEvents(damage) === 1 ? "lost_event" : "lost_events", { list: ranges.join(", ") });
}
