import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { readOnly } from "../../util/files/real-path.js";
import { redactConfig } from "../redact.js";

/** The config file as it should be in a backup. */
export interface ConfigOfBackup {
  readonly config: { readonly name: string; readonly content: Buffer } | undefined;
  readonly placeholders: readonly string[];
  /** Why the file is left out, as a sentence. */
  readonly problem?: string;
}

/** Without secrets, each of them is a placeholder. A file that cannot be parsed is left out then. */
export async function configOfBackup(path: string | undefined, hasSecrets: boolean): Promise<ConfigOfBackup> {
  if (path === undefined) return { config: undefined, placeholders: [] };
  const name = [".yaml", ".yml"].includes(extname(path).toLowerCase()) ? "config.yaml" : "config.json";
  const content = await readFile(path, { flag: readOnly });
  if (hasSecrets) return { config: { name, content }, placeholders: [] };
  const redacted = await redactConfig(path, content.toString());
  if (redacted === undefined) {
    const problem = `${path} is not in the backup: it cannot be parsed, so nobody can tell what in it is secret`;
    return { config: undefined, placeholders: [], problem };
  }
  return { config: { name, content: Buffer.from(redacted.text) }, placeholders: redacted.placeholders };
}
