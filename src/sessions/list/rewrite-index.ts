import { type FileHandle, open } from "node:fs/promises";
import { replaceFile } from "../../util/files/replace-file.js";
import { eachIndexLine, lineText } from "./index-file.js";
import type { IndexLine } from "./index-line.js";
import { LinePlaces } from "./line-places.js";
import type { LoadedIndex } from "./loaded-index.js";

/** Writes the index file again: a line for each session. Only a piece of it is in memory at a time. */
export async function rewriteIndex(path: string, loaded: LoadedIndex): Promise<void> {
  const { rows, unwritten } = loaded;
  const places = new LinePlaces();
  await replaceFile(
    path,
    async (temporary) => {
      let size = 0;
      const kept = ({ key, offset, length }: KeptLine): boolean => {
        const row = rows.numberOf(key);
        if (row === undefined || unwritten.has(row) || loaded.places.offsetOf(row) !== offset) return false;
        places.set(row, size, length);
        size += length;
        return true;
      };
      await copyLines(path, temporary, kept, async (file) => {
        for (const [row, line] of unwritten) {
          const bytes = Buffer.from(lineText(line));
          await file.appendFile(bytes);
          places.set(row, size, bytes.length);
          size += bytes.length;
        }
      });
    },
    { sync: false, mode: 0o600 },
  );
  loaded.rewritten(places);
}

/** Takes the lines of these sessions out of the index file, without taking the list into memory. */
export async function dropLines(path: string, keys: ReadonlySet<string>): Promise<void> {
  let found = 0;
  await eachIndexLine(path, ({ head }) => {
    if (head !== undefined && keys.has(head.key)) found += 1;
  });
  if (found === 0) return;
  const copy = (temporary: string): Promise<void> => copyLines(path, temporary, ({ key }) => !keys.has(key));
  await replaceFile(path, copy, { sync: false, mode: 0o600 });
}

interface KeptLine extends Pick<IndexLine, "offset" | "length"> {
  readonly key: string;
}

async function copyLines(
  path: string,
  target: string,
  isKept: (line: KeptLine) => boolean,
  atEnd: (file: FileHandle) => Promise<void> = async () => {},
): Promise<void> {
  const file = await open(target, "w", 0o600);
  try {
    let kept: Buffer[] = [];
    await eachIndexLine(
      path,
      (line) => {
        const key = line.head?.key;
        const { offset, length } = line;
        // The bytes are void once the next piece is read.
        if (key !== undefined && isKept({ key, offset, length })) kept.push(line.bytes);
      },
      async () => {
        const piece = Buffer.concat(kept);
        kept = [];
        if (piece.length > 0) await file.appendFile(piece);
      },
    );
    await atEnd(file);
  } finally {
    await file.close();
  }
}
