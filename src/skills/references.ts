import { trimEndWhere } from "../util/text/trim-where.js";
import { foldName, type Skill } from "./skill.js";

/** What a text asks for: `@skill:<name>`, `$<name>`, and the words `all` and `none` in their place. */
export interface References {
  /** In the order of the text, each once. */
  readonly skills: readonly Skill[];
  /** Names after `@skill:` that no skill has. An unknown `$WORD` is plain text. */
  readonly missing: readonly string[];
  readonly all: boolean;
  readonly none: boolean;
}

/** Not behind a letter, a digit, another `$` or a backslash: `US$x` and `\$x` are not references. */
const marker = /(?<![A-Za-z0-9_$\\])(?:@skill:|\$)/gi;

export function findReferences(text: string, available: readonly Skill[]): References {
  const folded = text.normalize("NFC").toLowerCase();
  const names = namesOf(available);
  const skills = new Set<Skill>();
  const missing = new Set<string>();
  let all = false;
  let none = false;
  for (const match of folded.matchAll(marker)) {
    const rest = folded.slice(match.index + match[0].length, match.index + match[0].length + 200);
    if (startsWithName(rest, "all")) all = true;
    else if (startsWithName(rest, "none")) none = true;
    else {
      const skill = names.find(({ name }) => startsWithName(rest, name))?.skill ?? likeWord(rest, names);
      if (skill !== undefined) skills.add(skill);
      else if (match[0] !== "$") missing.add(wordOf(rest));
    }
  }
  missing.delete("");
  return { skills: [...skills], missing: [...missing], all, none };
}

interface Name {
  readonly name: string;
  readonly letters: string;
  readonly skill: Skill;
}

/** Longest first; of equal names that of a file or folder before one from front matter. */
function namesOf(available: readonly Skill[]): readonly Name[] {
  const toName = (text: string, skill: Skill): Name => {
    const name = foldName(text);
    return { name, letters: lettersOf(name), skill };
  };
  const files = available.map((skill) => toName(skill.name, skill));
  const titles = available.flatMap((skill) => skill.aliases.map((alias) => toName(alias, skill)));
  return [...files, ...titles].filter(({ name }) => name !== "").sort((a, b) => b.name.length - a.name.length);
}

/** Whether the name is there as a word: `$pdf`, `$pdf.`, `$pdf帮我`, but not `$pdfs`, `$pdf-tools` or `$pdf/x`. */
function startsWithName(rest: string, name: string): boolean {
  if (!rest.startsWith(name)) return false;
  const after = rest.slice(name.length);
  if (after === "" || isUnspaced(name.slice(-1)) || isUnspaced(after.charAt(0))) return true;
  return !/^(?:[\p{L}\p{N}_/]|[-.]+[\p{L}\p{N}_])/u.test(after);
}

/** Chinese and Japanese put no space between words. */
function isUnspaced(character: string): boolean {
  return /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(character);
}

/** `web_search` also means the skill `web-search`, as it did in the Go maxclaw. */
function likeWord(rest: string, names: readonly Name[]): Skill | undefined {
  const word = wordOf(rest);
  const wanted = lettersOf(word);
  return wanted === "" || !startsWithName(rest, word)
    ? undefined
    : names.find(({ letters }) => letters === wanted)?.skill;
}

function wordOf(rest: string): string {
  const [word] = /^[\p{L}\p{M}\p{N}_.-]+/u.exec(rest) ?? [""];
  return trimEndWhere(word, (unit) => unit === "." || unit === "-");
}

function lettersOf(word: string): string {
  return word.replace(/[^\p{L}\p{M}\p{N}]/gu, "");
}
