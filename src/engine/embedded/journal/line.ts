import { crc32 } from "node:zlib";

const newline = 0x0a;
const jsonStart = 9;

/** One line of a journal or a session log: `crc32 SP json LF`, with the checksum of the json's bytes in 8 hex digits. */
export function encodeLine(json: string): Buffer {
  const line = Buffer.allocUnsafe(jsonStart + Buffer.byteLength(json) + 1);
  line.write(json, jsonStart);
  line[line.length - 1] = newline;
  const checksum = crc32(line.subarray(jsonStart, -1));
  line.write(`${checksum.toString(16).padStart(8, "0")} `, 0, "latin1");
  return line;
}

/** The JSON value of a line, with or without its LF; undefined when the line is damaged. */
export function decodeLine(line: Buffer): unknown {
  const end = line.at(-1) === newline ? line.length - 1 : line.length;
  const body = line.subarray(jsonStart, end);
  if (body.length === 0 || line[jsonStart - 1] !== 0x20) return undefined;
  const checksum = line.toString("latin1", 0, jsonStart - 1);
  if (!/^[0-9a-f]{8}$/.test(checksum) || Number.parseInt(checksum, 16) !== crc32(body)) return undefined;
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
