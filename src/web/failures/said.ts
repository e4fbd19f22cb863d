import { languageOfPage } from "../words/words.js";
import { failureWords } from "./words.js";

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
  return code !== undefined && languageOfPage() !== "en" && isKnown(code) ? failureWords.t(code) : undefined;
}

function isKnown(code: string): code is keyof typeof failureWords.en {
  return Object.hasOwn(failureWords.en, code);
}
