import type { Load } from "./load.js";
import type { Standing } from "./standing.js";

export interface Result {
  readonly name: string;
  readonly idleMb: number;
  readonly peakMb: number;
  /** MB per minute over the last two thirds of the time. */
  readonly slope: number;
  /** What is alive at the end, after a forced collection. */
  readonly heapMb: number;
  /** Resident after it. */
  readonly restMb: number;
  /** Processor time for each message. */
  readonly cpuMs: number;
}

const begin = "<!-- soak: begin (npm run soak -- --write) -->";
const end = "<!-- soak: end -->";

/** The table in Markdown, and a line on how it came about. */
export function toText({ perSecond, messages, chats }: Load, results: readonly Result[]): string {
  const date = new Date().toISOString().slice(0, 10);
  const head = `${date}, Node ${process.version.slice(1)}: ${messages} messages, ${perSecond} a second, over ${chats} chats that grow.`;
  const rows = results.map(({ name, idleMb, peakMb, slope, heapMb, restMb, cpuMs }) => [
    name === "bare" ? "bare bot" : name,
    ...[idleMb, peakMb].map((mb) => mb.toFixed(0)),
    slope.toFixed(1),
    ...[heapMb, restMb].map((mb) => mb.toFixed(0)),
    cpuMs.toFixed(1),
  ]);
  const columns = [
    "",
    "idle",
    "peak",
    "growth per minute, last two thirds",
    "live heap at the end",
    "resident at the end",
    "CPU per message, ms",
  ];
  return [head, "", ...[columns, columns.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`)].join("\n");
}

/** What was measured without a load, beside its budgets. */
export function toStandingText(rows: readonly Standing[]): string {
  const cells = rows.map(({ what, value, unit, budget }) => [
    what,
    `${value.toFixed(unit === "ms" && value < 10 ? 1 : 0)} ${unit}`,
    `${budget} ${unit}`,
    value <= budget ? "" : "missed",
  ]);
  const columns = ["without a load", "measured", "budget", ""];
  return [columns, columns.map(() => "---"), ...cells].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

/** The page with this text in its place. */
export function writeDown(page: string, text: string): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`The page lacks the marks ${begin} and ${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${text}\n\n${page.slice(to)}`;
}
