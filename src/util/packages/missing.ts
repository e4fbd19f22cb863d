import { statusSentence } from "../../util/words/status-sentences.js";
import { findPackage } from "./folder.js";
import { type PackageOption, packageOptions } from "./options.js";

/** What to run so that all packages of this option are there, as a sentence; undefined: they are, or it needs none. */
export function whatToAdd(
  option: string | undefined,
  home: string | undefined,
  options: Readonly<Record<string, PackageOption>> = packageOptions,
): string | undefined {
  if (option === undefined) return undefined;
  const packages = options[option]?.packages ?? [];
  const missing = packages.filter((name) => findPackage(name, home) === undefined);
  if (missing.length === 0) return undefined;
  const code = missing.length === 1 ? "package_absent" : "packages_absent";
  return statusSentence(code, { packages: missing.join(", "), option });
}
