import { writeFile } from "node:fs/promises";
import writeFileAtomic from "write-file-atomic";

/**
 * Puts a whole new file in place of the old one, or leaves the old one alone. The library does not look at how much
 * of its own write arrived, and on a full disk would put a torn file in place of a whole one; `writeFile` does look.
 * A function writes the new file itself, piece by piece.
 */
export async function replaceFile(
  path: string,
  data: string | Uint8Array | ((temporary: string) => Promise<void>),
  options: { readonly mode?: number; readonly sync?: boolean } = {},
): Promise<void> {
  const { mode, sync = true } = options;
  try {
    await writeFileAtomic(path, "", {
      tmpfileCreated: (temporary) => (typeof data === "function" ? data(temporary) : writeFile(temporary, data)),
      fsync: sync,
      ...(mode === undefined ? {} : { mode }),
    });
  } catch (error) {
    // People know the file, not the one beside it that was to take its place.
    if (error instanceof Error && "syscall" in error) Object.assign(error, { path });
    throw error;
  }
}
