import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { makeFolder } from "../util/files/make-folder.js";
import { replaceFile } from "../util/files/replace-file.js";
import { type OwnFile, readOwnFile } from "./own-file.js";

export type NoteChange =
  | { readonly kind: "add"; readonly text: string }
  | { readonly kind: "replace"; readonly old: string; readonly text: string }
  | { readonly kind: "remove"; readonly old: string };

export type NoteOutcome = "done" | "known" | "missing" | "ambiguous" | "full";

export interface Notes {
  /**
   * Changes the file in one step. `known`: the note was there already; `missing` and `ambiguous`: the old text is not
   * there exactly once; `full`: the file would be longer than the model is shown of it.
   */
  change(change: NoteChange): Promise<NoteOutcome>;
}

/** As much of MEMORY.md as is in the model's context. */
const maxCharacters = 20_000;

/** The list of notes in a `MEMORY.md`, which people may edit as well. One object for each file. */
export function createNotes(file: OwnFile): Notes {
  const path = join(file.root, file.name);
  const state: { last: Promise<unknown> } = { last: Promise.resolve() };

  const apply = async (change: NoteChange): Promise<NoteOutcome> => {
    await makeFolder(dirname(path));
    const before = (await readOwnFile(file)) ?? "";
    const after = edited(before, change);
    if (typeof after !== "object") return after;
    if (after.text.length > maxCharacters && after.text.length > before.length) return "full";
    await replaceFile(join(await realpath(dirname(path)), basename(path)), after.text);
    return "done";
  };

  return {
    change(change) {
      const result = state.last.then(() => apply(change));
      state.last = result.catch(() => undefined);
      return result;
    },
  };
}

function edited(before: string, change: NoteChange): NoteOutcome | { readonly text: string } {
  if (change.kind === "add") {
    const line = `- ${oneLine(change.text)}`;
    if (before.split(/\r?\n/).some((known) => known.trim() === line)) return "known";
    const gap = before === "" || before.endsWith("\n") ? "" : "\n";
    return { text: `${before}${gap}${line}\n` };
  }
  const parts = before.split(change.old);
  if (parts.length !== 2) return parts.length < 2 ? "missing" : "ambiguous";
  const [head = "", tail = ""] = parts;
  if (change.kind === "replace") return { text: `${head}${oneLine(change.text)}${tail}` };
  // A note that was a whole line takes its line along.
  const lineStart = head.lastIndexOf("\n") + 1;
  const isBullet = /^[ \t]*(?:[-*][ \t]+)?$/.test(head.slice(lineStart));
  const end = /^[ \t]*(?:\r?\n|$)/.exec(tail);
  return isBullet && end !== null
    ? { text: `${head.slice(0, lineStart)}${tail.slice(end[0].length)}` }
    : { text: head + tail };
}

/** As a note is kept. */
export function oneLine(text: string): string {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(" ");
}
