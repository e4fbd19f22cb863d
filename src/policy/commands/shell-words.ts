import { anyCharacter, anyText, type Glob } from "../../util/files/glob.js";

/** Nobody reads a longer one word by word. */
const longestCommand = 10_000;

/** What a shell takes as it is, outside of quotes and anywhere in a word. */
const plainCharacter = /[\p{L}\p{M}\p{N}_@%+:,./^-]/u;

/**
 * The words of a command of which no shell makes anything else: one program with its arguments. Undefined for all that a
 * shell would expand, split, redirect or chain (variables, substitutions, globs, braces, `~`, operators, comments, line
 * ends, assignments in front), and for what two shells could read in two ways. Takes as long as the command is.
 */
export function parseWords(command: string): readonly string[] | undefined {
  return parse(command, false)?.map((word) => word.join(""));
}

/** The same for a pattern, in which `*` and `?` outside of quotes stand for others. */
export function parsePattern(pattern: string): readonly Glob[] | undefined {
  return parse(pattern, true);
}

function parse(text: string, hasGlobs: false): readonly (readonly string[])[] | undefined;
function parse(text: string, hasGlobs: boolean): readonly Glob[] | undefined;
function parse(text: string, hasGlobs: boolean): readonly Glob[] | undefined {
  // Line ends, and everything that is not seen.
  if (text.length > longestCommand || /[^\P{C}\t]|[\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u.test(text))
    return undefined;
  const characters = [...text];
  const words: Glob[number][][] = [];
  let word: Glob[number][] | undefined;
  for (let at = 0; at < characters.length; ) {
    const character = characters[at] ?? "";
    if (character === " " || character === "\t") {
      word = undefined;
      at += 1;
      continue;
    }
    const piece = pieceAt(characters, at, { hasGlobs, isFirst: word === undefined });
    if (piece === undefined) return undefined;
    if (word === undefined) {
      word = [];
      words.push(word);
    }
    for (const one of piece.stands) word.push(one);
    at = piece.next;
  }
  const [program] = words;
  if (program === undefined || isAssignment(program)) return undefined;
  return words;
}

interface Piece {
  readonly stands: Glob;
  readonly next: number;
}

function pieceAt(
  characters: readonly string[],
  at: number,
  { hasGlobs, isFirst }: { readonly hasGlobs: boolean; readonly isFirst: boolean },
): Piece | undefined {
  const character = characters[at] ?? "";
  if (character === "'") return singleQuoted(characters, at + 1);
  if (character === '"') return doubleQuoted(characters, at + 1);
  if (character === "\\") return escaped(characters[at + 1], at + 2);
  if (hasGlobs && character === "*") return { stands: [anyText], next: at + 1 };
  if (hasGlobs && character === "?") return { stands: [anyCharacter], next: at + 1 };
  // One shell takes a word that begins with `=` for the path of a program; `~` is a folder at the beginning of a word or a value.
  const isInside = !isFirst && !/[=:]/.test(characters[at - 1] ?? "");
  if (character === "=" ? !isFirst : character === "~" || character === "#") {
    return character === "=" || isInside ? { stands: [character], next: at + 1 } : undefined;
  }
  return plainCharacter.test(character) ? { stands: [character], next: at + 1 } : undefined;
}

function singleQuoted(characters: readonly string[], from: number): Piece | undefined {
  const end = characters.indexOf("'", from);
  return end === -1 ? undefined : { stands: characters.slice(from, end), next: end + 1 };
}

function doubleQuoted(characters: readonly string[], from: number): Piece | undefined {
  const stands: string[] = [];
  for (let at = from; at < characters.length; at += 1) {
    const character = characters[at] ?? "";
    if (character === '"') return { stands, next: at + 1 };
    if (/[$`!]/.test(character)) return undefined;
    if (character !== "\\") {
      stands.push(character);
      continue;
    }
    const next = characters[at + 1] ?? "";
    if (!/["\\$`]/.test(next)) return undefined;
    stands.push(next);
    at += 1;
  }
  return undefined;
}

/** Signs and blanks: a letter or a digit behind a backslash means something to some. */
function escaped(character: string | undefined, next: number): Piece | undefined {
  return character !== undefined && /[\p{P}\p{S} ]/u.test(character) ? { stands: [character], next } : undefined;
}

function isAssignment(word: Glob): boolean {
  const text = word.map((piece) => (typeof piece === "string" ? piece : "*")).join("");
  return /^[A-Za-z_][A-Za-z0-9_]*(\[.*\])?\+?=/.test(text);
}
