import type { StoredEvent } from "../../../events/event.js";
import { parseSegment, readIfThere } from "../journal/segment.js";

/** The events of one session that are in the journal, up to what is on the disk. */
export function eventsInJournal(
  { path, bytes }: { readonly path: string; readonly bytes: number },
  sessionKey: string,
): readonly StoredEvent[] {
  const content = readIfThere(path)?.subarray(0, bytes);
  if (content === undefined) return [];
  return parseSegment(path, content).lines.flatMap(({ line }) =>
    line.kind === "transaction" || line.kind === "checkpoint"
      ? line.ops.flatMap((operation) =>
          operation.o === "event" && operation.event.session_key === sessionKey ? [operation.event] : [],
        )
      : [],
  );
}
