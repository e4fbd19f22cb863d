import { steeringSource, withoutSteering } from "../../util/text/steering.js";

/** Our own gray, and what steers a terminal. */
const steeringButGray = new RegExp(`\\u001b\\[(?:2|22)m|${steeringSource}`, "gu");
/** The same in JSON, where it can be written in another way, and other marks that nobody sees. */
const hiddenInJson = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Writes a line to stdout: what a command was asked for. */
export function print(text: string): void {
  process.stdout.write(`${onlyGray(text)}\n`);
}

/** Writes a line to stderr: everything around it. */
export function printNote(text: string): void {
  process.stderr.write(`${onlyGray(text)}\n`);
}

export function printJson(value: unknown): void {
  print(toPlainJson(value, 2));
}

/** The same value, whatever reads it, and nothing that a terminal obeys. */
export function toPlainJson(value: unknown, indent?: number): string {
  const escaped = (mark: string): string =>
    Array.from({ length: mark.length }, (_, at) => `\\u${mark.charCodeAt(at).toString(16).padStart(4, "0")}`).join("");
  return (JSON.stringify(value, undefined, indent) ?? "null").replaceAll(hiddenInJson, escaped);
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
  return withoutSteering(text);
}

function onlyGray(text: string): string {
  return text.replaceAll(steeringButGray, (mark) => (mark.startsWith("\u001b[") ? mark : ""));
}

/** Gray where the terminal can. */
export function dim(text: string, stream: { readonly isTTY?: boolean }): string {
  return isColored(stream) ? `\u001b[2m${text}\u001b[22m` : text;
}

/** A terminal that can colour and is to; `NO_COLOR` is respected. */
export function isColored(stream: { readonly isTTY?: boolean | undefined }): boolean {
  return stream.isTTY === true && (process.env.NO_COLOR ?? "") === "" && process.env.TERM !== "dumb";
}

function oneLine(text: string): string {
  return harmless(text).replaceAll(/\s+/g, " ").trim();
}
