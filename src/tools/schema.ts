import { z } from "zod";
import { type UnknownField, unknownText } from "./nearest.js";

type InputSchema = Readonly<Record<string, unknown>>;

/** Tools are collected again whenever some of them change: what has not changed is the same object. */
const known = new WeakMap<z.ZodType, InputSchema>();

/** The JSON schema of a tool's input, without what only costs tokens. Undefined when it is not an object's. */
export function toInputSchema(input: z.ZodType): InputSchema | undefined {
  const made = known.get(input);
  if (made !== undefined) return made;
  const schema = compact(z.toJSONSchema(input, { io: "input", unrepresentable: "any" }));
  if (schema.type !== "object") return undefined;
  const whole = { type: "object", properties: {}, ...schema };
  known.set(input, whole);
  return whole;
}

function compact(schema: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => !isNoise(key, value))
      .map(([key, value]) => [key, key === "properties" || key === "$defs" ? eachEntry(value) : compactValue(value)]),
  );
}

function compactValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(compactValue);
  return typeof value === "object" && value !== null ? compact(value) : value;
}

/** The keys below `properties` are names, not keywords: one may be called `$schema`. */
function eachEntry(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, compactValue(schema)]));
}

function isNoise(key: string, value: unknown): boolean {
  if (key === "$schema") return true;
  if (key === "additionalProperties") return value === false;
  // What is out of bounds is answered with a sentence; most models never come near them.
  return /^(?:min|max)(?:imum|Length|Items)$/.test(key) && typeof value === "number";
}

/** What an input holds besides the fields of its schema. Objects that take any field have none. */
export function unknownFields(schema: z.core.$ZodType, input: unknown, above = ""): readonly UnknownField[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable)
    return unknownFields(schema.unwrap(), input, above);
  if (schema instanceof z.ZodArray && Array.isArray(input))
    return input.flatMap((one, index) => unknownFields(schema.element, one, `${above}${index}.`));
  if (!(schema instanceof z.ZodObject) || typeof input !== "object" || input === null) return [];
  const { shape } = schema;
  const known = Object.keys(shape);
  const takesMore = schema.def.catchall !== undefined && !(schema.def.catchall instanceof z.ZodNever);
  return Object.entries(input).flatMap(([name, value]) => {
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (field !== undefined) return unknownFields(field, value, `${above}${name}.`);
    return takesMore ? [] : [{ path: `${above}${name}`, known }];
  });
}

const maxNamed = 5;

/** One sentence that says what is wrong with a tool's input, field by field. */
export function inputProblem(
  toolName: string,
  error: z.ZodError | undefined,
  { fields, strange }: { readonly fields: readonly string[]; readonly strange: readonly UnknownField[] },
): string {
  const wrong = (error?.issues ?? [])
    .filter(({ code }) => code !== "unrecognized_keys")
    .slice(0, maxNamed)
    .map((issue) => {
      const field = issue.path.length === 0 ? "the input" : `\`${issue.path.map(String).join(".")}\``;
      if (issue.code === "invalid_type") {
        return issue.message.endsWith("received undefined")
          ? `${field} is missing`
          : `${field} must be ${aOrAn(issue.expected)}`;
      }
      return `${field}: ${issue.message.replace(/^\p{Lu}/u, (first) => first.toLowerCase())}`;
    });
  const problems = [...strange.slice(0, maxNamed).map(unknownText), ...wrong];
  const known = fields.length > 0 ? ` Fields: ${fields.join(", ")}.` : "";
  return `Wrong input for ${toolName}: ${problems.join("; ")}.${known}`;
}

function aOrAn(type: string): string {
  const noun = type === "int" ? "whole number" : type;
  return /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`;
}
