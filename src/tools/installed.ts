import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** True when an optional package is installed. Loads nothing. */
export function isInstalled(name: string): boolean {
  try {
    require.resolve(name);
    return true;
  } catch {
    return false;
  }
}

export function notInstalled(tool: string, packages: string): string {
  return `${tool} is not offered: npm install ${packages}`;
}
