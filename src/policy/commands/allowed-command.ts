import { anyCharacter, anyText, type Glob, hasWildcard, matchesGlob } from "../../util/files/glob.js";
import { opensMore, runsAnything } from "./command-programs.js";
import { parsePattern, parseWords } from "./shell-words.js";

/** What a rule that allows commands stands for. */
export interface AllowedCommand {
  matches(command: string): boolean;
  /** Why it never allows a command, as the end of a sentence. */
  readonly problem?: string | undefined;
}

/**
 * A rule's pattern, read as words: the program by its exact name, `*` as the last word for any further words, and in
 * every other word for any part of that one word. A command that is not made of plain words is never allowed, nor one in
 * which a word that the rule leaves open makes a known program run another one.
 */
export function allowedCommand(pattern: string): AllowedCommand {
  const globs = parsePattern(pattern);
  if (globs === undefined) return never("it is more than one program with plain words");
  const [first = [], ...rest] = globs;
  if (hasWildcard(first)) return never("it has to name its program; without `argument` it allows every command");
  const program = first.join("");
  if (program.includes("/") && !program.startsWith("/"))
    return never("a program has a plain name, or a path that begins with /");
  const isOpen = rest.some(hasWildcard);
  if (isOpen && runsAnything(program))
    return never(`${program} runs any program that its words name: only whole commands without * can be allowed`);
  const last = rest.at(-1);
  const takesMore = last?.length === 1 && last[0] === anyText;
  const fixed = takesMore ? rest.slice(0, -1) : rest;
  return {
    matches(command) {
      const [name, ...words] = parseWords(command) ?? [];
      if (name !== program || (takesMore ? words.length < fixed.length : words.length !== fixed.length)) return false;
      if (!fixed.every((glob, index) => matchesWord(glob, words[index] ?? ""))) return false;
      const ruled = words.map((text, index) => {
        const glob = fixed[index];
        return { text, isFixed: glob !== undefined && !hasWildcard(glob) };
      });
      return !isOpen || !opensMore([{ text: program, isFixed: true }, ...ruled]);
    },
  };
}

/** A word that is left open from its beginning is not an option: those are named, or come under the last `*`. */
function matchesWord(glob: Glob, word: string): boolean {
  const [first] = glob;
  return !((first === anyText || first === anyCharacter) && word.startsWith("-")) && matchesGlob(glob, word);
}

function never(problem: string): AllowedCommand {
  return { matches: () => false, problem };
}
