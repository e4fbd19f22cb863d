import { readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import {
  type AuthenticationCreds,
  BufferJSON,
  initAuthCreds,
  proto,
  type SignalDataTypeMap,
  type SignalKeyStore,
} from "baileys";
import { isMissing } from "../../../../src/util/error-code.js";
import { makeFolder } from "../../../../src/util/files/make-folder.js";
import { replaceFile } from "../../../../src/util/files/replace-file.js";
import { syncPath } from "../../../../src/util/files/sync-path.js";

type Values = { readonly [id: string]: unknown };

/** The login and its keys: a file for each, replaced as a whole, on the disk before anybody goes on. */
export class AuthFiles {
  readonly #folder: string;
  readonly creds: AuthenticationCreds;

  private constructor(folder: string, creds: AuthenticationCreds) {
    this.#folder = folder;
    this.creds = creds;
  }

  /** @throws when the login is there and cannot be read: with a new one in its place it would be lost */
  static async open(folder: string): Promise<AuthFiles> {
    await makeFolder(folder);
    const found = await readValue(join(folder, "creds.json"));
    // The file is ours, written from such a value.
    return new AuthFiles(folder, (found as AuthenticationCreds | undefined) ?? initAuthCreds());
  }

  /** Puts a login aside that nobody takes any more. */
  static async putAside(folder: string): Promise<void> {
    const aside = `${folder}.logged-out`;
    await rm(aside, { recursive: true, force: true });
    await rename(folder, aside).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
    });
  }

  async saveCreds(): Promise<void> {
    await this.#write([["creds.json", this.creds]]);
  }

  /** All that belongs together is asked for at once; nothing is kept in memory. */
  get keys(): SignalKeyStore {
    return {
      get: async (type, ids) => {
        const found = await Promise.all(ids.map((id) => readValue(this.#pathOf(nameOf(type, id)))));
        return Object.fromEntries(ids.flatMap((id, index) => toEntry(type, id, found[index])));
      },
      set: async (data) => {
        const all = Object.entries(data).flatMap(([type, values]) =>
          Object.entries(values as Values).map(([id, value]) => [nameOf(type, id), value] as const),
        );
        await this.#write(all);
      },
      clear: async () => undefined,
    };
  }

  async #write(values: readonly (readonly [name: string, value: unknown])[]): Promise<void> {
    await Promise.all(
      values.map(async ([name, value]) => {
        const path = this.#pathOf(name);
        if (value === null || value === undefined) await rm(path, { force: true });
        else await replaceFile(path, JSON.stringify(value, BufferJSON.replacer), { mode: 0o600 });
      }),
    );
    await syncPath(this.#folder);
  }

  #pathOf(name: string): string {
    return join(this.#folder, name);
  }
}

function nameOf(type: string, id: string): string {
  return `${type}-${id}.json`.replaceAll("/", "__").replaceAll(":", "-");
}

function toEntry<T extends keyof SignalDataTypeMap>(
  type: T,
  id: string,
  value: unknown,
): readonly (readonly [string, SignalDataTypeMap[T]])[] {
  if (value === undefined) return [];
  const isSyncKey = type === "app-state-sync-key";
  const read = isSyncKey ? proto.Message.AppStateSyncKeyData.fromObject(Object(value)) : value;
  // What was written under this type.
  return [[id, read as SignalDataTypeMap[T]]];
}

async function readValue(path: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  try {
    return JSON.parse(text, BufferJSON.reviver);
  } catch (error) {
    throw new Error(`${path} is damaged. Move the folder it is in elsewhere, and scan a new code.`, { cause: error });
  }
}
