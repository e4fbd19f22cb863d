import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** This program's own package. */
export interface OwnPackage {
  /** Where its package.json, its pages and its skills are. */
  readonly folder: string;
  readonly version: string;
}

/** The package around this file, wherever it was compiled or bundled to. */
export function ownPackage(): OwnPackage {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const version = versionIn(join(folder, "package.json"));
    if (version !== undefined) return { folder, version };
    if (folder === dirname(folder)) return { folder, version: "unknown" };
  }
}

function versionIn(path: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(readFileSync(path, "utf8"));
    const isOurs = typeof parsed === "object" && parsed !== null && "name" in parsed && parsed.name === "maxclaw";
    return isOurs && "version" in parsed && typeof parsed.version === "string" ? parsed.version : undefined;
  } catch {
    return undefined;
  }
}
