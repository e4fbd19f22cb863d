import { open } from "node:fs/promises";

/** Brings a file to the disk, or the creations, renames and removals in a folder. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
