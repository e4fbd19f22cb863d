/** Writes a line to stdout: what a command was asked for. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Writes a line to stderr: everything around it. */
export function tell(text: string): void {
  process.stderr.write(`${text}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, undefined, 2));
}

/** Rows as columns, each as wide as its widest cell, the last one as it is. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const all = [head, ...rows].map((row) => row.map(oneLine));
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  for (const row of all) {
    const isLast = (column: number): boolean => column === row.length - 1;
    print(row.map((cell, column) => (isLast(column) ? cell : cell.padEnd(widths[column] ?? 0))).join("  "));
  }
}

/** Text of others without what would steer the terminal. Line ends and tabs stay. */
export function harmless(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, "");
}

/** Gray where the terminal can; `NO_COLOR` is respected. */
export function dim(text: string, stream: { readonly isTTY?: boolean }): string {
  const isColored = stream.isTTY === true && (process.env.NO_COLOR ?? "") === "" && process.env.TERM !== "dumb";
  return isColored ? `\u001b[2m${text}\u001b[22m` : text;
}

function oneLine(text: string): string {
  return harmless(text).replaceAll(/\s+/g, " ").trim();
}
