import type { Dirent } from "node:fs";
import path from "node:path";
import { HeldFolder } from "../../../util/files/held-folder.js";
import type { ToolContext } from "../../tool.js";

/** A regular file below a folder, which policy lets be read. */
export interface FoundFile {
  /** Absolute, every link followed. */
  readonly path: string;
  /** Below the folder, with `/` between the names. */
  readonly name: string;
}

export interface Walk {
  readonly files: readonly FoundFile[];
  /** There was more, or no time for it. */
  readonly isCut: boolean;
}

const maxEntries = 50_000;
const maxDepth = 30;
/** Large, and nobody means them. */
const passedBy: ReadonlySet<string> = new Set(["node_modules", ".git"]);

/**
 * All files below a resolved folder in order of their names, for as long as there is time. Links are not followed, and
 * what policy does not plainly allow is passed by.
 */
export async function walkFiles(
  root: string,
  context: Pick<ToolContext, "permissions" | "signal">,
  isWanted: (name: string) => boolean,
  limits: { readonly files: number; readonly endsAt: number },
): Promise<Walk> {
  const files: FoundFile[] = [];
  const mayRead = (target: string): boolean => context.permissions.allows({ kind: "read", path: target });
  const state = { entries: 0, isCut: false };
  const isOver = (): boolean => {
    state.isCut ||= state.entries > maxEntries || files.length >= limits.files || performance.now() > limits.endsAt;
    return state.isCut;
  };
  const visit = async (folder: string, prefix: string, depth: number): Promise<void> => {
    context.signal.throwIfAborted();
    for (const entry of await entriesOf(folder, folder === root)) {
      state.entries += 1;
      if (isOver()) return;
      const full = path.join(folder, entry.name);
      const name = `${prefix}${entry.name}`;
      if (entry.isDirectory()) {
        if (passedBy.has(entry.name) || !mayRead(full)) continue;
        if (depth >= maxDepth) state.isCut = true;
        else await visit(full, `${name}/`, depth + 1);
      } else if (entry.isFile() && isWanted(name) && mayRead(full)) files.push({ path: full, name });
      if (state.isCut) return;
    }
  };
  await visit(root, "", 1);
  return { files, isCut: state.isCut };
}

async function entriesOf(folder: string, isRoot: boolean): Promise<readonly Dirent[]> {
  try {
    await using held = await HeldFolder.open(folder);
    return (await held.entries()).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (isRoot) throw error;
    return [];
  }
}
