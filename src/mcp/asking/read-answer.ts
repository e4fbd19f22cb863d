import { type Field, type FieldChoice, problemOf, type Value } from "./form.js";

/** What a person's words come to. */
export type Answer =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "skip" }
  | { readonly kind: "decline" }
  | { readonly kind: "wrong"; readonly problem: string };

/** Words that count as such for every field. */
export const words = { decline: "decline", skip: "skip", default: "default", yes: "yes", no: "no" } as const;

/** Reads an answer to a field: a number counts as the choice of that number where there are choices. */
export function readAnswer(field: Field, reply: string): Answer {
  const text = reply.trim();
  const word = text.toLowerCase().replace(/[.!]$/, "");
  if (word === words.decline) return { kind: "decline" };
  if (word === words.skip)
    return field.isRequired ? { kind: "wrong", problem: "This cannot be left out." } : { kind: "skip" };
  const value = word === words.default && field.default !== undefined ? field.default : toValue(field, text, word);
  if (value === undefined) return { kind: "wrong", problem: unreadable(field) };
  const problem = problemOf(field, value);
  return problem === undefined ? { kind: "value", value } : { kind: "wrong", problem };
}

function toValue(field: Field, text: string, word: string): Value | undefined {
  switch (field.kind) {
    case "text":
      return text;
    case "number":
      return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text) ? Number(text) : undefined;
    case "yes or no":
      return word === words.yes ? true : word === words.no ? false : undefined;
    case "one":
      return chosen(field.choices, text)?.value;
    case "some": {
      const parts = text.split(",").map((part) => part.trim());
      const found = parts.map((part) => chosen(field.choices, part)?.value);
      if (found.every((one) => one !== undefined)) return [...new Set(found)];
      return undefined;
    }
    default:
      return field satisfies never;
  }
}

/** A choice's own name comes before a number, should one be called like the number of another. */
function chosen(choices: readonly FieldChoice[], text: string): FieldChoice | undefined {
  const lower = text.toLowerCase();
  return (
    choices.find(({ value, label }) => value === text || label === text) ??
    choices.find(({ value, label }) => value.toLowerCase() === lower || label.toLowerCase() === lower) ??
    (/^\d{1,3}$/.test(text) ? choices[Number(text) - 1] : undefined)
  );
}

function unreadable(field: Field): string {
  switch (field.kind) {
    case "text":
      return "That is not a text.";
    case "number":
      return "That is not a number.";
    case "yes or no":
      return "Please answer yes or no.";
    case "one":
      return "That is not one of the choices.";
    case "some":
      return "Not all of that is among the choices.";
    default:
      return field satisfies never;
  }
}
