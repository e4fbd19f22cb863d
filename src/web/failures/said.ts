import { inTime } from "../parts/in-time.js";
import { languageOfPage } from "../words/words.js";
import type { Asked, AskedOption, Shown, sayPermission } from "./permissions.js";

/** The page's own words for each code, once they are loaded. The English page shows the gateway's, and has none. */
const known = new Map<string, string>();
/** Say in Chinese what the gateway says in English, once they are loaded. */
const readers: ((sentence: string) => string | undefined)[] = [];

/** Says in Chinese what the gateway asks in English, once it is loaded. */
const sayers: (typeof sayPermission)[] = [];

/** Fetches the page's own words. Resolves once they are there, or are not worth waiting for; never rejects. */
export async function loadOwnWords(): Promise<void> {
  if (known.size > 0) return;
  await loadWords(async () => {
    const [{ failureWords }, { sayStatus }, permissions] = await Promise.all([
      import("./words.js"),
      import("./status.js"),
      import("./permissions.js"),
    ]);
    for (const [code, words] of Object.entries(failureWords.zh)) known.set(code, words);
    readers.push(sayStatus);
    sayers.push(permissions.sayPermission);
  });
}

/** The same of the words for what an examination finds. */
export async function loadFindingWords(): Promise<void> {
  await loadWords(async () => {
    const { findingInChinese } = await import("./findings.js");
    // It knows all that the others know, and more: a sentence that two fit is the one with more words of its own.
    if (!readers.includes(findingInChinese)) readers.unshift(findingInChinese);
  });
}

/** Until they are there the gateway's own sentence says what happened. */
async function loadWords(load: () => Promise<void>): Promise<void> {
  if (languageOfPage() !== "en") await inTime(load());
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

/** What is wrong, as the gateway says it, where the gateway's own sentence is in another language than the page. */
export function ownProblem(sentence: string): string | undefined {
  if (languageOfPage() === "en") return undefined;
  const read = (one: string): string | undefined =>
    readers.reduce<string | undefined>((said, reader) => said ?? reader(one), undefined);
  const said = [read(sentence), ...readOfAccount(sentence, read)].filter((one) => one !== undefined);
  // A part that nobody knows stays English.
  return said.sort((a, b) => lettersIn(a) - lettersIn(b))[0];
}

/** A sentence about a further account, such as `channels.slack-acme`, is its platform's with another name in it. */
function readOfAccount(
  sentence: string,
  read: (sentence: string) => string | undefined,
): readonly (string | undefined)[] {
  const [, account = ""] = /\bchannels\.([a-z0-9]+(?:-[a-z0-9]+)+)/.exec(sentence) ?? [];
  const found: (string | undefined)[] = [];
  for (let end = account.lastIndexOf("-"); end > 0; end = account.lastIndexOf("-", end - 1)) {
    const [own, others] = [`channels.${account}`, `channels.${account.slice(0, end)}`];
    found.push(read(sentence.replaceAll(own, others))?.replaceAll(others, own));
  }
  return found;
}

function lettersIn(text: string): number {
  return text.match(/[a-z]/gi)?.length ?? 0;
}

/** The same, or else the gateway's own sentence. */
export function problemText(sentence: string): string {
  return ownProblem(sentence) ?? sentence;
}

/** What a permission asks, in the language of the page. */
export function permissionText<Option extends AskedOption>(asked: Asked<Option>): Shown<Option> {
  const [say] = languageOfPage() === "en" ? [] : sayers;
  return say?.(asked) ?? asked;
}

/** One sentence of a permission where nothing else of it is at hand: the question, or the answer that was chosen. */
export function permissionLine(sentence: string): string {
  return permissionText({ question: sentence, input: [], options: [] }).question;
}
