import { deepFreeze } from "../util/deep-freeze.js";

/**
 * What a reader of what is stored gets back: plain JSON that shares nothing with the value, frozen. One walk instead of a
 * trip through text, because every event takes it.
 */
export function frozenCopy<T>(value: T): T;
export function frozenCopy(value: unknown): unknown {
  if (typeof value === "number") return Number.isFinite(value) ? value + 0 : null;
  if (typeof value !== "object" || value === null) {
    if (typeof value === "bigint") throw new TypeError("JSON has no bigint");
    return isOmitted(value) ? undefined : value;
  }
  if (Array.isArray(value))
    return Object.freeze(Array.from(value, (inner) => (isOmitted(inner) ? null : frozenCopy(inner))));
  const kind = Object.getPrototypeOf(value);
  // Dates, boxed values and what has a say in its own JSON.
  if ((kind !== Object.prototype && kind !== null) || "toJSON" in value || Object.hasOwn(value, "__proto__"))
    return deepFreeze(JSON.parse(JSON.stringify(value)));
  const copy: Record<string, unknown> = {};
  // Without keys() and entries(), which would make arrays for each object of each event.
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    // One of its own keys.
    const inner = (value as Record<string, unknown>)[key];
    if (!isOmitted(inner)) copy[key] = frozenCopy(inner);
  }
  return Object.freeze(copy);
}

function isOmitted(value: unknown): boolean {
  return value === undefined || typeof value === "function" || typeof value === "symbol";
}
