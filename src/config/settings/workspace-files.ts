import { createHash } from "node:crypto";
import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, RequestError } from "../../errors.js";
import { codeOf } from "../../util/error-code.js";
import { openReal, resolveReal } from "../../util/files/real-path.js";
import { writeReal } from "../../util/files/write-real.js";

/** Files of the workspace that steer the assistant, and its memory: the only ones that can be read and written here. */
const names = [
  "AGENTS.md",
  "SOUL.md",
  "USER.md",
  "GUESTS.md",
  "memory/MEMORY.md",
  "memory/HISTORY.md",
  "memory/heartbeat.md",
] as const;
const maxBytes = 512 * 1024;

/** A file as it is. */
interface WorkspaceFileText {
  /** Empty where there is no file yet. */
  readonly text: string;
  /** Of just this text. */
  readonly revision: string;
}

interface WorkspaceFileView {
  readonly name: string;
  readonly exists: boolean;
  readonly sizeBytes?: number;
  /** ISO 8601. */
  readonly changedAt?: string;
  /** Why it can neither be read nor written. */
  readonly problem?: string;
}

/** Reads and writes what its owner tells the assistant about itself. A link instead of a file is never followed. */
export class WorkspaceFiles {
  readonly #workspace: string;
  readonly #inTurn: <T>(job: () => Promise<T>) => Promise<T>;

  /** `inTurn` runs a change while the assistant changes nothing. */
  constructor(workspace: string, inTurn: <T>(job: () => Promise<T>) => Promise<T> = (job) => job()) {
    this.#workspace = workspace;
    this.#inTurn = inTurn;
  }

  async list(): Promise<readonly WorkspaceFileView[]> {
    return await Promise.all(names.map((name) => this.#look(name)));
  }

  /** @throws {RequestError} 403, 409, 413 */
  async read(name: string): Promise<WorkspaceFileText> {
    const text = await this.#read(name);
    return { text, revision: createHash("sha256").update(text).digest("hex").slice(0, 32) };
  }

  /**
   * Resolves with the new revision. `revision`: only where the file is still the one that was read.
   *
   * @throws {RequestError} 403, 409, 412 where it is another one by now, 413, 507
   */
  async write(name: string, content: string, revision?: string): Promise<string> {
    return await this.#inTurn(async () => {
      if (revision !== undefined && (await this.read(name)).revision !== revision)
        throw new RequestError(`${name} has changed meanwhile. Load it again and make your change there.`, {
          status: 412,
          code: "changed",
        });
      await this.#write(name, content);
      return (await this.read(name)).revision;
    });
  }

  async #look(name: string): Promise<WorkspaceFileView> {
    try {
      const { path, exists } = await this.#find(name);
      if (!exists) return { name, exists };
      const { size, mtime } = await stat(path);
      return { name, exists, sizeBytes: size, changedAt: mtime.toISOString() };
    } catch (error) {
      return { name, exists: false, problem: messageOf(error) };
    }
  }

  async #read(name: string): Promise<string> {
    const { path, exists } = await this.#find(name);
    if (!exists) return "";
    try {
      await using handle = await openReal(path, { alone: true });
      if ((await handle.stat()).size > maxBytes) throw tooLarge(name);
      return await handle.readFile("utf8");
    } catch (error) {
      throw error instanceof RequestError ? error : unusable(name, messageOf(error));
    }
  }

  async #write(name: string, content: string): Promise<void> {
    if (Buffer.byteLength(content) > maxBytes) throw tooLarge(name);
    const { path, exists } = await this.#find(name);
    try {
      await writeReal(path, content, { ...(exists ? {} : { mode: 0o600 }), folderMode: 0o700 });
    } catch (error) {
      if (codeOf(error) === "ENOSPC" || codeOf(error) === "EDQUOT")
        throw new RequestError(`The disk is full: ${name} was not written.`, { status: 507, code: "disk_full" });
      throw unusable(name, messageOf(error));
    }
  }

  /** Where a file truly lies, which is where its name says. */
  async #find(asked: string): Promise<{ readonly path: string; readonly exists: boolean }> {
    const name = names.find((each) => each === asked || each === `memory/${asked}`);
    if (name === undefined)
      throw new RequestError(`${asked.slice(0, 80)} cannot be read or written here. These can: ${names.join(", ")}.`, {
        status: 403,
        code: "forbidden",
      });
    const root = await realpath(this.#workspace).catch((error: unknown) => {
      throw unusable(name, messageOf(error));
    });
    const found = await resolveReal(join(root, name));
    if (!found.ok) throw unusable(name, found.sentence);
    if (found.path !== join(root, name)) throw unusable(name, "it is a link, which is not followed");
    return found;
  }
}

function tooLarge(name: string): RequestError {
  return new RequestError(`${name} may have ${maxBytes / 1024} kB.`, { status: 413, code: "too_large" });
}

function unusable(name: string, why: string): RequestError {
  return new RequestError(`${name} cannot be used: ${why}.`, { status: 409, code: "wrong_state" });
}
