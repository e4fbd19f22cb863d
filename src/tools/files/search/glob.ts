import { resolve } from "node:path";
import { z } from "zod";
import { statReal } from "../../../util/files/real-path.js";
import { cutText } from "../../../util/text/cut-text.js";
import { defineTool, failed } from "../../tool.js";
import { fileFailure } from "../failure.js";
import { locateFolder, namesOutside, workspaceHint } from "../locate.js";
import { receivedFilesOf } from "../received.js";
import { createGlob } from "./glob-pattern.js";
import { walkFiles } from "./walk.js";

const maxFiles = 300;
/** Of the files that were sent, found by the names that people gave them. */
const maxSent = 50;
const timeoutMs = 10_000;

export const globTool = defineTool({
  name: "glob",
  description: "Find files by name: *.md, src/**/*.{ts,js}.",
  input: z.object({ pattern: z.string(), path: z.string().optional() }),
  effect: "read",
  risk: "access",
  origin: "builtin",

  async run({ pattern, path = "." }, context) {
    const matches = createGlob(pattern);
    if (matches === undefined)
      return failed(`"${cutText(oneLine(pattern), 80)}" is not a valid glob pattern, or has too many alternatives.`);
    const located = await locateFolder(path, context);
    if (!located.ok) return located.result;
    const { location } = located;
    try {
      if (location.exists && !(await statReal(location.path)).isDirectory())
        return failed(`${location.shown} is not a folder.`);
      const limits = { files: maxFiles, endsAt: performance.now() + timeoutMs };
      const { files, isCut } = location.exists
        ? await walkFiles(location.path, context, matches, limits)
        : { files: [], isCut: false };
      const isOwn = resolve(context.folder, location.shown) === resolve(context.folder);
      const sent = isOwn
        ? (await receivedFilesOf(context)).filter(({ shown }) => matches(shown)).slice(0, maxSent)
        : [];
      const lines = [...files, ...sent].map(({ name }) => oneLine(name));
      if (lines.length === 0) lines.push("No file matches.", ...workspaceHint(location, context));
      if (isCut) lines.push("[more was not looked at; narrow pattern or path]");
      if (location.note !== undefined) lines.push(location.note);
      const outside = new Set<string>();
      for (const file of [...files, ...sent]) {
        const origin = await context.files.outsideOf(file.path, "name");
        if (origin !== undefined) outside.add(origin);
      }
      const summary = `found ${files.length + sent.length} files for ${oneLine(pattern)}`;
      return { text: lines.join("\n"), isError: false, summary, ...namesOutside(outside) };
    } catch (error) {
      return fileFailure(error, location.shown);
    }
  },
});

/** A line break in a name would look like a second one. */
export function oneLine(name: string): string {
  return name.replace(/\p{Cc}/gu, "?");
}
