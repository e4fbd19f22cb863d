import path from "node:path";
import { messageOf } from "../errors.js";
import type { Logger } from "../log.js";
import { outsideResults } from "../policy/zones.js";
import { cutText } from "../util/cut-text.js";
import { writeWhole } from "./files/write.js";
import type { ToolContext, ToolResult } from "./tool.js";

/** What a tool result may cost in the model's context, the note about the cut included. */
const maxCharacters = 16_000;
const roomForNote = 400;

/** A result as the model gets it: what is over the limit stands in a file of the session's folder instead. */
export async function cutResult(
  name: string,
  result: ToolResult,
  context: ToolContext,
  log: Logger,
): Promise<ToolResult> {
  if (result.text.length <= maxCharacters) return result;
  const shown = cutText(result.text, maxCharacters - roomForNote);
  // What others wrote stays marked as such when it is read again.
  const folder = result.outside === undefined ? "tool-results" : outsideResults;
  const file = path.join(folder, `${name}-${safeName(context.toolCallId)}.txt`);
  const total = `${result.text.length} characters in all`;
  try {
    await writeWhole(path.join(context.folder, file), result.text, { within: context.folder });
    return {
      ...result,
      text: `${shown}\n\n[Cut here: ${total}. The whole text is in ${file}; read_file can read on.]`,
    };
  } catch (error) {
    log.warn("the rest of a tool result could not be kept", {
      tool: name,
      turnId: context.turnId,
      error: messageOf(error),
    });
    return { ...result, text: `${shown}\n\n[Cut here: ${total}. The rest could not be kept.]` };
  }
}

/** Call ids come from the model's side and must not choose a place. */
function safeName(id: string): string {
  return id.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 80) || "call";
}
