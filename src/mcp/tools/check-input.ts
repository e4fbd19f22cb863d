import { AjvJsonSchemaValidator } from "@modelcontextprotocol/client/validators/ajv";
import { z } from "zod";
import { unknownText } from "../../tools/nearest.js";

/**
 * The input of a tool as its server's JSON schema wants it. Compiled when it is first used. Patterns are left to the
 * server, because a hostile one takes for ever to try.
 */
export function inputOf(schema: object, onBadSchema: () => void): z.ZodType<Record<string, unknown>> {
  let check: ((input: unknown) => string | undefined) | undefined;
  return z.record(z.string(), z.unknown()).superRefine((input, context) => {
    check ??= compile(schema, onBadSchema);
    const problem = check(input);
    if (problem !== undefined) context.addIssue({ code: "custom", message: problem });
  });
}

function compile(schema: object, onBadSchema: () => void): (input: unknown) => string | undefined {
  try {
    const dialect = dialectOf(schema);
    const checked = withoutPatterns(schema);
    const validate = new AjvJsonSchemaValidator().getValidator(
      dialect === undefined ? checked : { ...checked, $schema: dialect },
    );
    return (input) => {
      const result = validate(input);
      if (result.valid) return undefined;
      const unknown = unknownIn(schema, input, "").slice(0, 5);
      // ajv does not name them.
      return unknown.length > 0 ? unknown.join("; ") : plain(result.errorMessage);
    };
  } catch {
    onBadSchema();
    return () => undefined;
  }
}

/** An older kind of JSON schema, if it says that it is one: the same words mean something else there. */
function dialectOf(schema: object): string | undefined {
  const named = "$schema" in schema ? schema.$schema : undefined;
  return typeof named === "string" && /\/(draft-0[67]|draft\/2019-09)\//.test(named) ? named : undefined;
}

const objectSchema = z.object({
  properties: z.record(z.string(), z.unknown()).default({}),
  additionalProperties: z.unknown().optional(),
  patternProperties: z.unknown().optional(),
});

/** The fields that a schema refuses by `additionalProperties: false`, as clauses. */
function unknownIn(schema: unknown, input: unknown, above: string): readonly string[] {
  const { data } = objectSchema.safeParse(schema);
  if (data === undefined || typeof input !== "object" || input === null || Array.isArray(input)) return [];
  const isClosed = data.additionalProperties === false && data.patternProperties === undefined;
  const known = Object.keys(data.properties);
  return Object.entries(input).flatMap(([name, value]) => {
    if (Object.hasOwn(data.properties, name)) return unknownIn(data.properties[name], value, `${above}${name}.`);
    return isClosed ? [unknownText({ path: `${above}${name}`, known })] : [];
  });
}

/** ajv says `data/path must be string`. */
function plain(message: string): string {
  return message
    .replace(/\bdata\/([^\s,]+)/g, "`$1`")
    .replace(/\bdata\b(?= must)/g, "it")
    .slice(0, 500);
}

function withoutPatterns(schema: object): Record<string, unknown> {
  // What the patterns allow is not known here any more.
  const hasPatterns = "patternProperties" in schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => !isKeyword(key, value) && !(hasPatterns && key === "additionalProperties"))
      .map(([key, value]) => [key, isNames(key) ? eachEntry(value) : cleaned(value)]),
  );
}

function isKeyword(key: string, value: unknown): boolean {
  if (key === "$schema" || key === "$id") return true;
  return (key === "pattern" || key === "format" || key === "patternProperties") && typeof value !== "boolean";
}

/** The keys below are names, not keywords. */
function isNames(key: string): boolean {
  return key === "properties" || key === "$defs" || key === "definitions";
}

function cleaned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cleaned);
  return typeof value === "object" && value !== null ? withoutPatterns(value) : value;
}

function eachEntry(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, cleaned(schema)]));
}
