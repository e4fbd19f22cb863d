import { inside, isSame } from "../settings/hide.js";
import { isObject } from "../substitute.js";

export type SettingPath = readonly string[];

/** Where settings differ; of lists and texts as a whole. */
export function* differences(one: unknown, other: unknown, path: SettingPath = []): Generator<SettingPath> {
  if (isSame(one, other)) return;
  if (!isObject(one) || !isObject(other)) {
    yield path;
    return;
  }
  for (const key of new Set([...Object.keys(one), ...Object.keys(other)]))
    yield* differences(inside(one, key), inside(other, key), [...path, key]);
}

/** A copy of `base` that says what `next` says at these places. */
export function withPlaces<T>(base: T, next: T, places: readonly SettingPath[]): T {
  // The same shape: each value comes from one of two of this type.
  return places.reduce<unknown>((root, path) => withPlace(root, next, path), base) as T;
}

function withPlace(base: unknown, next: unknown, [key, ...rest]: SettingPath): unknown {
  if (key === undefined) return next;
  const entries = isObject(base) ? Object.entries(base).filter(([name]) => name !== key) : [];
  const value = withPlace(isObject(base) ? inside(base, key) : undefined, inside(next, key), rest);
  return Object.fromEntries(value === undefined ? entries : [...entries, [key, value]]);
}
