import path from "node:path";
import { messageOf } from "../errors.js";
import type { Logger } from "../log.js";
import { outsideResults } from "../policy/locations/zones.js";
import { cutText } from "../util/text/cut-text.js";
import { keepFile } from "./keep-file.js";
import type { ToolContext, ToolResult } from "./tool.js";

/** What a tool result may cost in the model's context, the note about the cut included. */
const maxCharacters = 16_000;
const roomForNote = 800;

/** A result as the model gets it: what is over the limit is in a file that the gateway keeps instead. */
export async function cutResult(
  name: string,
  result: ToolResult,
  context: ToolContext,
  log: Logger,
): Promise<ToolResult> {
  if (result.text.length <= maxCharacters) return result;
  const shown = cutText(result.text, maxCharacters - roomForNote);
  const total = `${result.text.length} characters in all`;
  try {
    const file = await keep(name, result.text, result.outside !== undefined, context);
    return {
      ...result,
      text: `${shown}\n\n[Cut here: ${total}. The whole text is in ${file}; read_file can read on.]`,
    };
  } catch (error) {
    log.warn("the rest of a tool result could not be kept", {
      tool: name,
      turnId: context.call.turnId,
      error: messageOf(error),
    });
    return { ...result, text: `${shown}\n\n[Cut here: ${total}. The rest could not be kept.]` };
  }
}

/** Keeps a text for the session. Gives its path, or undefined where the disk refuses. */
export async function keepWhole(
  name: string,
  text: string,
  isOutside: boolean,
  context: Pick<ToolContext, "folder" | "call" | "files">,
): Promise<string | undefined> {
  return await keep(name, text, isOutside, context).catch(() => undefined);
}

async function keep(
  name: string,
  text: string,
  isOutside: boolean,
  context: Pick<ToolContext, "folder" | "call" | "files">,
): Promise<string> {
  // What others wrote stays marked as such when it is read again.
  const file = path.join(
    isOutside ? outsideResults : "tool-results",
    `${name}-${safeName(context.call.toolCallId)}.txt`,
  );
  return await keepFile(file, text, context);
}

/** Call ids come from the model's side and must not choose a place. */
function safeName(id: string): string {
  return id.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 80) || "call";
}
