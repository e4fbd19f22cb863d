/**
 * Everything that is not seen, or that makes other text look different: controls, bidi and zero-width characters, tags,
 * line and paragraph ends, variation selectors, fillers, what is not assigned. A sign that is coloured by a selector is
 * left whole.
 */
const hidden =
  /(?<=\p{Extended_Pictographic})[\u{fe0e}\u{fe0f}]|([\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{2800}])/gu;

/** On one line, with visible signs instead of what cannot be seen: `\u{202e}`. */
export function visible(text: string): string {
  return text.replace(hidden, (whole, one?: string) => (one === undefined ? whole : escapeOf(one)));
}

/** The same for a text whose line ends and tabs stay. */
export function visibleLines(text: string): string {
  return text.replace(hidden, (whole, one?: string) =>
    one === undefined || one === "\n" || one === "\t" ? whole : escapeOf(one),
  );
}

/** A name or a title that cannot turn around itself and what is beside it: without marks of direction. */
export function withoutTurns(text: string): string {
  return text.replaceAll(/[\u{61c}\u{200e}\u{200f}\u{202a}-\u{202e}\u{2066}-\u{2069}]/gu, "");
}

/** Whether there is anything in it that people can see. */
export function hasVisible(text: string): boolean {
  return /[^\s\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u{2800}]/u.test(text);
}

/** JSON for people to read: what cannot be seen is there as JSON escapes it, so that it is the same value. */
export function visibleJson(value: unknown): string {
  const json = JSON.stringify(value, null, 2) ?? "";
  return json.replace(hidden, (whole, one?: string) => {
    if (one === undefined || one === "\n") return whole;
    return [...Array(one.length).keys()].map((at) => `\\u${hexOf(one.charCodeAt(at)).padStart(4, "0")}`).join("");
  });
}

/** What a tool is called with, field by field: texts as they are, anything else as JSON. */
export function visibleFields(
  input: Readonly<Record<string, unknown>>,
): readonly { readonly name: string; readonly value: string }[] {
  return Object.entries(input).map(([name, value]) => {
    return { name: visible(name), value: typeof value === "string" ? visibleLines(value) : visibleJson(value) };
  });
}

/** The same as lines `name: value`; further lines of a value are below, moved in. */
export function visibleInput(input: Readonly<Record<string, unknown>>): string {
  return visibleFields(input)
    .map(({ name, value }) => `${name}: ${value.replaceAll("\n", "\n  ")}`)
    .join("\n");
}

/** An address as the network knows it: a host in foreign letters, which may look like another one, in plain ones. */
export function visibleAddress(address: string): string {
  return visible(URL.canParse(address) ? new URL(address).href : address);
}

const shortEscapes: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function escapeOf(character: string): string {
  const short = shortEscapes[character];
  if (short !== undefined) return short;
  return `\\u{${hexOf(character.codePointAt(0) ?? 0)}}`;
}

function hexOf(code: number): string {
  return code.toString(16);
}
