import type { Document, YAMLError } from "yaml";
import { type Fault, findLineAndColumn } from "./fault.js";

/** One cause for several mistakes in the library, which tells them apart in its message only. */
const missing: readonly (readonly [RegExp, string])[] = [
  [/^Missing closing /, "a quote that was opened before is not closed"],
  [/^Missing , /, "a comma is missing"],
  [/^Missing space after :/, "a space is missing after a colon"],
  [/need to be followed by map values/, 'a key has no ":" and no value'],
  [/without - indicator/, 'an entry of a list has no "-" before it'],
  [/^Comments must/, 'a comment needs a space before its "#"'],
];

const reasons: Readonly<Record<string, string>> = {
  BAD_INDENT: "the line is moved in too far or not far enough, or a closing bracket is missing",
  TAB_AS_INDENT: "a line begins with a tab: use spaces",
  DUPLICATE_KEY: "the same key is there twice",
  BLOCK_AS_IMPLICIT_KEY:
    'a value holds ": ", or a key is on the line of another one: put the value in quotes, or the key on a line of its own',
  MULTILINE_IMPLICIT_KEY: "a key is on more than one line, or its colon is missing",
  UNEXPECTED_TOKEN: "something does not belong here",
  BAD_SCALAR_START: "a text begins with a sign that means something in YAML: put it in quotes",
  BAD_DQ_ESCAPE: "a backslash in double quotes has to be written twice",
  BAD_ALIAS: "an alias (*name) has no anchor (&name)",
  MULTIPLE_DOCS: "--- begins a second document, and only one is read",
  MISSING_CHAR: "a sign is missing",
};

/** The first mistake of a YAML text. The library's own words may quote the file, and with it a key: they are not shown. */
export function yamlFault(text: string, { errors }: Document.Parsed): Fault | undefined {
  const [error] = errors;
  if (error === undefined) return undefined;
  return { ...findLineAndColumn(text, error.pos[0]), message: reasonFor(error) };
}

function reasonFor({ code, message }: YAMLError): string {
  const known = code === "MISSING_CHAR" ? missing.find(([pattern]) => pattern.test(message))?.[1] : undefined;
  return known ?? reasons[code] ?? `it is not valid YAML (${code.toLowerCase().replaceAll("_", " ")})`;
}
