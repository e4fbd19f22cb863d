import assert from "node:assert/strict";

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface MetricFamily {
  readonly type: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

const metricName = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const sampleLine = new RegExp(`^(${metricName})(?:\\{(.*)\\})? (\\S+)$`);
const labelPart = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/;
const number = /^(?:[+-]?Inf|NaN|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/;
const types = ["counter", "gauge", "histogram"];

/**
 * Prometheus' text format, version 0.0.4, read more strictly than by Prometheus itself: each family once, in one piece, with
 * help and type before its samples, and named by the conventions.
 *
 * https://prometheus.io/docs/instrumenting/exposition_formats/ https://prometheus.io/docs/practices/naming/
 */
export function parsePrometheus(text: string): ReadonlyMap<string, MetricFamily> {
  assert.ok(text === "" || text.endsWith("\n"), "the last line is ended");
  const families = new Map<string, { type: string; help: string; samples: Sample[] }>();
  let open: { name: string; help: string; type?: string } | undefined;
  for (const line of text.split("\n").slice(0, -1)) {
    const head = new RegExp(`^# (HELP|TYPE) (${metricName}) (.+)$`).exec(line);
    if (head !== null) {
      const [, word, name = "", rest = ""] = head;
      assert.ok(!families.has(name), `${name} comes once`);
      if (word === "HELP") open = { name, help: rest };
      else {
        assert.ok(open?.name === name, `the help of ${name} comes before its type`);
        assert.ok(types.includes(rest), `${rest} is a type`);
        families.set(name, { type: rest, help: open.help, samples: [] });
      }
      continue;
    }
    const [, name = "", labels = "", value = ""] = sampleLine.exec(line) ?? assert.fail(`not a sample: ${line}`);
    const family = open === undefined ? undefined : families.get(open.name);
    assert.ok(open !== undefined && family !== undefined, `${line} has help and type before it`);
    const suffix = name.slice(open.name.length);
    const suffixes = family.type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
    assert.ok(name.startsWith(open.name) && suffixes.includes(suffix), `${name} belongs to ${open.name}`);
    assert.match(value, number, line);
    family.samples.push({ name, labels: parseLabels(labels), value: Number(value.replace("Inf", "Infinity")) });
  }
  for (const [name, family] of families) assertFamily(name, family);
  return families;
}

function parseLabels(text: string): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {};
  for (let rest = text; rest !== ""; ) {
    const [whole, name = "", value = ""] = labelPart.exec(rest) ?? assert.fail(`not a label: ${rest}`);
    assert.ok(!(name in labels), `${name} comes once`);
    labels[name] = value.replaceAll(/\\(.)/g, (_, escaped) => (escaped === "n" ? "\n" : escaped));
    rest = rest.slice(whole.length);
  }
  return labels;
}

function assertFamily(name: string, { type, help, samples }: MetricFamily): void {
  assert.ok(samples.length > 0, `${name} has a sample`);
  assert.match(help, /^[A-Z0-9].*\.$/, `the help of ${name} is a sentence`);
  assert.equal(type === "counter", name.endsWith("_total"), `${name}: counters alone end in _total`);
  assert.doesNotMatch(name, /_(ms|milliseconds|minutes|kb|mb|count|sum|bucket)(_|$)/, `${name} is in base units`);
  const series = samples.map((sample) => JSON.stringify([sample.name, Object.entries(sample.labels).sort()]));
  assert.equal(new Set(series).size, series.length, `each series of ${name} comes once`);
  if (type === "counter") for (const { value } of samples) assert.ok(value >= 0, `${name} is not negative`);
  if (type === "histogram") assertHistogram(name, samples);
}

function assertHistogram(name: string, samples: readonly Sample[]): void {
  const groups = groupBy(samples, ({ labels: { le: _, ...own } }) => JSON.stringify(own));
  for (const [labels, group] of groups) {
    const buckets = group.filter((sample) => sample.name === `${name}_bucket`);
    const bounds = buckets.map((bucket) => Number(bucket.labels.le?.replace("Inf", "Infinity")));
    assert.deepEqual(
      bounds,
      [...new Set(bounds)].sort((a, b) => a - b),
      `the bounds of ${name}${labels} rise`,
    );
    const counts = buckets.map(({ value }) => value);
    assert.deepEqual(
      counts,
      [...counts].sort((a, b) => a - b),
      `the buckets of ${name}${labels} are cumulative`,
    );
    assert.equal(bounds.at(-1), Number.POSITIVE_INFINITY);
    const one = (suffix: string): number | undefined =>
      group.find((sample) => sample.name === `${name}_${suffix}`)?.value;
    assert.equal(one("count"), counts.at(-1), `the count of ${name}${labels} is that of its last bucket`);
    assert.notEqual(one("sum"), undefined);
  }
}

function groupBy<T>(all: readonly T[], keyOf: (one: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}
