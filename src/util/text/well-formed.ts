/**
 * The same JSON value without halves of surrogate pairs, which are in texts that were cut or that a model escaped
 * wrongly: APIs refuse every body that holds one. A value without them is returned as it is.
 */
export function wellFormed<T>(value: T): T;
export function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.isWellFormed() ? value : value.toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const copy = value.map((inner) => wellFormed(inner));
    return copy.every((inner, index) => inner === value[index]) ? value : copy;
  }
  const copy = Object.entries(value).map(([key, inner]) => [wellFormed(key), wellFormed(inner)] as const);
  const isSame = Object.entries(value).every(([key, inner], index) => {
    const [newKey, newInner] = copy[index] ?? [];
    return key === newKey && inner === newInner;
  });
  return isSame ? value : Object.fromEntries(copy);
}
