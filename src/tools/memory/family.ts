import type { ToolFamily } from "../family.js";
import type { ToolContext } from "../tool.js";
import { memorySearchTool, type PastFinder, type SearchScope } from "./memory-search.js";
import { memoryWriteTool, type NoteKeeper } from "./memory-write.js";

export interface MemoryPorts {
  readonly past: PastFinder;
  /** The owner's notes, for a call. */
  readonly notes: (context: ToolContext) => NoteKeeper;
  readonly notesOfChat: (chat: string) => NoteKeeper;
  /** Who reads along where the call was made. */
  readonly whoseOf: (context: ToolContext) => { readonly audience: "owner" | "others"; readonly chat: string };
  readonly reachOf: (context: ToolContext) => SearchScope;
}

/** The tools that remember: the owner's memory where only owners read along, else that of the chat. */
export function openMemory({ past, notes, notesOfChat, whoseOf, reachOf }: MemoryPorts): ToolFamily {
  return {
    tools: [
      memorySearchTool(past, reachOf),
      memoryWriteTool((context) => {
        const { audience, chat } = whoseOf(context);
        return audience === "owner" ? { of: "owner", notes: notes(context) } : { of: "chat", notes: notesOfChat(chat) };
      }),
    ],
  };
}
