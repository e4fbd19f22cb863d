import { realpath } from "node:fs/promises";
import { dirname, resolve, sep } from "node:path";
import { isFile, readObject } from "../read-files.js";
import type { Problem } from "../source.js";
import { isObject, type JsonObject } from "./json5.js";

const deepest = 10;

/**
 * A config with the files in it that it names under `$include`, at whatever place, as OpenClaw reads them: objects are
 * merged, lists are joined, and what is beside `$include` goes before. Files outside its folder are told, not read.
 */
export async function readWithIncludes(path: string, folder: string, problems: Problem[]): Promise<JsonObject> {
  const root = await realpath(folder);
  const read = async (file: string, depth: number): Promise<JsonObject> => {
    const fill = async (value: unknown): Promise<unknown> => {
      if (Array.isArray(value)) return await Promise.all(value.map(fill));
      if (!isObject(value)) return value;
      const { $include: named, ...own } = value;
      let whole: unknown = {};
      for (const name of named === undefined ? [] : [named].flat())
        whole = merge(whole, await include(String(name), file, depth));
      const entries = await Promise.all(Object.entries(own).map(async ([key, inner]) => [key, await fill(inner)]));
      return merge(whole, Object.fromEntries(entries));
    };
    const filled = await fill(await readObject(file, problems));
    return isObject(filled) ? filled : {};
  };
  const include = async (name: string, from: string, depth: number): Promise<unknown> => {
    const file = await realpath(resolve(dirname(from), name)).catch(() => "");
    const isOurs = file.startsWith(`${root}${sep}`) && (await isFile(file));
    if (isOurs && depth < deepest) return await read(file, depth + 1);
    problems.push({ what: `${from}: $include ${name}`, why: "there is no such file in its folder, so it is left out" });
    return {};
  };
  return await read(path, 0);
}

function merge(one: unknown, other: unknown): unknown {
  if (Array.isArray(one) && Array.isArray(other)) return [...one, ...other];
  if (!isObject(one) || !isObject(other)) return other;
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries([...keys].map((key) => [key, key in other ? merge(one[key], other[key]) : one[key]]));
}
