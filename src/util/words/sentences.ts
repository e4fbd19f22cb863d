/** Sentences with codes. `{name}` in the words is a value. */
export type Sentences = Readonly<Record<string, string>>;
export type Values = Readonly<Record<string, string | number>>;

type NamesIn<Words extends string> = Words extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;
/** What a sentence needs: a value for each name in it. */
export type ValuesOf<Words extends string> = Readonly<Record<NamesIn<Words>, string | number>>;
type Rest<Words extends string> = NamesIn<Words> extends never ? [] : [values: ValuesOf<Words>];

/** What a sentence was made of. A value may be a sentence itself. */
export interface Read {
  readonly code: string;
  readonly values: Readonly<Record<string, string>>;
}

/** `{name}` in the words becomes `values.name`. */
export function withValues(words: string, values: Values): string {
  return words.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

/** Makes a sentence of one catalogue. */
export type Sentence<All extends Sentences> = <Code extends keyof All & string>(
  code: Code,
  ...values: Rest<All[Code]>
) => string;

export function sentencesOf<All extends Sentences>(all: All): Sentence<All> {
  return (code, ...[values]) => withValues(all[code] ?? code, values ?? {});
}

/** Finds out which sentence of a catalogue a text is; undefined for one that is not there. */
export function readerOf(all: Sentences): (sentence: string) => Read | undefined {
  const known = Object.entries(all).map(([code, words]) => ({ code, ...patternOf(words) }));
  // Where two fit, the one with more words of its own is meant: the other one has them in a value.
  known.sort((a, b) => b.own - a.own);
  return (sentence) => {
    for (const { code, pattern } of known) {
      const found = pattern.exec(sentence);
      if (found !== null) return { code, values: { ...found.groups } };
    }
    return undefined;
  };
}

const values: Readonly<Record<string, string>> = { reason: "[\\s\\S]+", said: "[\\s\\S]+?", n: "\\d+" };

/**
 * `reason`, and `said` where more follows: what others say, and whole sentences. `n`: digits. What has another name holds no `;`, as
 * what is done about it follows that.
 */
function patternOf(words: string): { readonly pattern: RegExp; readonly own: number } {
  const pattern = words
    .replace(/[\\^$.*+?()[\]|]/g, "\\$&")
    .replace(/\{(\w+)\}/g, (_, name: string) => `(?<${name}>${values[name] ?? "[^;]+?"})`);
  return { pattern: new RegExp(`^${pattern}$`), own: words.replace(/\{\w+\}/g, "").length };
}
