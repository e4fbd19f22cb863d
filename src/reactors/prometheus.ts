/** A number that only grows, one for each value of its label. */
export interface Counter {
  add(amount: number, label?: string): void;
  value(label: string): number;
  values(): Readonly<Record<string, number>>;
  total(): number;
  /** Its lines in Prometheus' text format, each ended. */
  text(): string;
}

/** @param labelName absent: the counter has one number only */
export function createCounter(name: string, help: string, labelName?: string): Counter {
  const counts = new Map<string, number>();
  const sum = (): number => [...counts.values()].reduce((total, count) => total + count, 0);
  return {
    add(amount, label = "") {
      counts.set(label, (counts.get(label) ?? 0) + amount);
    },
    value: (label) => counts.get(label) ?? 0,
    values: () => Object.fromEntries(counts),
    total: sum,
    text() {
      const lines =
        labelName === undefined
          ? [`${name} ${sum()}`]
          : [...counts].map(([label, count]) => `${name}{${labelName}="${escaped(label)}"} ${count}`);
      return family(name, help, "counter", lines);
    },
  };
}

export interface Histogram {
  observe(value: number): void;
  count(): number;
  sum(): number;
  text(): string;
}

/** @param bounds upper bounds of the buckets, rising */
export function createHistogram(name: string, help: string, bounds: readonly number[]): Histogram {
  const buckets = bounds.map((bound) => ({ bound, count: 0 }));
  let count = 0;
  let sum = 0;
  return {
    observe(value) {
      count += 1;
      sum += value;
      for (const bucket of buckets) if (value <= bucket.bound) bucket.count += 1;
    },
    count: () => count,
    sum: () => sum,
    text: () =>
      family(name, help, "histogram", [
        ...buckets.map((bucket) => `${name}_bucket{le="${bucket.bound}"} ${bucket.count}`),
        `${name}_bucket{le="+Inf"} ${count}`,
        `${name}_sum ${sum}`,
        `${name}_count ${count}`,
      ]),
  };
}

function family(name: string, help: string, type: string, lines: readonly string[]): string {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ""].join("\n");
}

/** https://prometheus.io/docs/instrumenting/exposition_formats/#text-format-details */
function escaped(label: string): string {
  return label.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}
