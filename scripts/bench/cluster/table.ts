export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export function toMarkdown({ head, rows }: Table): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Of sorted values, the one that this share of them is below. */
export function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function twoDigits(value: number): string {
  return value.toFixed(value >= 10 ? 1 : 2);
}
