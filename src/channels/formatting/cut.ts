import { type Fence, isClosedBy, openedBy } from "../../util/text/fence.js";
import { isTableRule } from "./table.js";

/** Boundaries from best to worst. */
type Rank = "paragraph" | "line" | "sentence" | "word";
const ranks: readonly Rank[] = ["paragraph", "line", "sentence", "word"];

/** A better boundary wins unless it leaves the piece emptier than this share of its room. */
const emptiest = 0.4;

/**
 * Where to cut a text so that at most `room` characters are before the cut, and at least `least`: at the last of the
 * best boundaries, never inside a surrogate pair or an HTML entity.
 */
export function findCut(text: string, room: number, least: number): number {
  const found = boundaries(text.slice(0, room + 1), room, least);
  for (const rank of ranks) {
    const at = found[rank];
    if (at >= room * emptiest) return at;
  }
  const best = Math.max(...Object.values(found));
  return best >= least ? best : hardCut(text, room, least);
}

type Found = Record<Rank, number>;

function boundaries(text: string, room: number, least: number): Found {
  const found: Found = { paragraph: -1, line: -1, sentence: -1, word: -1 };
  let open: Fence | undefined;
  let start = 0;
  let wasRule = false;
  const note = (rank: Rank, at: number): void => {
    if (at >= least && at <= room && at > found[rank]) found[rank] = at;
  };
  for (const line of text.split("\n")) {
    const end = start + line.length;
    const isWhole = end < text.length;
    const before: Fence | undefined = open;
    if (open === undefined) open = openedBy(line);
    else if (isClosedBy(open, line)) open = undefined;

    // Before a line: not right after an opening line, nor right before a closing one, where a block would be empty;
    // not between a table's header and its rows.
    const endsBlock = before !== undefined && open === undefined;
    const afterOpening = before !== undefined && start > 0 && openedJustBefore(text, start, before);
    const isRule = isTableRule(line);
    if (start > 0 && !endsBlock && !afterOpening && !isRule && !wasRule) {
      note(before === undefined && (line.trim() === "" || isBlankBefore(text, start)) ? "paragraph" : "line", start);
    }
    if (isWhole && endsBlock) note("line", end + 1);
    if (before === undefined && open === undefined) noteInside(line, start, note);
    else if (before !== undefined && open !== undefined) noteWords(line, start, note);
    start = end + 1;
    wasRule = isRule;
  }
  return found;
}

function isBlankBefore(text: string, start: number): boolean {
  const previous = text.lastIndexOf("\n", start - 2);
  return text.slice(previous + 1, start - 1).trim() === "";
}

function openedJustBefore(text: string, start: number, fence: Fence): boolean {
  const line = text.slice(text.lastIndexOf("\n", start - 2) + 1, start - 1);
  const opened = openedBy(line);
  return opened !== undefined && opened.marker === fence.marker && opened.info === fence.info;
}

/** The last end of a sentence and of a word. Those inside `code`, **bold** or a [link](…) do not count. */
function noteInside(line: string, start: number, note: (rank: Rank, at: number) => void): void {
  const ends = [...line.matchAll(/([.!?…]["')\]*_]*|[。！？]["'」』）]*)?(\s+)|[。！？]["'」』）]*/gu)];
  let hasWord = false;
  for (const match of ends.reverse()) {
    const at = match.index + match[0].length;
    const isWord = match[2] !== undefined && match[1] === undefined;
    if (at >= line.length || (isWord && hasWord) || isInsideMarks(line.slice(0, at))) continue;
    note(isWord ? "word" : "sentence", start + at);
    if (!isWord) return;
    hasWord = true;
  }
}

function noteWords(line: string, start: number, note: (rank: Rank, at: number) => void): void {
  for (const match of line.matchAll(/\s+/g)) note("word", start + match.index + match[0].length);
}

function isInsideMarks(head: string): boolean {
  if (/^\s*(?:[-*+]|\d+[.)])\s*$/.test(head)) return true;
  if (count(head, /`/g) % 2 === 1 || count(head, /\*\*/g) % 2 === 1 || count(head, /~~/g) % 2 === 1) return true;
  const bracket = head.lastIndexOf("[");
  return bracket !== -1 && !/^\[[^\]]*\](?:\([^)]*\)|(?!\())/.test(head.slice(bracket));
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

function hardCut(text: string, room: number, least: number): number {
  // Even between words that are inside marks is better than inside a word.
  const space = text.slice(0, room).search(/\s\S*$/);
  const at = space + 1 >= Math.max(least, room * emptiest) ? space + 1 : room;
  const entity = /&(?:#\w{0,7}|\w{0,8})$/.exec(text.slice(0, at));
  if (entity !== null && /^&#?\w+;/.test(text.slice(entity.index)) && entity.index >= least) return entity.index;
  const isPair = /[\ud800-\udbff]/.test(text[at - 1] ?? "") && /[\udc00-\udfff]/.test(text[at] ?? "");
  return isPair ? (at - 1 >= least ? at - 1 : at + 1) : at;
}
