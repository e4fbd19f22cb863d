/** The languages of the page. */
export const languages = ["en", "zh"] as const;
export type Language = (typeof languages)[number];

type Values = Readonly<Record<string, string | number>>;

/** A list of words in each language. `t` says one in the language of the page. */
export interface Words<E extends Readonly<Record<string, string>>> {
  readonly en: E;
  readonly zh: Readonly<Record<keyof E, string>>;
  /** `{name}` in the words becomes `values.name`. */
  t(key: keyof E, values?: Values): string;
  /** `one` where the language says one for `n`, else `many`. Both get `{n}`. */
  count(n: number, one: keyof E, many: keyof E): string;
}

/** Each folder of the page keeps its own words in a `words.ts`; a test holds that no language lacks one. */
export function defineWords<const E extends Readonly<Record<string, string>>>(
  en: E,
  zh: Readonly<Record<keyof E, string>>,
): Words<E> {
  const t = (key: keyof E, values: Values = {}): string => {
    const text: string = (languageOfPage() === "zh" ? zh : en)[key];
    return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
  };
  const count = (n: number, one: keyof E, many: keyof E): string =>
    t(new Intl.PluralRules(languageOfPage()).select(n) === "one" ? one : many, { n });
  return { en, zh, t, count };
}

/** The language that the page is in: the document says it, set by {@link setLanguage} before anything is drawn. */
export function languageOfPage(): Language {
  // Tests import parts of the page without a document.
  const { document } = globalThis as { readonly document?: { readonly documentElement: { readonly lang: string } } };
  return document?.documentElement.lang.startsWith("zh") ? "zh" : "en";
}

/** What the gateway says in both languages, in that of the page. */
export function saidIn(words: unknown): string {
  const said: unknown = Reflect.get(Object(words), languageOfPage());
  return typeof said === "string" ? said : "";
}
