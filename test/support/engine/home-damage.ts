import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { decodeLine } from "../../../src/engine/embedded/journal/line.js";

interface Damaged {
  readonly file: string;
  readonly how: string;
}

/** All files of a home but the config, which a person writes and reads. */
function filesOf(home: string): readonly string[] {
  return readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(home, join(entry.parentPath, entry.name)))
    .filter((name) => name !== "config.json" && !name.startsWith("logs"))
    .sort();
}

/** Damages one file of a home, as the dice say. */
export function damageHome(home: string, random: () => number): Damaged {
  const all = filesOf(home);
  // Journal and logs are what counts: each second time it is one of them.
  const files = random() < 0.5 ? all.filter((name) => /^journal|events\.jsonl$/.test(name)) : all;
  const file = files[Math.floor(random() * files.length)] ?? "";
  const path = join(home, file);
  const bytes = readFileSync(path);
  const at = Math.floor(random() * bytes.length);
  const kinds: Readonly<Record<string, () => Buffer | undefined>> = {
    flip: () => {
      bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8));
      return bytes;
    },
    zero: () => bytes.fill(0, at, Math.min(bytes.length, at + 4096)),
    cut: () => bytes.subarray(0, at),
    rubbish: () => Buffer.concat([bytes, Buffer.from(Array.from({ length: 300 }, () => Math.floor(random() * 256)))]),
    lostLine: () => withoutLine(bytes, at),
    joinedLines: () => withoutLineEnd(bytes, at),
    gone: () => undefined,
  };
  const how = Object.keys(kinds)[Math.floor(random() * Object.keys(kinds).length)] ?? "flip";
  const damaged = kinds[how]?.();
  if (damaged === undefined) rmSync(path);
  else writeFileSync(path, damaged);
  return { file, how };
}

function withoutLine(bytes: Buffer, at: number): Buffer {
  const start = bytes.lastIndexOf(10, at) + 1;
  const end = bytes.indexOf(10, at);
  return end === -1 ? bytes.subarray(0, start) : Buffer.concat([bytes.subarray(0, start), bytes.subarray(end + 1)]);
}

function withoutLineEnd(bytes: Buffer, at: number): Buffer {
  const end = bytes.indexOf(10, at);
  return end === -1 ? bytes : Buffer.concat([bytes.subarray(0, end), bytes.subarray(end + 1)]);
}

/** Every text of this kind, as far as lines of logs and journal tell it that are whole, or have lost no byte of their own. */
export function textsIn(home: string, { how }: Damaged, pattern: RegExp): ReadonlySet<string> {
  const found = new Set<string>();
  for (const name of filesOf(home).filter((file) => /^journal\/.*log$|events\.jsonl$/.test(file)))
    for (const line of readFileSync(join(home, name), "utf8").split(/(?<=\n)/)) {
      const isWhole = (how !== "zero" && how !== "cut") || decodeLine(Buffer.from(line)) !== undefined;
      for (const [text] of isWhole ? line.matchAll(pattern) : []) found.add(text);
    }
  return found;
}
