import type { ScenarioRow } from "./run.js";

const columns: readonly (readonly [title: string, read: (row: ScenarioRow) => string])[] = [
  ["scenario", ({ scenario }) => scenario.name],
  ["what happens", ({ scenario }) => scenario.what],
  ["rounds", ({ rounds }) => String(rounds)],
  ["messages", ({ cost }) => String(cost.messages)],
  ["kills", ({ cost }) => String(cost.kills)],
  ["orderly stops", ({ cost }) => String(cost.stops)],
  ["lost", ({ cost }) => String(cost.lost)],
  ["given up", ({ cost }) => String(cost.givenUp)],
  ["repeated, marked", ({ cost }) => String(cost.repeated)],
  ["also", ({ cost }) => cost.note],
];

/** The table in Markdown, and below it what each scenario holds a gateway to. */
export function toScenarioTable(rows: readonly ScenarioRow[]): string {
  const lines = rows.map((row) => columns.map(([, read]) => read(row)));
  const head = columns.map(([title]) => title);
  const toLine = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const table = [toLine(head), toLine(head.map(() => "---")), ...lines.map(toLine)].join("\n");
  const promises = rows.map(({ scenario: { name, promise } }) => `- ${name}: ${promise}.`).join("\n");
  return `${table}\n\nWhat is checked after each round or at the end:\n\n${promises}`;
}
