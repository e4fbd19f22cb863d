import { withPath } from "../../util/error-code.js";
import { openIfThere } from "../../util/files/real-path.js";
import { documentSuffix } from "../file-names.js";
import { IndexLine, type LineHead } from "./index-line.js";
import { type SessionLine, sessionLine } from "./session-line.js";

/** In the folder of the session logs. */
export const indexName = ".index.jsonl";

const pieceBytes = 512 * 1024;
const lf = 0x0a;

/** The line as it is written: what a start needs of it comes first, so that the rest need not be parsed. */
export function lineText({ key, file, lastSequence, lastMessageAt, ...rest }: SessionLine): string {
  return `${JSON.stringify({ key, file, lastSequence, lastMessageAt, ...rest })}\n`;
}

export function headOf({ key, file, lastSequence, lastMessageAt }: SessionLine): LineHead {
  const at = Date.parse(lastMessageAt ?? "");
  return { key, file, lastSequence, at: Number.isNaN(at) ? undefined : at };
}

export function parseLine(bytes: Buffer): SessionLine | undefined {
  try {
    return sessionLine.safeParse(JSON.parse(bytes.toString("utf8"))).data;
  } catch {
    return undefined;
  }
}

/** Calls back with each line of an index file, and after each piece of it. The line is void once the callback has returned. */
export async function eachIndexLine(
  path: string,
  onLine: (line: IndexLine) => void,
  afterPiece: () => Promise<void> = async () => {},
): Promise<void> {
  const file = await openIfThere(path);
  if (file === undefined) return;
  const line = new IndexLine(parsedHead);
  try {
    let buffer = Buffer.allocUnsafeSlow(pieceBytes);
    let rest = 0;
    for (let position = 0; ; ) {
      if (rest === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafeSlow(buffer.length)]);
      const { bytesRead } = await withPath(path, () => file.read(buffer, rest, buffer.length - rest, position));
      const filled = rest + bytesRead;
      const offset = position - rest;
      position += bytesRead;
      const end = bytesRead === 0 ? filled : buffer.subarray(0, filled).lastIndexOf(lf) + 1;
      for (let start = 0; start < end; start = line.end) {
        const at = buffer.indexOf(lf, start);
        line.stand(buffer, start, at === -1 || at >= end ? end : at + 1, offset + start);
        onLine(line);
      }
      await afterPiece();
      rest = filled - end;
      buffer.copy(buffer, 0, end, filled);
      if (bytesRead === 0) return;
    }
  } finally {
    await file.close();
  }
}

function parsedHead(bytes: Buffer): LineHead | undefined {
  const line = parseLine(bytes);
  return line && headOf(line);
}

/** The name of most documents, from which the key can be told. Undefined where it cannot. */
export function plainFile(key: string): string | undefined {
  const colon = key.indexOf(":");
  return colon > 0 && !key.slice(0, colon).includes("_")
    ? `${key.slice(0, colon)}_${key.slice(colon + 1)}${documentSuffix}`
    : undefined;
}

/** The key whose `plainFile` this is. */
export function keyOfPlainFile(file: string): string | undefined {
  const line = file.indexOf("_");
  return line < 1 || file.includes(":")
    ? undefined
    : `${file.slice(0, line)}:${file.slice(line + 1, -documentSuffix.length)}`;
}
