import { existsSync } from "node:fs";
import { join } from "node:path";

/** The config file that is in force in a home, if there is one. */
export function existingConfig(home: string): string | undefined {
  return ["config.json", "config.yaml"].map((name) => join(home, name)).find((path) => existsSync(path));
}
