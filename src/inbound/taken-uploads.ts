import { lstat, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { readOnly } from "../util/files/real-path.js";

const noteName = /^\.taken-[0-9a-f]{12}$/;
const uploadName = /^([0-9a-f]{12})-(.+)$/s;
const note = z.object({ session: z.string(), mark: z.string() });

/**
 * Where files are that a message took from the folder of uploads: a session has the only copy, so that they go with it.
 * One note a file, `.taken-<id>`, which says nothing of the file's name.
 */
export class TakenUploads {
  readonly #folder: string;
  readonly #receivedOf: (sessionKey: string) => string;

  /** `receivedOf`: where the files of a session are kept. */
  constructor(folder: string, receivedOf: (sessionKey: string) => string) {
    this.#folder = folder;
    this.#receivedOf = receivedOf;
  }

  /** The upload goes, what the session has of it stays. `taken`: `<mark>-<name>` in the session's folder. */
  async noteMoved(upload: string, sessionKey: string, taken: string): Promise<void> {
    const id = uploadName.exec(basename(upload))?.[1];
    const mark = basename(taken).split("-", 1)[0];
    const isUpload =
      dirname(upload) === this.#folder && (await lstat(upload).catch(() => undefined))?.isFile() === true;
    if (id === undefined || !isUpload) return;
    await writeFile(this.#noteOf(id), JSON.stringify({ session: sessionKey, mark }), { mode: 0o600 });
    await rm(upload, { force: true });
  }

  /** The session's copy of an upload that is not in the folder any more. */
  async find(upload: string): Promise<string | undefined> {
    const [, id = "", name = ""] = uploadName.exec(basename(upload)) ?? [];
    if (id === "") return undefined;
    const found = await this.#read(id);
    return found && join(this.#receivedOf(found.session), `${found.mark}-${name}`);
  }

  /** Takes away the notes of sessions that have no files any more. */
  async tidy(): Promise<void> {
    for (const name of await readdir(this.#folder).catch(() => [])) {
      if (!noteName.test(name)) continue;
      const found = await this.#read(name.slice(".taken-".length));
      const isThere = found && (await stat(this.#receivedOf(found.session)).catch(() => undefined)) !== undefined;
      if (isThere !== true) await rm(join(this.#folder, name), { force: true });
    }
  }

  async #read(id: string): Promise<z.infer<typeof note> | undefined> {
    try {
      return note.parse(JSON.parse(await readFile(this.#noteOf(id), { encoding: "utf8", flag: readOnly })));
    } catch {
      // No note, or none of ours: the upload is not known.
      return undefined;
    }
  }

  #noteOf(id: string): string {
    return join(this.#folder, `.taken-${id}`);
  }
}
