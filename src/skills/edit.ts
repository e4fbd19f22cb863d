import { createHash } from "node:crypto";
import { lstat, realpath, rename, rm, unlink } from "node:fs/promises";
import path from "node:path";
import { messageOf, RequestError } from "../errors.js";
import { InOrder } from "../util/async/in-order.js";
import { codeOf } from "../util/error-code.js";
import { openReal, resolveReal } from "../util/files/real-path.js";
import { writeReal } from "../util/files/write-real.js";
import { newId } from "../util/ids.js";
import type { SkillSummary } from "./skill.js";
import { validateText } from "./validate.js";

/** A skill's own file, as its owner reads and changes it. */
export interface SkillText {
  readonly text: string;
  /** Changes with the text. */
  readonly revision: string;
}

export interface WrittenSkill {
  /** Where the text is now. */
  readonly path: string;
  readonly revision: string;
  /** It works, and breaks a rule of the SKILL.md standard or of good sense. */
  readonly warnings: readonly string[];
}

type Found = Pick<SkillSummary, "name" | "source" | "path">;

const maxBytes = 512 * 1024;

/**
 * Changes the skills of one workspace as their owner says. What lies behind a link that leads out of the skills folder is
 * neither shown nor changed here.
 */
export class SkillEdits {
  readonly #root: string;
  readonly #inOrder = new InOrder();

  constructor(workspace: string) {
    this.#root = path.join(workspace, "skills");
  }

  /** @throws {RequestError} 409 when the file cannot be read, 413 when it is too long to be changed here */
  async read({ name, source, path: file }: Found): Promise<SkillText> {
    try {
      // The assistant can write the skills of its workspace: a link of theirs must not show any file of this machine.
      const isOwn = source !== "bundled" && source !== "user";
      const real = isOwn ? (await this.#inside(name, file)).path : await realpath(file);
      await using handle = await openReal(real, { alone: isOwn });
      if ((await handle.stat()).size > maxBytes) throw tooLarge(name);
      const text = await handle.readFile("utf8");
      return { text, revision: createHash("sha256").update(text).digest("hex").slice(0, 32) };
    } catch (error) {
      throw error instanceof RequestError ? error : wrongState(`${file} cannot be read: ${messageOf(error)}.`);
    }
  }

  /**
   * Of a skill that comes with the program this makes a copy, which is used instead of it.
   *
   * @throws {RequestError} 400 for a text that does not work as a skill, 409 for a file that is not of this workspace, 412
   *   when `revision` is not that of the file any more, 413; nothing is written then
   */
  write(skill: Found, text: string, revision: string | undefined): Promise<WrittenSkill> {
    return this.#inOrder.run(async () => {
      const { name, source } = skill;
      if (Buffer.byteLength(text) > maxBytes) throw tooLarge(name);
      if (source === "user") throw wrongState(`${skill.path} is used by other programs too. Change it there.`);
      if (revision !== undefined && revision !== (await this.read(skill)).revision)
        throw new RequestError(`The file of ${name} has changed since you read it. Nothing was saved.`, {
          status: 412,
          code: "changed",
        });
      const file = source === "bundled" ? path.join(this.#root, name, "SKILL.md") : skill.path;
      const { errors, warnings } = await validateText(text, { name, folder: path.dirname(file) });
      if (errors.length > 0)
        throw new RequestError(`${name} was not saved. ${errors.join(" ")}`, { status: 400, code: "bad_skill" });
      const { path: real, exists } = await this.#inside(name, file);
      if (exists && source === "bundled") throw wrongState(`${file} is there already. Change or delete that file.`);
      try {
        await writeReal(real, text);
      } catch (error) {
        if (codeOf(error) === "ENOSPC" || codeOf(error) === "EDQUOT")
          throw new RequestError(`The disk is full: ${name} was not saved.`, { status: 507, code: "disk_full" });
        throw wrongState(`${file} cannot be written: ${messageOf(error)}.`);
      }
      return { path: file, warnings, revision: (await this.read({ ...skill, path: file })).revision };
    });
  }

  /**
   * With all that lies beside it, where it has a folder of its own. Of a link only the link goes.
   *
   * @throws {RequestError} 409 for what is not of this workspace, and for a folder in which other skills are
   */
  remove(skill: Found, all: readonly Found[]): Promise<void> {
    return this.#inOrder.run(async () => {
      const { name, source, path: file } = skill;
      if (source === "bundled") throw wrongState(`${name} comes with maxclaw. Switch it off instead.`);
      if (source === "user") throw wrongState(`${file} is used by other programs too. Delete it there.`);
      const folder = path.dirname(file);
      const isFolder = path.basename(file).toLowerCase() === "skill.md" && folder !== this.#root;
      const target = isFolder ? folder : file;
      const others = all.filter((other) => other.path !== file && other.path.startsWith(`${target}${path.sep}`));
      if (others.length > 0)
        throw wrongState(
          `Other skills are in its folder: ${others.map((other) => other.name).join(", ")}. Delete them first.`,
        );
      const { path: parent } = await this.#inside(name, path.dirname(target));
      const real = path.join(parent, path.basename(target));
      try {
        if ((await lstat(real)).isSymbolicLink()) return await unlink(real);
        // Gone at once, whatever happens while its files are removed.
        const old = path.join(parent, `.old-${newId("skill")}`);
        await rename(real, old);
        await rm(old, { recursive: true, force: true });
      } catch (error) {
        throw wrongState(`${target} cannot be deleted: ${messageOf(error)}.`);
      }
    });
  }

  /** Where a path truly leads. @throws {RequestError} 409 when that is not in the skills folder */
  async #inside(name: string, file: string): Promise<{ readonly path: string; readonly exists: boolean }> {
    const root = await resolveReal(this.#root);
    if (!root.ok) throw wrongState(`${this.#root} cannot be used: ${root.sentence}`);
    const found = await resolveReal(file);
    if (!found.ok) throw wrongState(`${file} cannot be used: ${found.sentence}`);
    if (found.path === root.path || found.path.startsWith(`${root.path}${path.sep}`)) return found;
    throw wrongState(`${name} is a link that leads to ${found.path}. Change it there.`);
  }
}

function tooLarge(name: string): RequestError {
  return new RequestError(`${name} may have ${maxBytes / 1024} kB.`, { status: 413, code: "too_large" });
}

function wrongState(message: string): RequestError {
  return new RequestError(message, { status: 409, code: "wrong_state" });
}
