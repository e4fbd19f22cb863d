import type { Count } from "../engine.js";
import type { Operation } from "./journal/operations.js";
import type { LiveRecords } from "./state.js";

/**
 * The records as they will be once the counts are added. Reading, adding and writing happen in one step of the one
 * writer, so totals are as good as sums here.
 */
export function totalsOf({ facts }: LiveRecords, counts: readonly Count[]): Operation[] {
  const totals = new Map<string, { readonly kind: string; readonly id: string; value: Record<string, unknown> }>();
  for (const { kind, id, add } of counts) {
    const name = `${kind} ${id}`;
    const total = totals.get(name) ?? { kind, id, value: { ...asObject(facts.get(kind)?.get(id)) } };
    for (const [key, number] of Object.entries(add)) {
      const before = total.value[key];
      total.value[key] = (typeof before === "number" ? before : 0) + number;
    }
    totals.set(name, total);
  }
  return [...totals.values()].map(({ kind, id, value }) => ({ o: "put", kind, id, value }));
}

function asObject(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}
