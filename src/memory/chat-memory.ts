import { lstatSync } from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";
import { alreadyAlone } from "../util/async/alone.js";
import { readStart } from "./files.js";
import { createNotes, type Notes } from "./notes.js";
import { appendOlderText, type OlderText } from "./older-text.js";
import { isMissing, type OwnFile } from "./own-file.js";
import type { MarkForeign } from "./paragraphs.js";

/** What guests and groups have instead of the owner's memory: each chat its own. `chat` is `channel:chat`. */
export interface ChatMemory {
  /** Its MEMORY.md as the model is shown it; undefined where it says nothing. */
  read(chat: string): Promise<string | undefined>;
  /** What changes it. */
  notes(chat: string): Notes;
  /** Adds to its HISTORY.md what goes out of the model's sight. */
  keepOlderText(chat: string, older: OlderText): Promise<void>;
  forget(chat: string): Promise<void>;
  notesFile(chat: string): OwnFile;
}

/** Nobody asks its people before it is written: it may not fill the disk. */
const maxHistoryBytes = 4 * 1024 * 1024;

/**
 * `folderOf`: where the gateway keeps what it writes of a chat, out of the reach of tools of other chats. `alone`: other nodes
 * may change the notes.
 */
export function createChatMemory(
  folderOf: (chat: string) => string,
  markForeign: MarkForeign,
  alone = alreadyAlone,
): ChatMemory {
  const fileOf = (chat: string, name: string): OwnFile => {
    const folder = folderOf(chat);
    return { root: path.dirname(folder), name: path.join(path.basename(folder), "memory", name) };
  };
  const notesFile = (chat: string): OwnFile => fileOf(chat, "MEMORY.md");
  /** While they are at work, so that changes of one file take turns. */
  const atWork = new Map<string, { readonly notes: Notes; count: number }>();

  return {
    notesFile,
    async read(chat) {
      const file = notesFile(chat);
      try {
        // Most chats have none, and each message asks.
        if (lstatSync(path.join(file.root, file.name), { throwIfNoEntry: false }) === undefined) return undefined;
        const text = await readStart(file);
        return text === "" ? undefined : text;
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
    notes: (chat) => ({
      async change(change) {
        const entry = atWork.get(chat) ?? { notes: createNotes(notesFile(chat)), count: 0 };
        atWork.set(chat, entry);
        entry.count += 1;
        try {
          return await alone(() => entry.notes.change(change));
        } finally {
          entry.count -= 1;
          if (entry.count === 0) atWork.delete(chat);
        }
      },
    }),
    keepOlderText: (chat, older) =>
      appendOlderText(fileOf(chat, "HISTORY.md"), older, { maxBytes: maxHistoryBytes, markForeign }),
    forget: (chat) => rm(path.join(folderOf(chat), "memory"), { recursive: true, force: true }),
  };
}
