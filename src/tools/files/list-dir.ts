import type { Dirent } from "node:fs";
import { lstat } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { keptFolderOf, keptNames } from "../../policy/locations/zones.js";
import { HeldFolder } from "../../util/files/held-folder.js";
import { resolveReal } from "../../util/files/real-path.js";
import { defineTool, failed, type ToolContext } from "../tool.js";
import { fileFailure } from "./failure.js";
import { locate, namesOutside } from "./locate.js";

const maxEntries = 500;
const maxDepth = 5;

export const listDirTool = defineTool({
  name: "list_dir",
  description: "List a folder with sizes in bytes.",
  input: z.object({
    path: z.string().optional(),
    depth: z.int().min(1).max(maxDepth).optional().describe("levels, default 1"),
  }),
  effect: "read",
  risk: "access",
  origin: "builtin",

  async run({ path: folder = ".", depth = 1 }, context) {
    const located = await locate(folder, "read", context);
    if (!located.ok) return located.result;
    const { location } = located;
    // The session's folder is created by the first file in it.
    const isOwn = path.resolve(context.folder, location.shown) === path.resolve(context.folder);
    if (!location.exists && !isOwn) return failed(`${location.shown} does not exist.`);
    try {
      const found = location.exists ? await listFolder(location.path, depth, context) : nothing;
      const lines = found.lines.length > 0 ? found.lines : ["(empty)"];
      const notes = [
        ...(found.isCut ? [`[more than ${maxEntries} entries; list a folder below]`] : []),
        ...(location.note === undefined ? [] : [location.note]),
        ...(isOwn ? [...(await keptNote(context)), `[workspace: ${context.files.workspace}]`] : []),
      ];
      const count = `${found.lines.length} ${found.lines.length === 1 ? "entry" : "entries"}`;
      const text = [...lines, ...notes].join("\n");
      return { text, isError: false, summary: `listed ${location.shown} (${count})`, ...namesOutside(found.outside) };
    } catch (error) {
      return fileFailure(error, location.shown);
    }
  },
});

/** What the gateway keeps of the session is read by names that look as if they were here. */
async function keptNote(context: ToolContext): Promise<readonly string[]> {
  const kept = await resolveReal(keptFolderOf(context.folder));
  if (!kept.ok || !kept.exists || !context.permissions.allows({ kind: "read", path: kept.path })) return [];
  await using held = await HeldFolder.open(kept.path);
  const names = (await held.entries()).map(({ name }) => name).filter((name) => keptNames.has(name));
  return names.length === 0 ? [] : [`[kept by the gateway, to read: ${names.sort().join("/, ")}/]`];
}

interface Listing {
  readonly lines: string[];
  readonly isCut: boolean;
  /** Whose names others had a say in. */
  readonly outside: ReadonlySet<string>;
}

const nothing: Listing = { lines: [], isCut: false, outside: new Set() };

async function listFolder(root: string, depth: number, context: ToolContext): Promise<Listing> {
  const lines: string[] = [];
  const outside = new Set<string>();
  const visit = async (folder: string, prefix: string, levels: number): Promise<boolean> => {
    context.signal.throwIfAborted();
    await using held = await HeldFolder.open(folder).catch((error: unknown) => {
      if (folder === root) throw error;
      return undefined;
    });
    if (held === undefined) return false;
    const isCut = await describeAll(held, prefix, levels);
    await held.assertUnmoved();
    return isCut;
  };
  const describeAll = async (held: HeldFolder, prefix: string, levels: number): Promise<boolean> => {
    const entries = await held.entries();
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const full = path.join(held.path, entry.name);
      // Only names with a dot can be closed inside of an open folder; they are not even mentioned.
      if (entry.name.startsWith(".") && (await context.permit({ kind: "read", path: full })) !== undefined) continue;
      if (lines.length >= maxEntries) return true;
      lines.push(`${prefix}${await describe(entry, held.at(entry.name))}`);
      const origin = await context.files.outsideOf(full, "name");
      if (origin !== undefined) outside.add(origin);
      if (entry.isDirectory() && levels > 1 && (await visit(full, `${prefix}${entry.name}/`, levels - 1))) return true;
    }
    return false;
  };
  const isCut = await visit(root, "", depth);
  return { lines, isCut, outside };
}

async function describe(entry: Dirent, full: string): Promise<string> {
  // A line break in a name would look like a second entry.
  const name = entry.name.replace(/\p{Cc}/gu, "?");
  if (entry.isDirectory()) return `${name}/`;
  if (entry.isSymbolicLink()) return `${name} (link)`;
  const stats = await lstat(full).catch(() => undefined);
  return stats === undefined ? name : `${name} ${stats.size}`;
}
