import { z } from "zod";

export type Value = string | number | boolean | string[];

export interface FieldChoice {
  readonly value: string;
  readonly label: string;
}

interface AnyField {
  readonly name: string;
  readonly label: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  readonly default: Value | undefined;
}

/** One thing that a server wants to know. */
export type Field = AnyField &
  (
    | { readonly kind: "text"; readonly min: number; readonly max: number; readonly format: string | undefined }
    | { readonly kind: "number"; readonly isInteger: boolean; readonly min: number; readonly max: number }
    | { readonly kind: "yes or no" }
    | { readonly kind: "one"; readonly choices: readonly FieldChoice[] }
    | { readonly kind: "some"; readonly choices: readonly FieldChoice[]; readonly min: number; readonly max: number }
  );

const maxFields = 20;
const maxChoices = 100;
const count = z.number().int().min(0);
const titled = z.array(z.object({ const: z.string(), title: z.string().default("") }));
const shared = { title: z.string().optional(), description: z.string().optional(), default: z.unknown().optional() };
const text = z.object({
  ...shared,
  type: z.literal("string"),
  enum: z.array(z.string()).optional(),
  enumNames: z.array(z.string()).optional(),
  oneOf: titled.optional(),
  minLength: count.optional(),
  maxLength: count.optional(),
  format: z.string().optional(),
});
const number = z.object({
  ...shared,
  type: z.enum(["number", "integer"]),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
});
const yesNo = z.object({ ...shared, type: z.literal("boolean") });
const some = z.object({
  ...shared,
  type: z.literal("array"),
  minItems: count.optional(),
  maxItems: count.optional(),
  items: z.object({ enum: z.array(z.string()).optional(), anyOf: titled.optional(), oneOf: titled.optional() }),
});
const form = z.object({
  properties: z.record(z.string(), z.discriminatedUnion("type", [text, number, yesNo, some])),
  required: z.array(z.string()).default([]),
});
type Property = z.infer<typeof form>["properties"][string];

/** The fields of a form, in order; a clause that says why it cannot be asked. */
export function readForm(schema: unknown): { readonly fields: readonly Field[] } | { readonly problem: string } {
  const { success, data } = form.safeParse(schema);
  if (!success) return { problem: "its form is not one that the protocol knows" };
  const all = Object.entries(data.properties);
  if (all.length > maxFields) return { problem: `its form has more than ${maxFields} fields` };
  const unknown = data.required.find((name) => !Object.hasOwn(data.properties, name));
  if (unknown !== undefined) return { problem: "its form needs a field that it does not have" };
  const fields = all.map(([name, property]) => toField(name, property, data.required.includes(name)));
  const isEmpty = fields.some(
    (one) => "choices" in one && (one.choices.length === 0 || one.choices.length > maxChoices),
  );
  return isEmpty ? { problem: "its form has a choice with no options or too many" } : { fields };
}

function toField(name: string, property: Property, isRequired: boolean): Field {
  const { title, description } = property;
  const label = title === undefined || title.trim() === "" ? name : title;
  const any = { name, label, description, isRequired, default: undefined };
  const field = toKind(any, property);
  const fallback = plainValue(property.default);
  return fallback !== undefined && problemOf(field, fallback) === undefined ? { ...field, default: fallback } : field;
}

function toKind(any: AnyField, property: Property): Field {
  switch (property.type) {
    case "boolean":
      return { ...any, kind: "yes or no" };
    case "number":
    case "integer": {
      const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = property;
      return { ...any, kind: "number", isInteger: property.type === "integer", min: minimum, max: maximum };
    }
    case "array": {
      const { items, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = property;
      const choices = choicesOf(items.enum, undefined, items.anyOf ?? items.oneOf) ?? [];
      return { ...any, kind: "some", choices, min: minItems, max: maxItems };
    }
    case "string": {
      const choices = choicesOf(property.enum, property.enumNames, property.oneOf);
      if (choices !== undefined) return { ...any, kind: "one", choices };
      const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, format } = property;
      return { ...any, kind: "text", min: minLength, max: maxLength, format };
    }
    default:
      return property satisfies never;
  }
}

function choicesOf(
  values: readonly string[] | undefined,
  names: readonly string[] | undefined,
  named: readonly { readonly const: string; readonly title: string }[] | undefined,
): readonly FieldChoice[] | undefined {
  const all =
    named?.map((one) => ({ value: one.const, label: one.title })) ??
    values?.map((value, at) => ({ value, label: names?.[at] ?? "" }));
  return all?.map(({ value, label }) => ({ value, label: label.trim() === "" ? value : label }));
}

function plainValue(given: unknown): Value | undefined {
  return z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]).safeParse(given).data;
}

/** Why a value does not fit, as a sentence for the person who gave it. */
export function problemOf(field: Field, value: Value): string | undefined {
  switch (field.kind) {
    case "text":
      if (typeof value !== "string") return "That is not a text.";
      if ([...value].length < field.min) return `That is too short: at least ${field.min} characters.`;
      if ([...value].length > field.max) return `That is too long: at most ${field.max} characters.`;
      return formatProblem(field.format, value);
    case "number":
      if (typeof value !== "number" || !Number.isFinite(value)) return "That is not a number.";
      if (field.isInteger && !Number.isSafeInteger(value)) return "That is not a whole number.";
      if (value < field.min) return `That is too small: at least ${field.min}.`;
      return value > field.max ? `That is too large: at most ${field.max}.` : undefined;
    case "yes or no":
      return typeof value === "boolean" ? undefined : "Please answer yes or no.";
    case "one":
      return field.choices.some((one) => one.value === value) ? undefined : "That is not one of the choices.";
    case "some": {
      if (!Array.isArray(value) || value.some((one) => !field.choices.some((choice) => choice.value === one)))
        return "Not all of that is among the choices.";
      if (value.length < field.min) return `Please choose at least ${field.min}.`;
      return value.length > field.max ? `Please choose at most ${field.max}.` : undefined;
    }
    default:
      return field satisfies never;
  }
}

function formatProblem(format: string | undefined, value: string): string | undefined {
  switch (format) {
    case "email":
      return /^[^\s@]+@[^\s@]+$/.test(value) ? undefined : "That is not an e-mail address.";
    case "uri":
      return URL.canParse(value) ? undefined : "That is not a web address.";
    case "date":
      return z.iso.date().safeParse(value).success ? undefined : "That is not a date such as 2026-03-31.";
    case "date-time":
      return z.iso.datetime({ offset: true }).safeParse(value).success
        ? undefined
        : "That is not a time such as 2026-03-31T18:00:00Z.";
    default:
      return undefined;
  }
}
