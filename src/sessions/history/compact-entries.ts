import type { ContentPart, TextPart } from "../../events/content.js";
import { type AssistantEntry, noCalls, noResults, nowhere, type UserEntry, writersOf } from "./history-entries.js";

/** The messages as they are between two turns: without thinking, which is not given back any more. */
export function restedEntries(entries: readonly (UserEntry | AssistantEntry)[]): (UserEntry | AssistantEntry)[] {
  return entries.map((entry) =>
    entry.role === "user" || entry.rested === undefined
      ? entry
      : { ...entry, content: entry.rested.content, rested: undefined },
  );
}

/** What was read from bytes, as small as it was made at first: there each short text is one of its own, and each object has room for more. */
export function compactEntries(entries: readonly (UserEntry | AssistantEntry)[]): (UserEntry | AssistantEntry)[] {
  let last: string | undefined;
  const made: (UserEntry | AssistantEntry)[] = [];
  for (const entry of entries) {
    const { seq, tokens } = entry;
    const turnId = entry.turnId === last ? last : entry.turnId;
    last = turnId;
    const outside = entry.outside.length === 0 ? nowhere : entry.outside;
    if (entry.role === "assistant") {
      const { rested } = entry;
      const before = made.findLast((one) => one.role === "assistant");
      const model = entry.model === before?.model ? before.model : entry.model;
      const hasCalls = entry.calls.length > 0;
      const [calls, results] = [hasCalls ? entry.calls : noCalls, hasCalls ? entry.results : noResults];
      const content = compactParts(entry.content);
      made.push({ role: "assistant", seq, turnId, model, content, calls, results, outside, rested, tokens });
    } else if (entry.isSummary === true) made.push(entry);
    else {
      const [writer] = entry.writers;
      const writers = writer === undefined || entry.writers.length > 1 ? entry.writers : writersOf(made, writer);
      made.push({ role: "user", seq, turnId, content: compactParts(entry.content), tokens, outside, writers });
    }
  }
  return made;
}

function compactParts<T extends ContentPart>(parts: readonly T[]): readonly (T | TextPart)[] {
  return parts.map((part) => (part.type === "text" ? { type: "text", text: part.text } : part));
}
