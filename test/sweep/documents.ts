import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Evidence } from "./evidence.js";

/** After an orderly stop each session's document is whole and shows all of its log. Returns what is broken. */
export function checkDocuments(folder: string, { chats }: Pick<Evidence, "chats">): readonly string[] {
  const documents = readdirSync(folder).filter((name) => name.endsWith(".json") && !name.startsWith("."));
  const lastSequences = new Map<string, unknown>();
  for (const name of documents) {
    const document = JSON.parse(readFileSync(join(folder, name), "utf8")) as {
      readonly key: string;
      readonly metadata: { readonly lastSequence: number };
    };
    lastSequences.set(document.key, document.metadata.lastSequence);
  }
  return chats.flatMap(({ look: { key, lastSequence } }) =>
    lastSequence === (lastSequences.get(key) ?? 0)
      ? []
      : [`${key}: its document ends at ${lastSequences.get(key)}, its log at ${lastSequence}`],
  );
}
