import { stripVTControlCharacters } from "node:util";
import { renderInline, styled } from "./inline.js";

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;

/** The lines of a table in columns; undefined where it is none, or is wider than the terminal. */
export function renderTable(lines: readonly string[], columns: number): readonly string[] | undefined {
  const [head, rule, ...body] = lines.map(cellsOf);
  if (head === undefined || rule === undefined || !rule.every((cell) => /^:?-+:?$/.test(cell))) return undefined;
  if (body.some((row) => row.length > head.length)) return undefined;
  const rows = [head, ...body].map((row) => head.map((_, at) => renderInline(row[at] ?? "")));
  const widths = head.map((_, at) => Math.max(...rows.map((row) => widthOf(row[at] ?? ""))));
  if (widths.reduce((sum, width) => sum + width + 3, -3) > columns) return undefined;
  const shown = rows.map((row) =>
    row
      .map((cell, at) => padded(cell, widths[at] ?? 0, rule[at] ?? ""))
      .join(styled("quiet", " │ "))
      .trimEnd(),
  );
  const line = styled("quiet", widths.map((width) => "─".repeat(width)).join("─┼─"));
  const [first = "", ...others] = shown;
  return [styled("bold", first), line, ...others];
}

function cellsOf(line: string): readonly string[] {
  const inside = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return inside.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function padded(cell: string, width: number, rule: string): string {
  const missing = Math.max(0, width - widthOf(cell));
  const left = rule.endsWith(":") ? (rule.startsWith(":") ? Math.floor(missing / 2) : missing) : 0;
  return " ".repeat(left) + cell + " ".repeat(missing - left);
}

function widthOf(text: string): number {
  return [...stripVTControlCharacters(text)].reduce((sum, character) => sum + (wide.test(character) ? 2 : 1), 0);
}
