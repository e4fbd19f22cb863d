import { localeOfPage } from "../../words/language.js";

const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

/** `512 byte`, `3.4 MB`, as the reader's region writes it. */
export function bytesText(bytes: number): string {
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return (bytes / 1000 ** step).toLocaleString(localeOfPage(), {
    style: "unit",
    unit: units[step] ?? "byte",
    unitDisplay: "short",
    maximumFractionDigits: step < 2 ? 0 : 1,
  });
}

export function numberIn(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
