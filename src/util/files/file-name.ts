import { basename, extname } from "node:path";
import { trimWhere } from "../text/trim-where.js";
import { wellFormed } from "../text/well-formed.js";

/** In bytes. */
const longestName = 160;

/** A stranger chose this name: one short part of a path that shows itself and hides nothing. */
export function plainName(filename: string): string {
  const last = wellFormed(filename).split(/[/\\]/).at(-1) ?? "";
  const shown = last.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}<>:"|?*]+/gu, "_");
  const plain = trimWhere(shown, (unit) => unit === "." || unit.trim() === "");
  if (plain === "") return "file";
  const ending = wellFormed(extname(plain).slice(0, 16));
  let stem = "";
  // File systems count bytes, of which a letter has up to four.
  for (const letter of plain.slice(0, plain.length - ending.length)) {
    if (Buffer.byteLength(stem + letter + ending) > longestName) break;
    stem += letter;
  }
  return stem + ending;
}

/** A file's name as people gave it, without the mark that the gateway puts in front of files that came. */
export function shownName(path: string): string {
  return basename(path).replace(/^[0-9a-f]{8}-(?=.)/, "");
}
