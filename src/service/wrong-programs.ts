import { access } from "node:fs/promises";
import { findingSentence } from "../util/words/finding-sentences.js";

/** The files that an installed service starts and that are gone, as after another version of Node was installed. */
export async function wrongPrograms(files: readonly string[]): Promise<readonly string[]> {
  const gone = await Promise.all(
    files.map(async (file) =>
      access(file).then(
        () => [],
        () => [findingSentence("service_program", { file })],
      ),
    ),
  );
  return gone.flat();
}
