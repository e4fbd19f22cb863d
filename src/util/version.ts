import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The version in the package.json above this file, wherever it was compiled to. */
export function readVersion(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const found = versionIn(join(folder, "package.json"));
    if (found !== undefined) return found;
    if (folder === dirname(folder)) return "unknown";
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
