import { basename } from "node:path";
import { z } from "zod";
import { cutText } from "../../util/text/cut-text.js";
import { defineTool, failed, type ToolContext, type ToolResult } from "../tool.js";
import { loadContent } from "./load-content.js";
import { type Location, locate, outsideOf } from "./locate.js";
import { isReceived } from "./received.js";

const defaultLines = 2000;
/** Below the registry's limit, so that reading on goes by lines and not through a second file. */
const maxCharacters = 15_000;
const maxLineCharacters = 4000;

const input = z.object({
  path: z.string(),
  offset: z.int().min(1).optional().describe("first line, from 1"),
  limit: z.int().min(1).optional().describe("number of lines"),
});

/** `home`: where packages may have been added. */
export const createReadFile = (home?: string) =>
  defineTool({
    name: "read_file",
    description: "Read a text, PDF, docx, xlsx, pptx or image file.",
    input,
    effect: "read",
    risk: "access",
    origin: "builtin",

    async run({ path, offset = 1, limit = defaultLines }, context) {
      const located = await locate(path, "read", context);
      if (!located.ok) return located.result;
      const { location } = located;
      if (!location.exists) return failed(`${location.shown} does not exist.`);
      const content = await loadContent(location, context.signal, home);
      if (content.kind === "refused") return content.result;
      if (content.kind === "image") return { ...showImage(location, content), ...outsideOf(location) };

      const lines = toLines(content.text);
      if (lines.length === 0)
        return { text: "(empty file)", isError: false, summary: `read ${location.shown} (empty)` };
      if (offset > lines.length) return failed(`${location.shown} has only ${lines.length} lines.`);
      const chosen = fitting(lines.slice(offset - 1, offset - 1 + limit));
      const last = offset - 1 + chosen.length;
      const rest = last < lines.length ? `; read on with offset ${last + 1}` : "";
      const notes = [
        ...(location.note === undefined ? [] : [location.note]),
        ...(content.note === undefined ? [] : [content.note]),
        ...(offset > 1 || rest !== "" ? [`[lines ${offset}-${last} of ${lines.length}${rest}]`] : []),
      ];
      return {
        text: [chosen.join("\n"), ...notes].join("\n"),
        isError: false,
        ...outsideOf(location),
        ...addressesOf(location, context),
        summary: `read ${location.shown} (${chosen.length} ${chosen.length === 1 ? "line" : "lines"})`,
      };
    },
  });

export const readFileTool = createReadFile();

/** Those in a file that came with a message are as good as those in the message. */
function addressesOf({ path }: Location, context: ToolContext): Pick<ToolResult, "addresses"> {
  return isReceived(path, context) ? { addresses: "text" } : {};
}

function showImage(
  { path, shown, note }: Location,
  image: { readonly mimeType: string; readonly bytes: number },
): ToolResult {
  const text = `[${shown}: ${image.mimeType}, ${image.bytes} bytes]`;
  return {
    text: note === undefined ? text : `${text}\n${note}`,
    isError: false,
    summary: `looked at ${shown}`,
    images: [{ path, mimeType: image.mimeType, filename: basename(shown) }],
  };
}

/** Very long lines count as several, so that every part of a file can be reached by its number. */
function toLines(text: string): readonly string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines.flatMap((line) => (line.length <= maxLineCharacters ? [line] : pieces(line)));
}

function pieces(line: string): string[] {
  const parts: string[] = [];
  for (let rest = line; rest !== ""; rest = rest.slice(parts.at(-1)?.length)) {
    parts.push(cutText(rest, maxLineCharacters));
  }
  return parts;
}

function fitting(lines: readonly string[]): readonly string[] {
  let characters = 0;
  const end = lines.findIndex((line) => {
    characters += line.length + 1;
    return characters > maxCharacters;
  });
  return end === -1 ? lines : lines.slice(0, end);
}
