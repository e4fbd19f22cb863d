import { open } from "node:fs/promises";
import { readOnly } from "../util/files/real-path.js";

/**
 * The text of a file of settings, without a byte order mark. A pipe that nobody writes to holds nobody up.
 *
 * @throws for what is not a regular file; what the system says, e.g. `ENOENT`
 */
export async function readText(path: string): Promise<string> {
  return (await readBytes(path)).toString("utf8").replace(/^\uFEFF/, "");
}

/** The same, byte by byte: for a copy. */
export async function readBytes(path: string): Promise<Buffer> {
  await using file = await open(path, readOnly);
  if (!(await file.stat()).isFile()) throw new Error("it is not a file");
  return await file.readFile();
}
