import type { Token, Tokens } from "marked";

/** Cells wider than this are not padded, so that one long cell does not blow up all rows. */
const widestPadding = 40;

/** A table as lines of equally wide columns, for a monospaced font. */
export function alignedTable(table: Tokens.Table, render: (cell: readonly Token[]) => string): string {
  const rows = [table.header, ...table.rows].map((row) => row.map((cell) => oneLine(render(cell.tokens))));
  const widths = table.header.map((_cell, column) =>
    Math.min(Math.max(...rows.map((row) => displayWidth(row[column] ?? ""))), widestPadding),
  );
  const lines = rows.map((row) =>
    widths
      .map((width, column) => pad(row[column] ?? "", width, table.align[column] ?? null))
      .join(" | ")
      .trimEnd(),
  );
  const rule = widths.map((width) => "-".repeat(Math.max(width, 1))).join("-|-");
  const header = lines.slice(0, 1).filter((line) => line !== "");
  return [...header, rule, ...lines.slice(1)].join("\n");
}

function pad(text: string, width: number, align: Tokens.Table["align"][number]): string {
  const missing = Math.max(width - displayWidth(text), 0);
  const left = align === "right" ? missing : align === "center" ? Math.floor(missing / 2) : 0;
  return " ".repeat(left) + text + " ".repeat(missing - left);
}

const wide =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uff01-\uff60]/u;
const zeroWidth = /\p{Mark}|[\u200b-\u200c]|\u200d/u;

/** Columns that a text takes in a monospaced font: East Asian characters and emoji take two. */
function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += zeroWidth.test(character) ? 0 : wide.test(character) ? 2 : 1;
  return width;
}

/** The header and rule lines to repeat when a cut went between two rows of a table; empty when it did not. */
export function headerOfCutTable(head: string, tail: string): string {
  if (!head.endsWith("\n") || !isRow(tail.split("\n", 1)[0])) return "";
  const lines = head.trimEnd().split("\n");
  let top = lines.length;
  while (top > 0 && isRow(lines[top - 1])) top -= 1;
  const [header, rule] = lines.slice(top);
  return rule !== undefined && isTableRule(rule) ? `${header}\n${rule}\n` : "";
}

function oneLine(text: string): string {
  return text
    .split("\n")
    .map((line) => line.trim())
    .join(" ");
}

/** The line below a table's header. */
export function isTableRule(line: string): boolean {
  return line.includes("|") && line.includes("-") && /^[\s|:-]*$/.test(line);
}

function isRow(line: string | undefined): boolean {
  return (line ?? "").trimStart().startsWith("|");
}
