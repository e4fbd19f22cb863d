import { cutText } from "../../util/text/cut-text.js";

export type Edit =
  | { readonly ok: true; readonly text: string; readonly diff: string }
  | { readonly ok: false; readonly problem: string };

const contextLines = 3;
const maxDiffLines = 60;
const maxDiffColumns = 200;

/** Replaces `oldText`, which must be in the text once. New lines get the line ending that the file mostly has. */
export function replaceOnce(text: string, oldText: string, newText: string): Edit {
  const ending = prevailingEnding(text);
  const wanted = text.includes(oldText) ? oldText : oldText.replace(/\r?\n/g, ending);
  const replacement = newText.replace(/\r?\n/g, ending);
  const positions = positionsOf(text, wanted);
  const [start] = positions;
  if (start === undefined) return { ok: false, problem: notFound(text, oldText) };
  if (positions.length > 1) {
    const lines = positions.slice(0, 10).map((position) => lineAt(text, position));
    return {
      ok: false,
      problem: `old_text was found ${positions.length} times (lines ${lines.join(", ")}); add lines around it until it is unique.`,
    };
  }
  if (wanted === replacement) return { ok: false, problem: "old_text and new_text are the same." };
  const edited = text.slice(0, start) + replacement + text.slice(start + wanted.length);
  return { ok: true, text: edited, diff: diffOf(text, edited) };
}

function positionsOf(text: string, wanted: string): number[] {
  const positions: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) positions.push(at);
  return positions;
}

function notFound(text: string, oldText: string): string {
  const first = oldText
    .split(/\r?\n/)
    .map(squeeze)
    .find((line) => line !== "");
  const line = first === undefined ? -1 : text.split("\n").findIndex((each) => squeeze(each).includes(first));
  const hint =
    line === -1
      ? "Read the file and copy the text exactly."
      : `Line ${line + 1} is like it, but spaces or other lines differ.`;
  return `old_text was not found. ${hint}`;
}

function squeeze(line: string): string {
  return line.replace(/\s+/g, " ").trim();
}

function lineAt(text: string, position: number): number {
  return text.slice(0, position).split("\n").length;
}

function prevailingEnding(text: string): string {
  const all = text.split("\n").length - 1;
  const windows = text.split("\r\n").length - 1;
  return windows > all / 2 ? "\r\n" : "\n";
}

/** A unified diff with one hunk, for two texts that differ in one place. */
function diffOf(before: string, after: string): string {
  const a = before.split(/\r?\n/);
  const b = after.split(/\r?\n/);
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < Math.min(a.length, b.length) - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const from = Math.max(0, head - contextLines);
  const kept = Math.min(tail, contextLines);
  const lines = [
    ...a.slice(from, head).map((line) => ` ${line}`),
    ...a.slice(head, a.length - tail).map((line) => `-${line}`),
    ...b.slice(head, b.length - tail).map((line) => `+${line}`),
    ...a.slice(a.length - tail, a.length - tail + kept).map((line) => ` ${line}`),
  ];
  const header = `@@ -${from + 1},${a.length - tail + kept - from} +${from + 1},${b.length - tail + kept - from} @@`;
  const more = lines.length > maxDiffLines ? [`[${lines.length - maxDiffLines} more lines]`] : [];
  return [header, ...lines.slice(0, maxDiffLines).map((line) => cutText(line, maxDiffColumns)), ...more].join("\n");
}
