import path from "node:path";
import { z } from "zod";
import { messageOf } from "../../../errors.js";
import { runBoundedWorker } from "../../../util/async/bounded-worker.js";
import { resolveReal, statReal } from "../../../util/files/real-path.js";
import { cutText } from "../../../util/text/cut-text.js";
import { defineTool, failed, type ToolContext } from "../../tool.js";
import { fileFailure } from "../failure.js";
import { type Location, locateFolder, workspaceHint } from "../locate.js";
import { oneLine } from "./glob.js";
import { createGlob } from "./glob-pattern.js";
import { type Walk, walkFiles } from "./walk.js";

const maxFiles = 10_000;
const maxMatches = 200;
const maxCharacters = 15_000;
const timeoutMs = 10_000;
const memoryMb = 256;
const script = new URL("./grep-worker.js", import.meta.url);

const found = z.object({ file: z.int(), line: z.int(), text: z.string() });
type Found = z.infer<typeof found>;
const skipped = z.object({ file: z.int(), skipped: z.enum(["large", "binary", "linked"]) });
type Skipped = z.infer<typeof skipped>;
const maxSkippedNames = 10;

export const grepTool = defineTool({
  name: "grep",
  description: "Search the lines of text files by regular expression.",
  input: z.object({
    pattern: z.string().min(1).max(1000),
    path: z.string().optional(),
    glob: z.string().optional(),
    ignore_case: z.boolean().optional(),
  }),
  effect: "read",
  risk: "access",
  origin: "builtin",

  async run({ pattern, path: folder = ".", glob = "**", ignore_case = false }, context) {
    const flags = ignore_case ? "iu" : "u";
    const source = regexSource(pattern, flags);
    if (!source.ok) return failed(source.sentence);
    const matches = createGlob(glob);
    if (matches === undefined)
      return failed(`"${cutText(oneLine(glob), 80)}" is not a valid glob pattern, or has too many alternatives.`);
    const located = await locateFolder(folder, context);
    if (!located.ok) return located.result;
    const { location } = located;
    try {
      const endsAt = performance.now() + timeoutMs;
      const walk = await candidates(location, context, matches, endsAt);
      const search = await searchFiles(walk, { source: pattern, flags: source.flags }, context, endsAt);
      return await report(search, walk, location, context);
    } catch (error) {
      return fileFailure(error, location.shown);
    }
  },
});

/** Patterns that only the older, more lenient syntax knows are taken by it. */
function regexSource(
  pattern: string,
  flags: string,
): { readonly ok: true; readonly flags: string } | { readonly ok: false; readonly sentence: string } {
  for (const tried of [flags, flags.replace("u", "")]) {
    try {
      new RegExp(pattern, tried);
      return { ok: true, flags: tried };
    } catch (error) {
      if (!tried.includes("u"))
        return { ok: false, sentence: `pattern is not a valid regular expression: ${messageOf(error)}` };
    }
  }
  return { ok: false, sentence: "pattern is not a valid regular expression." };
}

async function candidates(
  location: Location,
  context: ToolContext,
  matches: (name: string) => boolean,
  endsAt: number,
): Promise<Walk> {
  if (!location.exists) return { files: [], isCut: false };
  if (!(await statReal(location.path)).isDirectory())
    return { files: [{ path: location.path, name: location.shown }], isCut: false };
  return await walkFiles(location.path, context, matches, { files: maxFiles, endsAt });
}

interface Search {
  readonly found: readonly Found[];
  /** Files that could not be searched. */
  readonly skipped: readonly Skipped[];
  readonly isCut: boolean;
  /** Ended by its limits before all files were looked at. */
  readonly why?: "time" | "memory";
}

async function searchFiles(
  { files }: Walk,
  regex: { readonly source: string; readonly flags: string },
  context: ToolContext,
  endsAt: number,
): Promise<Search> {
  if (files.length === 0) return { found: [], skipped: [], isCut: false };
  const lines: Found[] = [];
  const passedBy: Skipped[] = [];
  const folder = await resolveReal(context.folder);
  const own = folder.ok ? folder.path : context.folder;
  const data = { files: files.map((file) => file.path), own, ...regex, maxMatches: maxMatches + 1 };
  const end = await runBoundedWorker(
    script,
    {
      data,
      onMessage(message) {
        const { data: parsed } = z.union([found, skipped]).safeParse(message);
        if (parsed !== undefined && "skipped" in parsed) passedBy.push(parsed);
        else if (parsed !== undefined) lines.push(parsed);
      },
    },
    { timeoutMs: Math.max(1, endsAt - performance.now()), memoryMb },
    context.signal,
  );
  if (end.kind === "failed") throw end.error;
  const isCut = lines.length > maxMatches;
  const why = end.kind === "timeout" ? "time" : end.kind === "memory" ? "memory" : undefined;
  return {
    found: lines.slice(0, maxMatches),
    skipped: passedBy,
    isCut,
    ...(why === undefined || isCut ? {} : { why }),
  };
}

/** Nobody expects lines of pictures; of a file that was named, or that is only too large, it must be said. */
function skippedNote({ skipped }: Search, { files }: Walk, isNamed: boolean): readonly string[] {
  const large = skipped.filter((one) => one.skipped === "large");
  if (large.length > 0) {
    const names = large.slice(0, maxSkippedNames).map(({ file }) => oneLine(files[file]?.name ?? ""));
    const more = large.length > names.length ? ` and ${large.length - names.length} more` : "";
    return [`[not searched, larger than 5 MB: ${names.join(", ")}${more}]`];
  }
  const linked = skipped.filter((one) => one.skipped === "linked").length;
  if (linked > 0) return [`[not searched, because a second name (hard link) may be elsewhere: ${linked}]`];
  return isNamed && skipped.length > 0 ? ["[not searched: not a text file]"] : [];
}

async function report(search: Search, walk: Walk, location: Location, context: ToolContext) {
  const { found: matches, isCut, why } = search;
  const lines: string[] = [];
  let characters = 0;
  let shown = 0;
  const outside = new Set<string>();
  for (const { file, line, text } of matches) {
    const { name, path: full } = walk.files[file] ?? { name: "", path: location.path };
    const shownLine = `${oneLine(name)}:${line}: ${text}`;
    characters += shownLine.length + 1;
    if (characters > maxCharacters) break;
    lines.push(shownLine);
    shown += 1;
    const origin = await context.files.outsideOf(path.resolve(full));
    if (origin !== undefined) outside.add(origin);
  }
  if (shown === 0) lines.push("Nothing matches.", ...workspaceHint(location, context));
  lines.push(...skippedNote(search, walk, walk.files[0]?.path === location.path));
  if (why === "time") lines.push(`[stopped after ${timeoutMs / 1000} s: simplify pattern or narrow path]`);
  if (why === "memory") lines.push("[stopped: that takes too much memory]");
  if (isCut || shown < matches.length || walk.isCut) lines.push("[there is more; narrow pattern, path or glob]");
  if (location.note !== undefined) lines.push(location.note);
  return {
    text: lines.join("\n"),
    isError: false,
    summary: `found ${shown} ${shown === 1 ? "line" : "lines"}`,
    ...(outside.size === 0 ? {} : { outside: [...outside].slice(0, 3).join(", ") }),
  };
}
