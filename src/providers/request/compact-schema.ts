import { wellFormed } from "../../util/text/well-formed.js";

type Schema = Readonly<Record<string, unknown>>;

/** Facts that no model needs: each costs tokens in every request, and some servers refuse them. */
const needless = new Set(["$schema", "$id", "$comment", "title", "propertyNames"]);

/** Tools are declared again with each request, their schemas stay. */
const compacted = new WeakMap<Schema, Schema & { readonly type: "object" }>();

/**
 * A tool's input schema as an object schema with `properties`, without what models do not need. Unions at the top,
 * which Anthropic refuses, become one object with all their properties.
 */
export function toCompactSchema(schema: Schema): Schema & { readonly type: "object" } {
  const known = compacted.get(schema);
  if (known !== undefined) return known;
  const { anyOf, oneOf, allOf, ...rest } = compact(schema);
  const branches = [anyOf, oneOf, allOf].flat().filter(isSchema);
  const properties = Object.assign({}, ...branches.map((branch) => branch.properties), rest.properties);
  const result = wellFormed({ ...rest, type: "object" as const, properties });
  compacted.set(schema, result);
  return result;
}

function compact(schema: Schema): Schema {
  const entries = Object.entries(schema)
    .filter(([key, value]) => !isNeedless(key, value))
    .map(([key, value]) => [key, compactValue(key, value)]);
  return Object.fromEntries(entries);
}

function isNeedless(key: string, value: unknown): boolean {
  if (needless.has(key)) return true;
  if (key === "additionalProperties") return value === false || (isSchema(value) && Object.keys(value).length === 0);
  if (key === "minimum") return value === Number.MIN_SAFE_INTEGER;
  if (key === "maximum") return value === Number.MAX_SAFE_INTEGER;
  return false;
}

function compactValue(key: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((entry) => (isSchema(entry) ? compact(entry) : entry));
  if (!isSchema(value)) return value;
  // These hold schemas by name: their keys are the tool's own words.
  if (key === "properties" || key === "$defs" || key === "definitions") {
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, isSchema(inner) ? compact(inner) : inner]),
    );
  }
  return key === "default" || key === "const" ? value : compact(value);
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
