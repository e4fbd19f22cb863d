import { z } from "zod";
import type { LedgerEntry } from "../engine/engine.js";

const ends = ["answered", "refused", "cancelled", "failed", "pending", "lost"] as const;
const answer = z.object({
  entries: z.array(
    z.object({
      messageId: z.string(),
      sessionKey: z.string(),
      acceptedSeq: z.number(),
      end: z.enum(ends),
      endSeq: z.number().optional(),
    }),
  ),
});

export function parseLedger(body: unknown): readonly LedgerEntry[] {
  return answer.parse(body).entries;
}

/** One line of counts, then one for each lost message. */
export function summaryOf(entries: readonly LedgerEntry[]): readonly string[] {
  const counts = ends.map((end) => [end, entries.filter((entry) => entry.end === end).length] as const);
  const parts = counts.filter(([end, count]) => count > 0 || end === "lost").map(([end, count]) => `${count} ${end}`);
  const lost = entries.filter(({ end }) => end === "lost");
  return [
    `${entries.length} accepted: ${parts.join(", ")}`,
    ...lost.map(
      ({ messageId, sessionKey, acceptedSeq }) => `lost: ${messageId} in ${sessionKey}, accepted at ${acceptedSeq}`,
    ),
  ];
}
