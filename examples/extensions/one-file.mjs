// A storage driver: all session documents in one JSON file.  { "module": "./one-file.mjs", "options": { "file": "all.json" } }
// Fine for a few conversations; each change writes the whole file. The truth is in the sessions' logs in any case.

import { readFile, rename, writeFile } from "node:fs/promises";
import { resolve } from "node:path";

/** @type {import("maxclaw").ExtensionFactory} */
export default async ({ options, home }) => {
  const file = resolve(home, String(options.file ?? "all.json"));
  const text = await readFile(file, "utf8").catch((error) => {
    if (error.code === "ENOENT") return "{}";
    throw error;
  });
  const records = new Map(Object.entries(JSON.parse(text)));
  let last = Promise.resolve();

  /** One write after the other; a crash leaves the old file or the new one. */
  const save = () => {
    const content = JSON.stringify(Object.fromEntries(records));
    const write = async () => {
      await writeFile(`${file}.new`, content);
      await rename(`${file}.new`, file);
    };
    last = last.then(write, write);
    return last;
  };
  /** @param {import("maxclaw").Change} change */
  const apply = ({ key, value }) => (value === undefined ? records.delete(key) : records.set(key, value));

  return {
    storage: {
      name: "one-file",
      get: async (key) => records.get(key),
      getMany: async (keys) => keys.map((key) => records.get(key)),
      keys: async (prefix) =>
        [...records.keys()].filter(
          (key) => key.startsWith(prefix) && (prefix.startsWith("idx:") || !key.startsWith("idx:")),
        ),
      async set(key, value) {
        apply({ key, value: structuredClone(value) });
        await save();
      },
      async delete(key) {
        if (apply({ key, value: undefined })) await save();
      },
      async change(changes) {
        for (const one of structuredClone(changes)) apply(one);
        await save();
      },
      [Symbol.asyncDispose]: () => last,
    },
  };
};
