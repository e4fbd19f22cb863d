import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";
import { z } from "zod";

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
    const validate = new AjvJsonSchemaValidator().getValidator(withoutPatterns(schema));
    return (input) => {
      const result = validate(input);
      return result.valid ? undefined : plain(result.errorMessage);
    };
  } catch {
    onBadSchema();
    return () => undefined;
  }
}

/** ajv says `data/path must be string`. */
function plain(message: string): string {
  return message
    .replace(/\bdata\/([^\s,]+)/g, "`$1`")
    .replace(/\bdata\b(?= must)/g, "it")
    .slice(0, 500);
}

function withoutPatterns(schema: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => !isKeyword(key, value))
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
