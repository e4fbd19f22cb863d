import type { ClusterRow } from "./cluster/cluster-sweep.js";
import { type Counts, combine, noCounts } from "./counts.js";
import type { Row } from "./sweep.js";

/** What a table of a page is between. */
export interface Marks {
  readonly begin: string;
  readonly end: string;
}

export const sweepMarks: Marks = {
  begin: "<!-- sweep: begin (npm run sweep) -->",
  end: "<!-- sweep: end -->",
};
export const postgresMarks: Marks = {
  begin: "<!-- sweep on Postgres: begin (npm run sweep -- --engine postgres) -->",
  end: "<!-- sweep on Postgres: end -->",
};
/** With so many gateways. */
export const nodesMarks = (nodes: number): Marks => ({
  begin: `<!-- sweep with ${nodes} gateways: begin (npm run sweep -- --engine postgres --nodes ${nodes}) -->`,
  end: `<!-- sweep with ${nodes} gateways: end -->`,
});
export const scenarioMarks: Marks = {
  begin: "<!-- scenarios: begin (npm run sweep -- --scenario all) -->",
  end: "<!-- scenarios: end -->",
};

const columns: readonly (readonly [title: string, read: (counts: Counts) => number])[] = [
  ["lost", ({ lost }) => lost],
  ["repeated, platform knows ids", ({ repeated }) => repeated],
  ["repeated, platform does not", ({ repeatedBlind }) => repeatedBlind],
  ["writing tools run again", ({ wroteAgain }) => wroteAgain],
  ["other tools run again", ({ ranAgain, wroteAgain }) => ranAgain - wroteAgain],
  ["calls told as interrupted", ({ interrupted }) => interrupted],
  ["model asked again", ({ askedAgain }) => askedAgain],
];

/** The table in Markdown: a line per point, and one for all of them. */
export function toTable(rows: readonly Row[]): string {
  const lines = [...rows, totalOf(rows)].map(({ point, kills, counts }) => [point, String(kills), ...cellsOf(counts)]);
  return tableOf(["killed at", "kills", ...columns.map(([title]) => title)], lines);
}

/** The same for what happens to several gateways. */
export function toClusterTable(rows: readonly ClusterRow[]): string {
  const messages = rows.reduce((sum, row) => sum + row.messages, 0);
  const lines = [...rows, { ...totalOf(rows), messages }].map((row) => [
    row.point,
    String(row.kills),
    String(row.messages),
    ...cellsOf(row.counts),
  ]);
  return tableOf(["what happens", "times", "messages", ...columns.map(([title]) => title)], lines);
}

function cellsOf(counts: Counts): readonly string[] {
  return columns.map(([, read]) => String(read(counts)));
}

function tableOf(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const widths = head.map((title, index) => Math.max(title.length, ...lines.map((line) => line[index]?.length ?? 0)));
  const toLine = (cells: readonly string[]): string =>
    `| ${cells.map((cell, index) => (index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0))).join(" | ")} |`;
  const rule = `| ${widths.map((width, index) => (index === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)).join(" | ")} |`;
  return [toLine(head), rule, ...lines.map(toLine)].join("\n");
}

function totalOf(rows: readonly Row[]): Row {
  return {
    point: "all",
    kills: rows.reduce((sum, { kills }) => sum + kills, 0),
    counts: rows.reduce((sum, { counts }) => combine(sum, counts, 1), noCounts),
  };
}

/** Puts new text between the marks of a page. */
export function putBetweenMarks(page: string, { begin, end }: Marks, text: string): string {
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from === -1 || to < from) throw new Error(`The page lacks the marks ${begin} and ${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${text}\n\n${page.slice(to)}`;
}
