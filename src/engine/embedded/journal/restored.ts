import { draft } from "../../../events/event.js";
import type { QueueBodies } from "../../engine.js";
import type { WorkItem } from "../lanes/work-table.js";
import type { EmbeddedEngineOptions } from "../options.js";
import { createParts } from "../parts.js";
import { loadJournal } from "./load.js";
import { putAway } from "./put-away.js";

export interface RestoredWork {
  /** Accepted messages without an end. */
  readonly messages: number;
  /** Replies without a receipt. */
  readonly replies: number;
}

const why = "Restored from a backup: it may have been sent after the backup was made.";

/**
 * Opens files that come from a backup, which proves that they can be opened, and notes of each reply that waits that it
 * may have been sent since: it is sent, and its log says that it may be a repeat. Nobody else may have the files open.
 *
 * @throws {EngineError} as opening them would
 */
export async function noteRestored(options: EmbeddedEngineOptions): Promise<RestoredWork> {
  const parts = createParts(options, await loadJournal(options.home, options.log));
  const { records, writer, journal } = parts;
  const replies = records.work.lanes("outbound").flatMap(({ items }) => items);
  for (const item of replies) {
    const { id, sessionKey } = item.work;
    const attempts = item.attempts + 1;
    writer.writeEvents(sessionKey, [unknownFate(item, attempts)], [{ o: "attempt", queue: "outbound", id, attempts }]);
  }
  await journal.sync();
  await putAway(parts);
  return { messages: records.work.count("inbound"), replies: replies.length };
}

function unknownFate({ work: { id, body } }: WorkItem, attempt: number) {
  // What is in an outbound lane has the body of one.
  const { channel, chatId, turnId, correlationId, queuedEventId } = body as QueueBodies["outbound"];
  return draft(
    "outbound_delivery_changed",
    { outbound_id: id, channel, chat_id: chatId, status: "unknown", attempt, error: why },
    {
      source: "gateway",
      ...(turnId === undefined ? {} : { turn_id: turnId }),
      ...(correlationId === undefined ? {} : { correlation_id: correlationId }),
      ...(queuedEventId === undefined ? {} : { causation_id: queuedEventId }),
    },
  );
}
