import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { messageOf } from "../errors.js";
import { currentName, findPackage, packagesFolder, readCurrent } from "../util/packages/folder.js";
import { packageOptions } from "../util/packages/options.js";
import { lockedVersion, readLock } from "./lock.js";

export interface ListedOption {
  readonly name: string;
  readonly about: string;
  readonly state: "added" | "beside" | "absent";
  /** `playwright-core 1.65.1`; of what is not there the version that would be installed. */
  readonly packages: readonly string[];
}

export interface OptionList {
  readonly options: readonly ListedOption[];
  /** One sentence each, with what to do. */
  readonly problems: readonly string[];
}

/** What can be added to a home, and what of it is there: added, or installed beside the program by somebody else. */
export function listOptions(home: string): OptionList {
  const problems: string[] = [];
  const added = addedTo(home, problems);
  const locked = readLock();
  const listed = Object.entries(packageOptions).map(([name, { packages, about }]): ListedOption => {
    const found = packages.map((one) => ({ one, version: versionIn(findPackage(one, home)) }));
    const isThere = found.every(({ version }) => version !== undefined);
    const wasAdded = added.includes(name);
    if (wasAdded && !isThere) problems.push(`${name} is damaged. Add it again: maxclaw add ${name}`);
    for (const { one, version } of wasAdded ? found : []) {
      const wanted = lockedVersion(locked, one);
      if (version !== undefined && version !== wanted)
        problems.push(
          `${one} is version ${version}, but this maxclaw was tested with ${wanted}. Run: maxclaw add ${name}`,
        );
    }
    return {
      name,
      about,
      state: wasAdded ? "added" : isThere ? "beside" : "absent",
      packages: found.map(({ one, version }) => `${one} ${version ?? lockedVersion(locked, one)}`),
    };
  });
  return { options: listed, problems };
}

function addedTo(home: string, problems: string[]): readonly string[] {
  try {
    return readCurrent(home)?.options ?? [];
  } catch (error) {
    const file = join(home, packagesFolder, currentName);
    problems.push(
      `${file} cannot be read, so what was added is not used: ${messageOf(error)} Add it again: maxclaw add`,
    );
    return [];
  }
}

const packageJson = z.object({ version: z.string() });

function versionIn(folder: string | undefined): string | undefined {
  if (folder === undefined) return undefined;
  try {
    return packageJson.parse(JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))).version;
  } catch {
    return undefined;
  }
}
