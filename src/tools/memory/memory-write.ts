import { z } from "zod";
import { defineTool, failed, type Tool, type ToolContext, type ToolResult } from "../tool.js";

/** The part of the memory that the tool writes to. */
export interface NoteKeeper {
  change(
    change:
      | { readonly kind: "add"; readonly text: string }
      | { readonly kind: "replace"; readonly old: string; readonly text: string }
      | { readonly kind: "remove"; readonly old: string },
  ): Promise<"done" | "known" | "missing" | "ambiguous" | "full">;
}

/** Whose notes a call changes: the owner's, or those of its chat. */
export type NotesOf = (context: ToolContext) => { readonly of: "owner" | "chat"; readonly notes: NoteKeeper };

const input = z.object({ text: z.string().max(2000).optional(), old: z.string().max(2000).optional() });

export function memoryWriteTool(notesOf: NotesOf): Tool {
  return defineTool({
    name: "memory_write",
    description:
      "Keep a lasting fact about the person, one short sentence, in MEMORY.md, which you always see. `old`: text to replace, or without `text` to forget.",
    input,
    effect: "idempotent",
    risk: "access",
    origin: "builtin",

    async run({ text = "", old = "" }, context): Promise<ToolResult> {
      if (text.trim() === "" && old.trim() === "") return failed("Say what to keep in `text`.");
      const { of, notes } = notesOf(context);
      const refusal = await context.permit({ kind: "memory", access: "write", of });
      if (refusal !== undefined) return failed(refusal);
      const outcome = await notes.change(
        old.trim() === ""
          ? { kind: "add", text }
          : text.trim() === ""
            ? { kind: "remove", old }
            : { kind: "replace", old, text },
      );
      switch (outcome) {
        case "done":
          return done(old.trim() === "" ? "remembered" : text.trim() === "" ? "forgot" : "changed a note");
        case "known":
          return done("knew that already");
        case "missing":
          return failed("MEMORY.md does not contain that text. Copy it exactly from your memory.");
        case "ambiguous":
          return failed("MEMORY.md contains that text more than once. Give a longer piece of it.");
        case "full":
          return failed("MEMORY.md is full (20,000 characters). Shorten or forget older notes first.");
        default:
          return outcome satisfies never;
      }
    },
  });
}

function done(what: string): ToolResult {
  return { text: `Done: ${what}.`, isError: false, summary: what };
}
