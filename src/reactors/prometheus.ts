import { Spread, type SpreadCounts } from "../util/spread.js";

/** Lines of one metric in Prometheus' text format, version 0.0.4, each ended. */
export interface Family {
  text(): string;
}

/** A number that only grows, one for each value of its label. */
export interface Counter extends Family {
  add(amount: number, label?: string): void;
  value(label: string): number;
  values(): Readonly<Record<string, number>>;
  total(): number;
}

/** A series costs those who keep them for months: values of a label beyond so many are counted together. */
const mostLabels = 64;
const rest = "other";

/** @param labelName absent: the counter has one number only */
export function createCounter(name: string, help: string, labelName?: string): Counter {
  const counts = new Map<string, number>();
  const sum = (): number => [...counts.values()].reduce((total, count) => total + count, 0);
  return {
    add(amount, label = "") {
      const bounded = boundedLabel(counts, label);
      counts.set(bounded, (counts.get(bounded) ?? 0) + amount);
    },
    value: (label) => counts.get(label) ?? 0,
    values: () => Object.fromEntries(counts),
    total: sum,
    text: () =>
      family(
        name,
        help,
        "counter",
        labelName === undefined
          ? [`${name} ${sum()}`]
          : [...counts].map(([label, count]) => `${name}${labels(labelName, label)} ${count}`),
      ),
  };
}

export interface Histogram extends Family {
  observe(value: number, label?: string): void;
  count(): number;
  sum(): number;
}

/**
 * @param bounds upper bounds of the buckets, rising
 * @param labelName absent: the histogram is one only
 */
export function createHistogram(name: string, help: string, bounds: readonly number[], labelName?: string): Histogram {
  const spreads = new Map<string, Spread>();
  if (labelName === undefined) spreads.set("", new Spread(bounds));
  const total = (of: "count" | "sum"): number =>
    [...spreads.values()].reduce((all, spread) => all + spread.read()[of], 0);
  return {
    observe(value, label = "") {
      const bounded = boundedLabel(spreads, label);
      const spread = spreads.get(bounded) ?? new Spread(bounds);
      spreads.set(bounded, spread);
      spread.observe(value);
    },
    count: () => total("count"),
    sum: () => total("sum"),
    text: () =>
      family(
        name,
        help,
        "histogram",
        [...spreads].flatMap(([label, spread]) =>
          bucketLines(name, spread.read(), labelName === undefined ? [] : [[labelName, label]]),
        ),
      ),
  };
}

/** One reading: a number, and what its label says; nothing is shown where there is none. */
export type Reading = readonly [value: number | undefined, label?: string];

/** Numbers that are read when somebody asks. */
export function readFamily(
  kind: "gauge" | "counter",
  name: string,
  help: string,
  readings: readonly Reading[],
  labelName = "",
): string {
  const lines = readings.flatMap(([value, label]) =>
    value === undefined ? [] : [`${name}${label === undefined ? "" : labels(labelName, label)} ${value}`],
  );
  return family(name, help, kind, lines);
}

/** A spread that is kept elsewhere. */
export function readHistogram(name: string, help: string, counts: SpreadCounts): string {
  return family(name, help, "histogram", bucketLines(name, counts, []));
}

type Label = readonly [name: string, value: string];

function bucketLines(name: string, { buckets, count, sum }: SpreadCounts, own: readonly Label[]): string[] {
  const before = own.map(([label, value]) => `${label}="${escaped(value)}",`).join("");
  const alone = own.map(([label, value]) => labels(label, value)).join("");
  return [
    ...buckets.map((bucket) => `${name}_bucket{${before}le="${bucket.bound}"} ${bucket.count}`),
    `${name}_bucket{${before}le="+Inf"} ${count}`,
    `${name}_sum${alone} ${sum}`,
    `${name}_count${alone} ${count}`,
  ];
}

/** A metric without any number yet is not shown at all. */
function family(name: string, help: string, type: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ""].join("\n");
}

function boundedLabel(known: ReadonlyMap<string, unknown>, label: string): string {
  return known.has(label) || known.size < mostLabels ? label : rest;
}

function labels(name: string, value: string): string {
  return `{${name}="${escaped(value)}"}`;
}

/** https://prometheus.io/docs/instrumenting/exposition_formats/#text-format-details */
function escaped(label: string): string {
  return label.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}
