import type { Violation } from "./violations.js";

/** What happened to one attack, or of one random program. */
export interface Outcome {
  readonly group: string;
  readonly name: string;
  readonly violations: readonly Violation[];
  /** Every step of it, for those who look into it. */
  readonly program: readonly string[];
  /** How often each tool was called. */
  readonly calls: ReadonlyMap<string, number>;
}

const begin = "<!-- attack:begin -->";
const end = "<!-- attack:end -->";

/** A line for each attack, and one for the random programs of each kind, in Markdown. */
export function toTable(outcomes: readonly Outcome[]): string {
  const rows = new Map<string, { group: string; name: string; tried: number; held: number; calls: number }>();
  for (const { group, name, violations, calls } of outcomes) {
    const row = rows.get(`${group} ${name}`) ?? { group, name, tried: 0, held: 0, calls: 0 };
    row.tried += 1;
    if (violations.length === 0) row.held += 1;
    row.calls += sumOf(calls);
    rows.set(`${group} ${name}`, row);
  }
  const lines = [...rows.values()].map(({ group, name, tried, held, calls }) => [
    group,
    name,
    `${calls}`,
    `${tried}`,
    `${held}`,
  ]);
  return toMarkdown([["class", "attack", "calls", "tried", "held"], ...lines], 2);
}

/** How often each tool was called in random programs. */
export function toolTable(outcomes: readonly Outcome[]): string {
  const counts = new Map<string, number>();
  for (const { group, calls } of outcomes)
    if (group === randomGroup) for (const [tool, count] of calls) counts.set(tool, (counts.get(tool) ?? 0) + count);
  const lines = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([tool, count]) => `${tool} ${count}`);
  return lines.join(", ");
}

export const randomGroup = "random";

export function sumOf(calls: ReadonlyMap<string, number>): number {
  return [...calls.values()].reduce((sum, count) => sum + count, 0);
}

/** What a person needs to see of an attack that went through. */
export function storyOf({ group, name, violations, program }: Outcome): string {
  const broken = violations.map(({ what, text }) => `  ${what}: ${text}`);
  return [`${group}: ${name}`, ...broken, "  what was played:", ...program.map((step) => `    ${step}`)].join("\n");
}

function toMarkdown(rows: readonly (readonly string[])[], numbersFrom: number): string {
  const [head = [], ...lines] = rows;
  const widths = head.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, index) => (index < numbersFrom ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0))).join(" | ")} |`;
  const rule = widths.map((width, index) => (index < numbersFrom ? "-".repeat(width) : `${"-".repeat(width - 1)}:`));
  return [line(head), `| ${rule.join(" | ")} |`, ...lines.map(line)].join("\n");
}

/** Puts new text between the marks of a page. */
export function putBetweenMarks(page: string, text: string): string {
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from === -1 || to < from) throw new Error(`The page lacks the marks ${begin} and ${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${text}\n\n${page.slice(to)}`;
}
