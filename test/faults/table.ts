import type { FaultRow } from "./measure.js";

const begin = "<!-- faults: begin (npm run faults -- --write) -->";
const end = "<!-- faults: end -->";

const columns: readonly (readonly [title: string, read: (row: FaultRow) => string])[] = [
  ["channel", ({ channel }) => channel],
  ["what goes wrong", ({ fault }) => fault],
  ["messages", ({ messages }) => String(messages)],
  ["lost", ({ lost }) => String(lost)],
  ["repeated", ({ repeated }) => String(repeated)],
  ["of those marked in the log", ({ marked }) => String(marked)],
];

/** The table in Markdown, a line for each row. */
export function toFaultTable(rows: readonly FaultRow[]): string {
  const lines = rows.map((row) => columns.map(([, read]) => read(row)));
  const head = columns.map(([title]) => title);
  const widths = head.map((title, index) => Math.max(title.length, ...lines.map((line) => line[index]?.length ?? 0)));
  const toLine = (cells: readonly string[]): string =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(" | ")} |`;
  return [toLine(head), toLine(widths.map((width) => "-".repeat(width))), ...lines.map(toLine)].join("\n");
}

/** The lines of the page's table about one channel, without the padding. */
export function linesOf(page: string, channel: string): readonly string[] {
  return between(page)
    .split("\n")
    .map((line) => line.replace(/ +/g, " "))
    .filter((line) => line.startsWith(`| ${channel} |`));
}

export function putIntoPage(page: string, table: string): string {
  const old = between(page);
  return page.replace(`${begin}${old}${end}`, `${begin}\n\n${table}\n\n${end}`);
}

function between(page: string): string {
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from === -1 || to < from) throw new Error(`The page lacks the marks ${begin} and ${end}`);
  return page.slice(from + begin.length, to);
}
