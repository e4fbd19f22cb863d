import { trimEndWhere } from "../../../util/text/trim-where.js";
import { attributionAt, attributionBefore } from "./attributions.js";
import { headAt } from "./heads.js";
import { addressesOf, isDeviceLine } from "./shapes.js";

/** A mail's text, taken apart. Each of its words is in one of the parts, or counted in `leftOut`. */
export interface SplitText {
  /** What the author wrote, with a mark where something of others was between it. */
  readonly own: string;
  /** What the author's program has put below: a name, a company, a phone. */
  readonly signature: string;
  /** What is there of others, or may be: quotes that are not known, mails that are passed on. */
  readonly others: string;
  /** A mail was passed on, and not answered. */
  readonly isForward: boolean;
  /** Quotes of the conversation itself that stay in `own`, as the author has answered between their lines. */
  readonly recalled: string;
  /** How many lines are not there, because the conversation holds them already. */
  readonly leftOut: number;
}

/** What is known about the conversation that a mail belongs to. */
export interface Conversation {
  /** Whether all of a text was said in it. */
  readonly holds: (text: string) => boolean;
  /** In lower case: who takes part in it. */
  readonly addresses: ReadonlySet<string>;
}

interface Piece {
  /** `rest`: all below a line that says whose it is, where nothing shows its end. */
  readonly kind: "own" | "quote" | "rest";
  /** Who is said to have written it. */
  readonly head: readonly string[];
  readonly lines: readonly string[];
  readonly isForward: boolean;
}

const none: Conversation = { holds: () => false, addresses: new Set() };
const mostSignatureLines = 6;
const longestSignature = 400;
/** So many lines of a quote may be above the headers of a mail that is passed on. */
const longestPreface = 12;
/** Programs break lines that are longer, and some do so after they have marked a quote. */
const brokenAt = 65;

/** Nothing counts as a quote of the conversation but what `conversation` surely holds; everything else is kept. */
export function splitText(text: string, conversation: Conversation = none): SplitText {
  const signatures: string[] = [];
  const pieces = piecesOf(linesOf(text)).flatMap((piece) => {
    if (piece.kind !== "own") return [piece];
    const { lines, signature } = withoutSignature(piece.lines);
    if (signature !== "") signatures.push(signature);
    return clean(lines) === "" ? [] : [{ ...piece, lines }];
  });
  const quotes = pieces.filter(({ kind }) => kind !== "own");
  const known = new Set(quotes.filter((piece) => isKnown(piece, conversation)));
  const unknown = quotes.filter((piece) => !known.has(piece));
  const isAnsweredBetween = pieces.some(
    ({ kind }, at) =>
      kind === "own" &&
      pieces.slice(0, at).some((piece) => piece.kind === "quote") &&
      pieces.slice(at + 1).some((piece) => piece.kind === "quote"),
  );
  const recalled = isAnsweredBetween ? [...known].filter(({ kind }) => kind === "quote") : [];
  const left = [...known].filter((piece) => !recalled.includes(piece));
  const isMarked = unknown.length > 1 || unknown.some((piece) => isBetween(pieces, piece));
  const mark = (piece: Piece): string => (isMarked ? `[quoted text ${unknown.indexOf(piece) + 1}]` : "");
  const own = pieces.flatMap((piece) => {
    if (piece.kind === "own" || recalled.includes(piece)) return piece.lines;
    return known.has(piece) || !isMarked ? [""] : [mark(piece)];
  });
  return {
    own: clean(own),
    signature: signatures.join("\n"),
    others: unknown.map((piece) => clean([mark(piece), ...shownLines(piece)])).join("\n\n"),
    isForward: unknown.some(({ isForward }) => isForward),
    recalled: clean(recalled.flatMap((piece) => piece.lines.map(withoutMark))),
    leftOut: left.flatMap(({ head, lines }) => [...head, ...lines]).filter((line) => withoutMark(line) !== "").length,
  };
}

function linesOf(text: string): readonly string[] {
  const lines = text.replace(/\r\n?/g, "\n");
  // The end of an address that a program has put into the next line is not a mark of a quote.
  return lines.replace(/(<[^<>\s]{3,255})\n>(?=[^>\n]{0,40}[:：][ \t]*(?:\n|$))/g, "$1>").split("\n");
}

function piecesOf(lines: readonly string[]): readonly Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  const own = (end: number): void => {
    if (end > from) pieces.push({ kind: "own", head: [], lines: lines.slice(from, end), isForward: false });
  };
  for (let at = 0; at < lines.length; ) {
    if (isQuoted(lines[at])) {
      let top = at;
      while (top > from && lines[top - 1]?.trim() === "") top -= 1;
      const head = attributionBefore(lines, top, from);
      own(top - head);
      const end = endOfQuote(lines, at);
      pieces.push(quoteOf(lines.slice(top - head, top), lines.slice(at, end)));
      at = end;
      from = end;
      continue;
    }
    const found = beginningAt(lines, at);
    if (found === undefined) at += 1;
    else {
      own(at);
      const { length, isForward } = found;
      const head = lines.slice(at, at + length);
      return [...pieces, { kind: "rest", head, lines: lines.slice(at + length), isForward }];
    }
  }
  own(lines.length);
  return pieces;
}

function quoteOf(head: readonly string[], lines: readonly string[]): Piece {
  const bare = lines.slice(0, longestPreface).map((line) => line.replace(/^(?:>\s?)+/, ""));
  return { kind: "quote", head, lines, isForward: bare.some((_, at) => headAt(bare, at)?.isForward === true) };
}

/** Where somebody else's text begins that has no marks of a quote. */
function beginningAt(lines: readonly string[], at: number): { length: number; isForward: boolean } | undefined {
  if (lines[at]?.trim() === "") return undefined;
  const head = headAt(lines, at);
  if (head !== undefined) return head;
  const length = attributionAt(lines, at);
  if (length === 0) return undefined;
  let next = at + length;
  while (next < lines.length && lines[next]?.trim() === "") next += 1;
  return isQuoted(lines[next]) ? undefined : { length, isForward: false };
}

function isQuoted(line: string | undefined): boolean {
  return line?.startsWith(">") === true;
}

/** Blank lines between two quoted ones are part of the quote, and so is the end of a long line that was broken. */
function endOfQuote(lines: readonly string[], from: number): number {
  let end = from;
  for (let at = from; at < lines.length; at++) {
    const line = lines[at] ?? "";
    if (isQuoted(line)) end = at + 1;
    else if (line.trim() !== "" && !isBrokenOff(lines, at)) break;
  }
  return end;
}

function isBrokenOff(lines: readonly string[], at: number): boolean {
  const [above = "", line = "", below] = lines.slice(at - 1, at + 2);
  return isQuoted(above) && isQuoted(below) && above.length >= brokenAt && line.length < above.length;
}

/** All of it was said in the conversation, by those who take part in it, as far as the lines above say by whom. */
function isKnown({ head, lines }: Piece, { holds, addresses }: Conversation): boolean {
  const bare = lines.map((line) => line.replace(/^(?:>\s?)+/, ""));
  const said: string[] = [];
  const heads = [head];
  for (let at = 0; at < bare.length; ) {
    const inner = headAt(bare, at)?.length ?? attributionAt(bare, at);
    if (inner === 0) said.push(bare[at] ?? "");
    else heads.push(bare.slice(at, at + inner));
    at += Math.max(1, inner);
  }
  const authors = heads.flatMap((each) => addressesOf(each.join("\n")).slice(0, 1));
  return authors.every((address) => addresses.has(address)) && holds(said.join("\n"));
}

function isBetween(pieces: readonly Piece[], piece: Piece): boolean {
  const at = pieces.indexOf(piece);
  const isOwn = ({ kind }: Piece): boolean => kind === "own";
  return pieces.slice(0, at).some(isOwn) && pieces.slice(at + 1).some(isOwn);
}

function shownLines({ kind, head, lines }: Piece): readonly string[] {
  return kind === "rest" ? [...head, ...lines] : [...head, ...lines.map(withoutMark)];
}

function withoutMark(line: string): string {
  return line.replace(/^>\s?/, "").trimEnd();
}

/** A few lines below `--`, or what a phone writes. More than a few are a text like any other. */
function withoutSignature(lines: readonly string[]): { lines: readonly string[]; signature: string } {
  const mark = lines.findIndex((line) => line === "-- " || line === "--");
  const below = mark === -1 ? "" : clean(lines.slice(mark + 1));
  if (below !== "" && below.length <= longestSignature && below.split("\n").length <= mostSignatureLines)
    return { lines: lines.slice(0, mark), signature: below };
  const last = lines.findLastIndex((line) => line.trim() !== "");
  if (last === -1 || !isDeviceLine(lines[last] ?? "")) return { lines, signature: "" };
  return { lines: lines.slice(0, last), signature: lines[last]?.trim() ?? "" };
}

function clean(lines: readonly string[]): string {
  return lines
    .map((line) => trimEndWhere(line, (unit) => unit === " " || unit === "\t"))
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}
