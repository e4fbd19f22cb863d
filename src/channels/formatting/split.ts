import { closingLine, fenceAfter, reopen } from "../../util/text/fence.js";
import { findCut } from "./cut.js";
import { headerOfCutTable } from "./table.js";

/**
 * Cuts Markdown into pieces of at most `limit` (64 or more), as `measure` counts: between paragraphs where possible,
 * else between lines, sentences, words. A code block that is cut is closed and opened again with its language, a table
 * repeats its header. Only white space at the cuts is dropped. A text that fits comes back as it is; a blank one gives
 * no piece.
 */
export function splitMarkdown(
  text: string,
  limit: number,
  measure: (piece: string) => number = (piece) => piece.length,
): string[] {
  const pieces: string[] = [];
  let left: Rest = { text: text.replace(/\r\n?/g, "\n"), repeated: 0 };
  while (left.text.trim() !== "") {
    // Rendering shortens, but hardly to a quarter: longer texts need not be measured as a whole.
    if (left.text.length <= limit * 4 && measure(left.text) <= limit) {
      pieces.push(left.text);
      break;
    }
    const cut = cutOff(left, limit, measure);
    // What is cut off a text that begins with white space may be white space alone.
    if (cut.piece.trim() !== "") pieces.push(cut.piece);
    left = cut.rest;
  }
  return pieces;
}

interface Rest {
  readonly text: string;
  /** Characters at its begin that an earlier piece has shown already: an opening line, a table's header. */
  readonly repeated: number;
}

function cutOff(
  { text, repeated }: Rest,
  limit: number,
  measure: (piece: string) => number,
): { readonly piece: string; readonly rest: Rest } {
  const least = repeated + 1;
  let room = Math.max(Math.min(limit, text.length - 1), least);
  for (;;) {
    const end = findCut(text, room, least);
    const head = text.slice(0, end);
    const piece = closed(head);
    const size = measure(piece);
    if (size <= limit || room <= least) return { piece, rest: restAfter(head, text.slice(end), limit) };
    room = Math.max(Math.min(Math.floor((room * limit) / size), room - 1), least);
  }
}

function closed(head: string): string {
  const open = fenceAfter(head);
  if (open === undefined) return head.trimEnd();
  return `${head.endsWith("\n") ? head : `${head}\n`}${closingLine(open)}`;
}

function restAfter(head: string, tail: string, limit: number): Rest {
  const open = fenceAfter(head);
  if (open !== undefined) return reopen(open, head.endsWith("\n") ? tail : tail.replace(/^\n/, ""));
  const header = headerOfCutTable(head, tail);
  if (header !== "" && header.length < limit / 4) return { text: header + tail, repeated: header.length };
  return { text: tail.replace(/^\s+/, ""), repeated: 0 };
}
