import { languageOfPage } from "../words/words.js";

/** The page's own words for each code, once they are loaded. The English page shows the gateway's, and has none. */
const known = new Map<string, string>();
/** Reads a sentence about the config, once that is loaded. */
const readers: ((sentence: string) => string | undefined)[] = [];
/** Longer than this nobody waits for them. */
const mostMs = 2000;

/** Fetches the page's own words. Resolves once they are there, or are not worth waiting for; never rejects. */
export async function loadOwnWords(): Promise<void> {
  if (languageOfPage() === "en" || known.size > 0) return;
  const loaded = Promise.all([import("./words.js"), import("./problems.js")]).then(
    ([{ failureWords }, { problemInChinese }]) => {
      for (const [code, words] of Object.entries(failureWords.zh)) known.set(code, words);
      readers.push(problemInChinese);
    },
  );
  const waited = new Promise((resolve) => setTimeout(resolve, mostMs));
  // Until they are there the gateway's own sentence says what happened.
  await Promise.race([loaded.catch(() => undefined), waited]);
}

/** One sentence for people about whatever was thrown. */
export function sentenceOf(error: unknown): string {
  // Of the gateway's answers over HTTP, and of those to commands.
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
  const said = error instanceof Error ? error.message : String(error);
  const own = ownWords(code);
  return own === undefined ? said : `${own}（${said}）`;
}

/** What a failure means, where the gateway's own sentence is in another language than the page. */
export function ownWords(code: string | undefined): string | undefined {
  return code === undefined || languageOfPage() === "en" ? undefined : known.get(code);
}

/** What is wrong in the config, where the gateway's own sentence is in another language than the page. */
export function ownProblem(sentence: string): string | undefined {
  return languageOfPage() === "en" ? undefined : readers[0]?.(sentence);
}

/** The same, or else the gateway's own sentence. */
export function problemText(sentence: string): string {
  return ownProblem(sentence) ?? sentence;
}
