import { draft, type EventDraft } from "../../../events/event.js";
import type { LedgerEntry } from "../../engine.js";
import { settledCode } from "../../message-ends.js";
import { loadJournal } from "../journal/load.js";
import { putAway } from "../journal/put-away.js";
import type { EmbeddedEngineOptions } from "../options.js";
import { createParts } from "../parts.js";

/** Ends lost messages in their conversations, for good. Nobody else may have the files open. */
export async function noteSettled(options: EmbeddedEngineOptions, lost: readonly LedgerEntry[]): Promise<void> {
  const { home, log, logs } = options;
  const known = { logs: logs.all ?? (() => []), logPathOf: logs.pathOf, logsMark: logs.mark };
  const parts = createParts(options, await loadJournal(home, log, known));
  for (const { sessionKey, messageId } of lost) parts.writer.writeEvents(sessionKey, [settled(messageId)]);
  await parts.journal.sync();
  await putAway(parts);
}

function settled(messageId: string): EventDraft {
  return draft(
    "error_occurred",
    {
      code: settledCode,
      category: "runtime",
      message: "How this message ended is not known, because the record of it was lost. Somebody has dealt with it.",
      recoverable: false,
      scope: "inbound",
    },
    { source: "gateway", correlation_id: messageId },
  );
}
