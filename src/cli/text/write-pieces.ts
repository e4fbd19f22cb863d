import { open } from "node:fs/promises";
import { harmless, print } from "./output.js";

/** Into a file as they are; to stdout without what would steer a terminal. A file that is there is not replaced. */
export async function writePieces(pieces: Iterable<string>, file: string | undefined): Promise<void> {
  if (file === undefined) {
    print([...pieces].map(harmless).join("").trimEnd());
    return;
  }
  await using handle = await open(file, "wx", 0o600);
  for (const piece of pieces) await handle.writeFile(piece);
}
