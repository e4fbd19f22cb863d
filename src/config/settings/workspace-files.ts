import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, RequestError } from "../../errors.js";
import { InOrder } from "../../util/async/in-order.js";
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

export interface WorkspaceText {
  readonly content: string;
  /** Changes with the text. */
  readonly revision: string;
}

/** Reads and writes what its owner tells the assistant about itself. A link instead of a file is never followed. */
export class WorkspaceFiles {
  readonly #workspace: string;
  readonly #inOrder = new InOrder();

  constructor(workspace: string) {
    this.#workspace = workspace;
  }

  async list(): Promise<readonly { readonly name: string; readonly exists: boolean }[]> {
    return await Promise.all(
      names.map(async (name) => ({ name, exists: (await this.#find(name).catch(() => undefined))?.exists === true })),
    );
  }

  /** The whole text; empty where there is no file yet. @throws {RequestError} 403, 409, 413 */
  async read(name: string): Promise<WorkspaceText> {
    const content = await this.#read(name);
    return { content, revision: revisionOf(content) };
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

  /**
   * Resolves with the revision of what was written.
   *
   * @throws {RequestError} 403, 409, 412 when the file is not the one of `revision` any more, 413, 507
   */
  write(name: string, content: string, revision: string | undefined): Promise<string> {
    return this.#inOrder.run(async () => {
      if (revision !== undefined && revisionOf(await this.#read(name)) !== revision)
        throw new RequestError(`${name} has changed since you read it. Nothing was written.`, {
          status: 412,
          code: "changed",
        });
      await this.#write(name, content);
      return revisionOf(content);
    });
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

function revisionOf(content: string): string {
  return createHash("sha256").update(content).digest("hex").slice(0, 32);
}

function tooLarge(name: string): RequestError {
  return new RequestError(`${name} may have ${maxBytes / 1024} kB.`, { status: 413, code: "too_large" });
}

function unusable(name: string, why: string): RequestError {
  return new RequestError(`${name} cannot be used: ${why}.`, { status: 409, code: "wrong_state" });
}
