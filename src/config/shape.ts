import { z } from "zod";
import { isAccountName, schemaOf } from "../channels/platforms.js";
import { isSpelling } from "../util/text/suggest.js";
import { configSchema } from "./schema.js";

/** The keys that may be at a path of the config; undefined where names are free or nothing may be nested. */
export function keysAt(path: readonly PropertyKey[]): readonly string[] | undefined {
  const found = schemaAt(path);
  return found instanceof z.ZodObject ? Object.keys(found.shape) : undefined;
}

/** What may be at a path of the config; undefined where nothing may. `isBare`: below defaults and conversions. */
export function schemaAt(path: readonly PropertyKey[], isBare = true): unknown {
  let schema: unknown = configSchema;
  for (const [depth, key] of path.entries()) {
    const inner = unwrapped(schema);
    if (inner instanceof z.ZodObject)
      schema = inner.shape[String(key)] ?? (isChannels(path.slice(0, depth)) ? schemaOf(String(key)) : undefined);
    else if (inner instanceof z.ZodRecord) schema = inner.valueType;
    else if (inner instanceof z.ZodArray) schema = inner.element;
    else return undefined;
  }
  return isBare ? unwrapped(schema) : schema;
}

/** A key at a path as the config spells it; undefined where it has no such key. Names of further accounts count as spelled. */
export function keyAt(path: readonly PropertyKey[], key: string): string | undefined {
  if (isChannels(path) && isAccountName(key)) return key;
  return keysAt(path)?.find((each) => isSpelling(key, each));
}

function isChannels(path: readonly PropertyKey[]): boolean {
  return path.length === 1 && path[0] === "channels";
}

/** Every key that holds a value, as `a.b`, with `*` for free names and `[]` for the entries of a list. */
export function configKeys(): readonly string[] {
  return leaves(configSchema, "");
}

function leaves(schema: unknown, path: string): readonly string[] {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodObject) {
    const entries = Object.entries(inner.shape);
    if (entries.length === 0) return [path];
    return entries.flatMap(([key, value]) => leaves(value, path === "" ? key : `${path}.${key}`));
  }
  if (inner instanceof z.ZodRecord) {
    const below = leaves(inner.valueType, `${path}.*`);
    return below.length === 1 && below[0] === `${path}.*` ? [path] : below;
  }
  if (inner instanceof z.ZodArray) {
    const below = leaves(inner.element, `${path}[]`);
    return below.length === 1 && below[0] === `${path}[]` ? [path] : below;
  }
  return [path];
}

/** Where the config holds one value: below the names of sections, lists and free names as a whole. */
export function valuePaths(
  schema: unknown = configSchema,
  path: readonly string[] = [],
): readonly (readonly string[])[] {
  const inner = unwrapped(schema);
  if (!(inner instanceof z.ZodObject)) return [path];
  return Object.entries(inner.shape).flatMap(([key, value]) => valuePaths(value, [...path, key]));
}

/** The schema below defaults, options and conversions. */
function unwrapped(schema: unknown): unknown {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional)
    return unwrapped(schema.unwrap());
  // A conversion before the check keeps the check on its right side; one after it has it on the left.
  if (schema instanceof z.ZodPipe) return unwrapped(schema.in instanceof z.ZodTransform ? schema.out : schema.in);
  return schema;
}

/** What a key of `configKeys` means, for people; undefined where nobody has said it. */
export function meaningOf(key: string): string | undefined {
  const path = key.replaceAll("[]", ".0").split(".");
  const schema = schemaAt(path, false);
  return schema instanceof z.ZodType ? schema.description : undefined;
}
