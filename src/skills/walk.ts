import type { Stats } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { Looks } from "./looks.js";

/** A skill file on disk. `stamp` changes when the file does. */
export interface SkillFile {
  readonly path: string;
  readonly name: string;
  readonly size: number;
  readonly stamp: string;
}

const maxDepth = 8;
const maxEntries = 5000;

/** What is looked at on a walk, so that the next one can be spared. */
export type Seen = Pick<Looks, "at" | "saw" | "doubt">;

/**
 * All skill files below a folder, sorted by path: `<name>.md` and `SKILL.md`, not README.md, nothing that starts with
 * `.` or `_`. Beside and below a SKILL.md other markdown belongs to that skill and is none of its own. Links are
 * followed, circles are not. A folder that cannot be read is as if empty.
 */
export async function walkSkills(root: string, looks: Seen = new Looks()): Promise<readonly SkillFile[]> {
  const found: SkillFile[] = [];
  const seen = new Set<string>();
  let entries = 0;

  const visit = async (folder: string, depth: number, isPartOfSkill: boolean): Promise<void> => {
    // Before its names are read: what comes meanwhile changes it.
    looks.at(folder);
    const real = await realpath(folder).catch(() => undefined);
    if (real === undefined || seen.has(real) || depth > maxDepth) return;
    seen.add(real);
    const names = (await readdir(folder).catch(() => [])).filter((name) => !/^[._]/.test(name)).sort();
    const holdsSkill = isPartOfSkill || (depth > 0 && names.some(isSkillDoc));
    const looked = names.slice(0, maxEntries - entries);
    entries += looked.length;
    // Side by side: each waits for another thread.
    const entriesHere = await Promise.all(
      looked.map(async (name) => ({ name, stats: await stat(path.join(folder, name)).catch(() => undefined) })),
    );
    for (const { name, stats } of entriesHere) {
      const full = path.join(folder, name);
      // A link that leads nowhere may lead somewhere later, and its folder would not change.
      if (stats === undefined) looks.doubt();
      if (stats?.isDirectory()) await visit(full, depth + 1, holdsSkill);
      else if (stats?.isFile() && (isSkillDoc(name) || (!holdsSkill && isSkillName(name)))) {
        looks.saw(full, stats);
        found.push(toSkillFile(full, name, folder, stats));
      }
    }
  };
  await visit(root, 0, false);
  return found;
}

function toSkillFile(full: string, name: string, folder: string, stats: Stats): SkillFile {
  return {
    path: full,
    name: isSkillDoc(name) ? path.basename(folder) : name.slice(0, -".md".length),
    size: stats.size,
    stamp: `${stats.mtimeMs}:${stats.ctimeMs}:${stats.size}:${stats.ino}`,
  };
}

function isSkillDoc(name: string): boolean {
  return name.toLowerCase() === "skill.md";
}

function isSkillName(name: string): boolean {
  return /.\.md$/i.test(name) && name.toLowerCase() !== "readme.md";
}
