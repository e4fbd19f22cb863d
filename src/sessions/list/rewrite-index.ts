import { type FileHandle, open } from "node:fs/promises";
import { replaceFile } from "../../util/files/replace-file.js";
import { eachIndexLine, type LineHead, lineText } from "./index-file.js";
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
      const kept = ({ key }: LineHead, offset: number, length: number): boolean => {
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
  await eachIndexLine(path, (head) => {
    if (head !== undefined && keys.has(head.key)) found += 1;
  });
  if (found === 0) return;
  const copy = (temporary: string): Promise<void> => copyLines(path, temporary, ({ key }) => !keys.has(key));
  await replaceFile(path, copy, { sync: false, mode: 0o600 });
}

async function copyLines(
  path: string,
  target: string,
  isKept: (head: LineHead, offset: number, length: number) => boolean,
  atEnd: (file: FileHandle) => Promise<void> = async () => {},
): Promise<void> {
  const file = await open(target, "w", 0o600);
  try {
    let kept: Buffer[] = [];
    await eachIndexLine(
      path,
      (head, offset, bytes) => {
        // The bytes are void once the next piece is read.
        if (head !== undefined && isKept(head, offset, bytes.length)) kept.push(bytes);
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
