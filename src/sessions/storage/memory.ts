import { StorageError } from "../../errors.js";
import { isInScan } from "./keys.js";
import type { Change, StorageDriver } from "./storage.js";

/** Documents that live as long as the process, as the texts that other storages would keep. */
export function createMemoryStorage(): StorageDriver {
  let records: Map<string, string> | undefined = new Map();
  const open = (): Map<string, string> => {
    if (records === undefined) throw new StorageError("The session storage (memory) is closed");
    return records;
  };
  const get = async (key: string): Promise<object | undefined> => {
    const text = open().get(key);
    // Only objects come in.
    return text === undefined ? undefined : (JSON.parse(text) as object);
  };
  const change = async (changes: readonly Change[]): Promise<void> => {
    const held = open();
    const texts = changes.map(({ key, value }) => [key, value && JSON.stringify(value)] as const);
    for (const [key, text] of texts) {
      if (text === undefined) held.delete(key);
      else held.set(key, text);
    }
  };
  return {
    name: "memory",
    get,
    getMany: (keys) => Promise.all(keys.map(get)),
    set: (key, value) => change([{ key, value }]),
    delete: (key) => change([{ key, value: undefined }]),
    keys: async (prefix) => [...open().keys()].filter((key) => isInScan(key, prefix)),
    change,
    async [Symbol.asyncDispose]() {
      records = undefined;
    },
  };
}
