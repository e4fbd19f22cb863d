import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { blankConfig } from "../../config/blank.js";
import { type ConfigEdit, editConfig, readRaw } from "../../config/edit.js";
import { configOf, type LoadedConfig } from "../../config/load.js";
import { readBytes } from "../../config/read-text.js";
import { applied } from "../../config/settings/edits.js";
import { inside } from "../../config/settings/hide.js";
import { isObject, type JsonObject } from "../../config/substitute.js";
import { codeOf } from "../../util/error-code.js";
import { makeFolder } from "../../util/files/make-folder.js";
import { replaceFile } from "../../util/files/replace-file.js";
import { existingConfig } from "../gateway/config-file.js";

/**
 * The config as it is going to be. Nothing is written before {@link keep}, which writes all that was set since the last
 * one, in one piece.
 */
export class Draft {
  readonly home: string;
  readonly path: string;
  /** True where the file is new, or replaced as a whole. */
  readonly isNew: boolean;
  #written: JsonObject;
  #edits: ConfigEdit[] = [];
  #isThere: boolean;

  private constructor(home: string, path: string, written: JsonObject, isNew: boolean) {
    this.home = home;
    this.path = path;
    this.isNew = isNew;
    this.#written = written;
    this.#isThere = !isNew;
  }

  /** With `replaces`: a new file, whatever there is. @throws {ConfigError} when the file cannot be read */
  static async open(home: string, replaces: boolean): Promise<Draft> {
    const existing = existingConfig(home);
    if (existing === undefined || replaces)
      return new Draft(home, join(home, "config.json"), structuredClone(blankConfig), true);
    const raw = await readRaw(existing, []);
    return new Draft(home, existing, isObject(raw) ? raw : {}, false);
  }

  /** Sets a key; one that has this value already is left alone. */
  set(path: readonly string[], value: unknown): void {
    if (this.get(path) !== value) this.#edits.push({ path, value });
  }

  /** As it is going to be in the file. */
  get(path: readonly string[]): unknown {
    return path.reduce<unknown>((value, key) => inside(value, key), applied(this.#written, this.#edits));
  }

  /** What was set and not kept is as it was. */
  forget(): void {
    this.#edits = [];
  }

  /** What the gateway would make of it. */
  async preview(more: readonly ConfigEdit[] = []): Promise<LoadedConfig> {
    return await configOf(applied(this.#written, [...this.#edits, ...more]), { home: this.home, env: process.env });
  }

  /**
   * Writes what was set. Resolves with the keys that have changed and the files that were written.
   *
   * @throws {ConfigError} the file cannot be changed
   */
  async keep(): Promise<{ readonly keys: readonly string[]; readonly files: readonly string[] }> {
    const edits = this.#edits;
    if (this.#isThere && edits.length === 0) return { keys: [], files: [] };
    const files = this.#isThere ? await this.#change(edits) : await this.#create(edits);
    this.#written = applied(this.#written, edits);
    this.#edits = [];
    this.#isThere = true;
    return { keys: edits.map(({ path }) => path.join(".")), files };
  }

  async #change(edits: readonly ConfigEdit[]): Promise<readonly string[]> {
    await editConfig(this.path, edits);
    return [this.path];
  }

  async #create(edits: readonly ConfigEdit[]): Promise<readonly string[]> {
    await makeFolder(dirname(this.path));
    const copy = existsSync(this.path) ? await keepCopy(this.path) : undefined;
    const text = `${JSON.stringify(applied(this.#written, edits), undefined, 2)}\n`;
    await replaceFile(this.path, text, { mode: 0o600 });
    return copy === undefined ? [this.path] : [this.path, copy];
  }
}

/** It may hold keys: only its owner reads the copy, also where others could read the file until now. */
async function keepCopy(path: string): Promise<string> {
  const content = await readBytes(path);
  for (let n = 1; ; n++) {
    const copy = `${path}.bak${n === 1 ? "" : n}`;
    try {
      await writeFile(copy, content, { flag: "wx", mode: 0o600 });
      return copy;
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
    }
  }
}
