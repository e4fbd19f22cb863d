import { decodeWindows } from "../../../util/text/windows-charset.js";
import { headerBlock } from "../header-lines.js";

const longestRaw = 20_000;
const partHeader = /^content-[a-z-]{2,40}[ \t]*:/i;
const partStart = /^--[^\s]/;
/** Headers of a part come at once. */
const mostBlank = 1;

/**
 * The same mail with parts where it looks as if parts begin: a line with two dashes, and a header of a part below it.
 * Undefined where none looks so.
 */
export function withGuessedParts(source: Buffer): Buffer | undefined {
  const head = headerBlock(source);
  const lines = bodyOf(source, head).toString("latin1").split(/\r?\n/);
  const boundary = freshBoundary(lines);
  const built: string[] = [];
  let parts = 0;
  for (const [at, line] of lines.entries()) {
    if (partStart.test(line) && hasHeaderBelow(lines, at)) {
      built.push("", `--${boundary}`);
      parts += 1;
      // Lines between are headers of the part.
      continue;
    }
    const isEnd = partStart.test(line) && line.trimEnd().endsWith("--") && parts > 0;
    built.push(isEnd ? `--${boundary}\r\nContent-Type: text/plain\r\n` : line);
  }
  if (parts === 0) return undefined;
  const type = `MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="${boundary}"\r\n\r\n`;
  return Buffer.from(`${type}${built.join("\r\n")}\r\n--${boundary}--\r\n`, "latin1");
}

/** The same mail with texts as they are, instead of texts that are said to be base64. */
export function withoutEncoding(source: Buffer): Buffer {
  const lines = source.toString("latin1").split("\n");
  let isHead = true;
  const changed = lines.map((line) => {
    if (partStart.test(line)) isHead = true;
    else if (line.trim() === "") isHead = false;
    return isHead
      ? line.replace(/^content-transfer-encoding[ \t]*:[^\n]*/i, "Content-Transfer-Encoding: 8bit\r")
      : line;
  });
  return Buffer.from(changed.join("\n"), "latin1");
}

/** All below the headers, as it came. */
export function rawText(source: Buffer): string {
  const body = bodyOf(source, headerBlock(source));
  const text = body.toString("utf8");
  const letters = text.includes("\ufffd") ? decodeWindows(body, "windows-1252") : text;
  const shown = letters.replace(/\p{Cc}/gu, (unit) => (unit === "\n" || unit === "\t" ? unit : "")).trim();
  return shown.length <= longestRaw ? shown : `${shown.slice(0, longestRaw)}\n\n[The rest is left out.]`;
}

export function bodyOf(source: Buffer, head: Buffer): Buffer {
  return source.subarray(head.length);
}

function hasHeaderBelow(lines: readonly string[], at: number): boolean {
  let next = at + 1;
  while (next <= at + mostBlank && lines[next]?.trim() === "") next += 1;
  return partHeader.test(lines[next] ?? "");
}

function freshBoundary(lines: readonly string[]): string {
  for (let number = 0; ; number++) {
    const boundary = `guessed-${number}`;
    if (!lines.some((line) => line.includes(boundary))) return boundary;
  }
}
