import { join } from "node:path";
import { ConfigError, messageOf } from "../errors.js";
import { isMissing } from "../util/error-code.js";
import { replaceFile } from "../util/files/replace-file.js";
import { readText } from "./read-text.js";
import { isObject, type JsonObject } from "./substitute.js";

/**
 * Adds values to `<home>/secrets.json`, which only its owner can read. Others that are there are kept.
 *
 * @throws {ConfigError} when the file that is there cannot be read; it is left alone then
 */
export async function saveSecrets(home: string, values: Readonly<Record<string, string>>): Promise<void> {
  const path = join(home, "secrets.json");
  const known = await readObject(path);
  await replaceFile(path, `${JSON.stringify({ ...known, ...values }, undefined, 2)}\n`, { mode: 0o600 });
}

async function readObject(path: string): Promise<JsonObject> {
  try {
    const parsed: unknown = JSON.parse(await readText(path));
    if (isObject(parsed)) return parsed;
  } catch (error) {
    if (isMissing(error)) return {};
    // The parser's own words may quote the file.
    const why = error instanceof SyntaxError ? "it is not JSON" : messageOf(error);
    throw new ConfigError(`${path} cannot be read (${why}), so nothing was saved. Correct the file and answer again.`);
  }
  throw new ConfigError(`${path} is not a JSON object, so nothing was saved. Correct the file and answer again.`);
}
