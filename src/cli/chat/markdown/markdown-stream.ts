import { renderInline, renderKnown, styled } from "./inline.js";
import { renderTable } from "./table.js";

/** Where text is shown. */
export interface MarkdownOutput {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** What may still become the beginning of a block that is not a paragraph. */
const openMark = /^\s*(?:#{1,6}\s*|[-+*]\s*(?:\[[ xX]?\]?\s*)?|\*\*\s*|_{1,2}\s*|>|`{1,2}|~{1,2}|)$/;
const quoteMarks = /^(?:\s{0,3}>\s?)+/;
/** Lines that are looked at as a whole: fences, rules, rows of a table. */
const wholeLine = /^\s*(?:`{3}|~{3}|\||-\s*-|\*\s+\*|\*\*\s*\*|_\s+_|__\s*_)/;
const ruleLine = /^\s*(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/;
const usualColumns = 80;

/**
 * Turns Markdown that comes in pieces into what a terminal shows. What is certain is given at once; a mark whose end has not
 * come, and a table, are held back until they are whole.
 */
export class MarkdownStream {
  readonly #columns: number;
  /** Of the line that is open, what was not shown yet. */
  #pending = "";
  /** The open line has begun to be shown, as a heading or not. */
  #begun: "no" | "text" | "heading" = "no";
  /** The last character of it that was taken. */
  #before = "";
  #fence: string | undefined;
  #table: string[] = [];

  constructor({ columns = usualColumns }: MarkdownOutput) {
    this.#columns = columns;
  }

  /** What can be shown of it now. */
  add(text: string): string {
    this.#pending += text;
    let shown = "";
    for (let end = this.#pending.indexOf("\n"); end >= 0; end = this.#pending.indexOf("\n")) {
      const line = this.#pending.slice(0, end).replace(/\r$/, "");
      this.#pending = this.#pending.slice(end + 1);
      shown += this.#line(line);
    }
    return shown + this.#partOfLine();
  }

  /** Everything that was held back. Then it is at the beginning of a text again. */
  end(): string {
    const isOpen = this.#pending !== "" || this.#begun !== "no";
    const last = isOpen ? this.#line(this.#pending).replace(/\n$/, "") : "";
    const table = this.#endOfTable();
    this.#pending = "";
    this.#fence = undefined;
    return last + table.replace(/\n$/, "");
  }

  /** One line that is whole. */
  #line(line: string): string {
    if (this.#begun !== "no") {
      const rest = this.#shownAs(renderInline(line, this.#before));
      this.#begun = "no";
      this.#before = "";
      return `${rest}\n`;
    }
    const fence = this.#aboutFence(line);
    if (fence !== undefined) return this.#endOfTable() + fence;
    if (/^\s*\|/.test(line) || (this.#table.length > 0 && line.includes("|"))) {
      this.#table.push(line);
      return "";
    }
    const table = this.#endOfTable();
    if (ruleLine.test(line)) return `${table}${styled("quiet", "─".repeat(Math.min(40, this.#columns)))}\n`;
    const { prefix, text, isHeading } = beginning(line);
    const shown = renderInline(text);
    return `${table}${prefix}${isHeading ? styled("bold", shown) : shown}\n`;
  }

  /** The line as part of a block of code; undefined outside of one. */
  #aboutFence(line: string): string | undefined {
    const mark = /^\s*(`{3,}|~{3,})\s*([^`]*)$/.exec(line);
    if (this.#fence === undefined) {
      if (mark === null) return undefined;
      this.#fence = mark[1];
      const language = mark[2]?.trim() ?? "";
      return language === "" ? "" : `${styled("quiet", language)}\n`;
    }
    if (mark !== null && mark[2]?.trim() === "" && mark[1]?.startsWith(this.#fence)) {
      this.#fence = undefined;
      return "";
    }
    return `${styled("code", line)}\n`;
  }

  /** As much of the open line as is certain. */
  #partOfLine(): string {
    let prefix = "";
    if (this.#begun === "no") {
      if (this.#fence !== undefined || this.#table.length > 0) return "";
      if (openMark.test(this.#pending.replace(quoteMarks, "")) || wholeLine.test(this.#pending)) return "";
      const begins = beginning(this.#pending);
      ({ prefix } = begins);
      this.#pending = begins.text;
      this.#begun = begins.isHeading ? "heading" : "text";
    }
    const { shown, rest } = renderKnown(this.#pending, this.#before);
    const taken = this.#pending.slice(0, this.#pending.length - rest.length);
    this.#before = taken.at(-1) ?? this.#before;
    this.#pending = rest;
    return prefix + this.#shownAs(shown);
  }

  #shownAs(text: string): string {
    return this.#begun === "heading" ? styled("bold", text) : text;
  }

  #endOfTable(): string {
    const lines = this.#table;
    this.#table = [];
    if (lines.length === 0) return "";
    return `${(renderTable(lines, this.#columns) ?? lines.map((line) => renderInline(line))).join("\n")}\n`;
  }
}

/** A whole text. */
export function renderMarkdown(text: string, output: MarkdownOutput): string {
  const stream = new MarkdownStream(output);
  return stream.add(text) + stream.end();
}

interface Beginning {
  readonly prefix: string;
  readonly text: string;
  readonly isHeading: boolean;
}

/** Bullets, numbers, marks of quotes and headings, as a terminal shows them. */
function beginning(line: string): Beginning {
  const heading = /^\s{0,3}#{1,6}\s+(.*)$/s.exec(line);
  if (heading !== null) return { prefix: "", text: heading[1] ?? "", isHeading: true };
  const quote = /^(\s{0,3})>\s?(.*)$/s.exec(line);
  if (quote !== null) {
    const inside = beginning(quote[2] ?? "");
    return { ...inside, prefix: `${quote[1]}${styled("quiet", "│ ")}${inside.prefix}` };
  }
  const item = /^(\s*)[-*+]\s+(?:\[([ xX])\]\s+)?(.*)$/s.exec(line);
  if (item !== null) {
    const box = item[2] === undefined ? "•" : item[2] === " " ? "☐" : "☑";
    return { prefix: `${item[1]}${box} `, text: item[3] ?? "", isHeading: false };
  }
  return { prefix: "", text: line, isHeading: false };
}
