import { access } from "node:fs/promises";

/** The files that an installed service starts and that are gone, as after another version of Node was installed. */
export async function wrongPrograms(files: readonly string[]): Promise<readonly string[]> {
  const gone = await Promise.all(
    files.map(async (file) =>
      access(file).then(
        () => [],
        () => [`The service starts ${file}, which is not there. Write it again: maxclaw service install`],
      ),
    ),
  );
  return gone.flat();
}
