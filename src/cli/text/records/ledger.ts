import { z } from "zod";
import type { LedgerEntry } from "../../../engine/engine.js";
import type { Uncounted } from "../../../offline/ledger.js";

const ends = ["answered", "undelivered", "refused", "cancelled", "failed", "pending", "lost", "settled"] as const;
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

const afterwards =
  "Look into these conversations. Once you have done what is needed, stop the gateway and run: maxclaw ledger settle <message> …";

/** A line for each conversation whose messages are not all counted. */
export function uncountedLines(uncounted: readonly Uncounted[]): readonly string[] {
  return uncounted.map(({ sessionKey, file, reason }) => {
    const where =
      sessionKey === undefined ? (file ?? "a log") : `${sessionKey}${file === undefined ? "" : ` (${file})`}`;
    return `not counted: messages of ${where}. ${reason}`;
  });
}

/** One line of counts, then one for each message whose answer did not arrive, and for each lost one. */
export function summaryOf(entries: readonly LedgerEntry[]): readonly string[] {
  const counts = ends.map((end) => [end, entries.filter((entry) => entry.end === end).length] as const);
  const parts = counts.filter(([end, count]) => count > 0 || end === "lost").map(([end, count]) => `${count} ${end}`);
  const undelivered = entries.filter(({ end }) => end === "undelivered");
  const lost = entries.filter(({ end }) => end === "lost");
  return [
    `${entries.length} accepted: ${parts.join(", ")}`,
    ...undelivered.map(
      ({ messageId, sessionKey }) => `undelivered: the answer to ${messageId} in ${sessionKey} did not arrive`,
    ),
    ...lost.map(
      ({ messageId, sessionKey, acceptedSeq }) =>
        `lost: ${messageId} in ${sessionKey}, accepted as event ${acceptedSeq} of that conversation`,
    ),
    ...(lost.length === 0 ? [] : [afterwards]),
  ];
}
