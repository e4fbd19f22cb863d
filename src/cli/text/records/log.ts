import type { LogLine } from "../../../log/read-log.js";
import { dim, harmless } from "../output.js";

/** `2026-11-22 12:03:11 warn  telegram: connection lost attempt=2`, in the time zone of this machine, and nothing twice. */
export function logLine({ text, level, time, message = "", fields }: LogLine): string {
  if (level === undefined) return harmless(text);
  const isSaid = (value: unknown): boolean => isError(value) && message.includes(String(value.message));
  const facts = Object.entries(fields).flatMap(([name, value]) =>
    isSaid(value) ? [] : [dim(`${name}=${factOf(value)}`, process.stdout)],
  );
  return [timeHere(time), level.padEnd(5), oneLine(message), ...facts].join(" ");
}

function timeHere(time: string | undefined): string {
  const at = new Date(time ?? Number.NaN);
  if (Number.isNaN(at.getTime())) return "?".padEnd(19);
  // Sweden writes dates as ISO does.
  return at.toLocaleString("sv-SE");
}

/** Of an error its sentence; its trace is in the file, and in --json. */
function factOf(value: unknown): string {
  if (isError(value)) return JSON.stringify(oneLine(String(value.message)));
  if (typeof value === "string" && /^[^\s"]+$/.test(value)) return harmless(value);
  return oneLine(JSON.stringify(value) ?? "");
}

function isError(value: unknown): value is { readonly message: unknown } {
  return typeof value === "object" && value !== null && "message" in value && "stack" in value;
}

function oneLine(text: string): string {
  return harmless(text.replaceAll(/\s+/g, " "));
}
