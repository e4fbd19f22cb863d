import { crc32 } from "node:zlib";

const newline = 0x0a;
const jsonStart = 9;

/** One line of a journal or a session log: `crc32 SP json LF`, with the checksum of the json's bytes in 8 hex digits. */
export function encodeLine(json: string): Buffer {
  const body = Buffer.from(json);
  const line = Buffer.allocUnsafe(jsonStart + body.length + 1);
  line.write(`${crc32(body).toString(16).padStart(8, "0")} `, 0, "latin1");
  body.copy(line, jsonStart);
  line[line.length - 1] = newline;
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
