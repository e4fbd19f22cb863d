import { z } from "zod";
import { messageOf } from "../../../errors.js";
import { draft } from "../../../events/event.js";
import type { Logger } from "../../../log.js";
import { damageKind, type LogDamage } from "../../log-damage.js";
import type { Writer } from "../logs/writer.js";
import type { LiveRecords } from "../state.js";
import type { FoundDamage } from "./mend-log.js";
import { type SeqRange, seqRange } from "./seq-range.js";

const stored = z.object({ lost: z.array(seqRange) });

/** Which events of a session are known to be lost. */
export function knownLoss({ facts }: LiveRecords, sessionKey: string): readonly SeqRange[] {
  const parsed = stored.safeParse(facts.get(damageKind)?.get(sessionKey));
  return parsed.success ? parsed.data.lost : [];
}

/** Reports damage: in the session's log, in a record that `status` reads, and in the gateway's log. */
export function recordDamage(
  parts: { readonly records: LiveRecords; readonly writer: Writer; readonly log: Logger; readonly now: () => number },
  damage: FoundDamage,
): void {
  const { records, writer, log, now } = parts;
  const { sessionKey, file, keptIn, lost, restored } = damage;
  log.error("a session log was damaged; the session goes on with everything that can be read", { ...damage });
  const event = draft(
    "session_log_mended",
    { lost: [...lost], restored, ...(keptIn === undefined ? {} : { kept_in: keptIn }) },
    { source: "gateway" },
  );
  const before = records.facts.get(damageKind)?.get(sessionKey);
  const value: LogDamage = {
    file,
    at: now(),
    lost: [...knownLoss(records, sessionKey), ...lost],
    restored,
    ...(keptIn === undefined ? keptBefore(before) : { keptIn }),
    eventId: event.event_id,
    isTold: false,
  };
  try {
    const written = writer.writeEvents(sessionKey, [event], [{ o: "put", kind: damageKind, id: sessionKey, value }]);
    written.publish().catch((error: unknown) => log.error("reporting a damaged log failed", { error }));
  } catch (error) {
    // The next reader finds the gap again.
    log.error(`the damage of a session log could not be recorded: ${messageOf(error)}`, { session: sessionKey });
  }
}

function keptBefore(value: unknown): { readonly keptIn?: string } {
  const parsed = z.object({ keptIn: z.string() }).safeParse(value);
  return parsed.success ? parsed.data : {};
}
