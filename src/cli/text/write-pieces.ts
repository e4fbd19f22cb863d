import { type FileHandle, open } from "node:fs/promises";
import { codeOf } from "../../util/error-code.js";
import { reasonOf } from "../../util/files/system-fault.js";
import { CommandError } from "../exit.js";
import { harmless, print } from "./output.js";

/** Into a file as they are; to stdout without what would steer a terminal. A file that is there is not replaced. */
export async function writePieces(pieces: Iterable<string>, file: string | undefined): Promise<void> {
  if (file === undefined) {
    print([...pieces].map(harmless).join("").trimEnd());
    return;
  }
  await using handle = await openNew(file);
  for (const piece of pieces) await handle.writeFile(piece);
}

async function openNew(file: string): Promise<FileHandle> {
  try {
    return await open(file, "wx", 0o600);
  } catch (error) {
    if (codeOf(error) === "EEXIST")
      throw new CommandError(`${file} exists already. Give another name, or delete it first.`);
    throw new CommandError(`${file} cannot be written: ${reasonOf(error)}`);
  }
}
