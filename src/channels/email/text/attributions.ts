import { bareLine, hasAddress, hasDate } from "./shapes.js";

const mostLines = 3;
const longest = 400;
const words =
  /^(?:On\s.+\swrote|Am\s.+\sschrieb.*|Le\s.+\sa écrit|El\s.+\sescribió|Il\s.+\sha scritto|Op\s.+\sschreef.*|Den\s.+\sskrev.*|在.+写道|.+\swrote)(?:\s?[:：])?$/s;
const dated = /^(?:On|Am|Le|El|Il|Op|Den|在)\s?.*\d{4}/s;

/**
 * How many lines before `end` say that somebody wrote what follows, like `On Monday Bob <bob@b.example> wrote:`; 0: none
 * do. No more of them than needed: what is above is the author's.
 */
export function attributionBefore(lines: readonly string[], end: number, start: number): number {
  let found = 0;
  for (let count = 1; count <= mostLines && end - count >= start; count++) {
    const part = lines.slice(end - count, end);
    const top = part[0]?.trim() ?? "";
    if (top === "" || (count > 1 && !isBroken(top))) break;
    const text = joined(part);
    if (text.length > longest || !/[:：]$/.test(text)) break;
    if (hasDate(text) && (hasAddress(text) || words.test(text))) return count;
    if (found === 0 && (hasDate(text) || hasAddress(text) || words.test(text))) found = count;
  }
  return found;
}

/**
 * The same at a line that no quote mark follows: surer signs are wanted, because anybody may end a line with a colon.
 * The number of its lines; 0: it is none.
 */
export function attributionAt(lines: readonly string[], at: number): number {
  for (let count = 1; count <= mostLines; count++) {
    const last = lines[at + count - 1];
    if (last === undefined || last.trim() === "" || (count > 1 && !isBroken(lines[at + count - 2]?.trim() ?? "")))
      return 0;
    const text = joined(lines.slice(at, at + count));
    if (text.length > longest) return 0;
    const isIntroduced = words.test(text);
    if (!/[:：]$/.test(text) && !(isIntroduced && hasAddress(text))) continue;
    return hasDate(text) && (hasAddress(text) || (isIntroduced && dated.test(text))) ? count : 0;
  }
  return 0;
}

/** A line that a program may have broken: a sentence that is over goes on in none. */
function isBroken(line: string): boolean {
  return !/[.!?。！？:：]$/.test(line);
}

function joined(lines: readonly string[]): string {
  return lines.map(bareLine).join(" ").trim();
}
