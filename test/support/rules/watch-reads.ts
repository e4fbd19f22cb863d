import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

/** What a process has opened, listed and read below a folder. */
export interface Reads {
  readonly opened: readonly string[];
  readonly listed: readonly string[];
  /** Of all files, those outside of the folder included: what the system counts. */
  readonly bytes: number;
}

/** Starts watching what this process reads; `end` gives what it has read below `root` since. */
export function watchReads(root: string): { end(): Reads } {
  const opened = new Set<string>();
  const listed = new Set<string>();
  const { openSync, open, readFileSync, readFile, readdirSync, readdir, createReadStream } = fs;
  const { promises } = fs;
  const before = { open: promises.open, readFile: promises.readFile, readdir: promises.readdir };
  const note =
    <A extends readonly unknown[], R>(list: Set<string>, original: (...args: A) => R) =>
    (...args: A): R => {
      const [path] = args;
      if (typeof path === "string" && path.startsWith(root)) list.add(path.slice(root.length));
      return original(...args);
    };
  // Overloads get lost on the way through `note`, which changes no argument and no result.
  const wrap = (list: Set<string>, original: unknown) =>
    note(list, original as (...args: readonly unknown[]) => unknown);
  Object.assign(fs, {
    openSync: wrap(opened, openSync),
    open: wrap(opened, open),
    readFileSync: wrap(opened, readFileSync),
    readFile: wrap(opened, readFile),
    createReadStream: wrap(opened, createReadStream),
    readdirSync: wrap(listed, readdirSync),
    readdir: wrap(listed, readdir),
  });
  Object.assign(promises, {
    open: wrap(opened, before.open),
    readFile: wrap(opened, before.readFile),
    readdir: wrap(listed, before.readdir),
  });
  syncBuiltinESMExports();
  const from = bytesRead();
  return {
    end() {
      const bytes = bytesRead() - from;
      Object.assign(fs, { openSync, open, readFileSync, readFile, readdirSync, readdir, createReadStream });
      Object.assign(promises, before);
      syncBuiltinESMExports();
      return { opened: [...opened].sort(), listed: [...listed].sort(), bytes };
    },
  };
}

function bytesRead(): number {
  return Number(/^rchar: (\d+)$/m.exec(fs.readFileSync("/proc/self/io", "utf8"))?.[1] ?? 0);
}
