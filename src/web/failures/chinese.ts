import { readerOf, type Sentences, withValues } from "../../util/words/sentences.js";

/** Says in Chinese what the gateway says in English, also a sentence in a sentence. Undefined for one that is not known. */
export function chineseOf<All extends Sentences>(
  english: All,
  chinese: Readonly<Record<keyof All & string, string>>,
): (sentence: string) => string | undefined {
  const read = readerOf(english);
  const say = (sentence: string): string | undefined => {
    const { code, values = {} } = read(sentence) ?? {};
    if (code === undefined) return undefined;
    const said = Object.entries(values).map(([name, value]) => [name, say(value)] as const);
    const isKnown = said.some(([, own]) => own !== undefined);
    // "{place}: {reason}" has no words of its own.
    if (!isKnown && !/\p{L}/u.test((english[code] ?? "").replace(/\{\w+\}/g, ""))) return undefined;
    const own = Object.fromEntries(said.map(([name, value]) => [name, value ?? values[name] ?? ""]));
    return withValues(chinese[code] ?? sentence, own);
  };
  return say;
}
