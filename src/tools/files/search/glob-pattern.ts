import { withoutSlashes } from "../../../util/text/trim-where.js";

/** Whether a path with `/` between its names fits. */
export type GlobMatcher = (path: string) => boolean;

const maxAlternatives = 100;

/**
 * `*` and `?` match within a name, `**` matches any number of folders, `[a-z]` for one character, `{a,b}` for either. A
 * pattern without `/` is looked for in every folder. Takes no more time than path and pattern are long, whatever is
 * in them. Undefined for a pattern that is none.
 */
export function createGlob(pattern: string): GlobMatcher | undefined {
  const plain = pattern.replace(/^\.?\/+/, "");
  const bare = withoutSlashes(plain);
  const trimmed = bare === plain ? plain : `${bare}/**`;
  const alternatives = expandBraces(trimmed);
  if (trimmed === "" || pattern.length > 500 || alternatives === undefined) return undefined;
  const compiled = alternatives.map((alternative) => {
    const segments = alternative.split("/").filter((segment) => segment !== "");
    return (segments.length === 1 ? ["**", ...segments] : segments).map(toSegment);
  });
  return (path) => {
    const names = path.split("/");
    return compiled.some((segments) => matchesList(names, segments, (name, segment) => segment.fits(name)));
  };
}

interface Segment {
  readonly isAny: boolean;
  readonly fits: (name: string) => boolean;
}

function toSegment(source: string): Segment {
  if (source === "**") return { isAny: true, fits: () => true };
  const characters = tokensOf(source);
  return {
    isAny: false,
    fits: (name) => matchesList([...name], characters, (character, token) => token.fits(character)),
  };
}

function tokensOf(source: string): readonly Segment[] {
  const tokens: Segment[] = [];
  for (let rest = source; rest !== ""; ) {
    const set = /^\[(!|\^)?([^\]]+)\]/.exec(rest);
    const [first = ""] = rest;
    if (set !== null) {
      const isNot = set[1] !== undefined;
      const inSet = setOf(set[2] ?? "");
      tokens.push({ isAny: false, fits: (character) => inSet(character) !== isNot });
    } else if (first === "*") tokens.push({ isAny: true, fits: () => true });
    else if (first === "?") tokens.push({ isAny: false, fits: () => true });
    else tokens.push({ isAny: false, fits: (character) => character === first });
    rest = rest.slice(set === null ? first.length : set[0].length);
  }
  return tokens;
}

function setOf(source: string): (character: string) => boolean {
  const ranges = [...source.matchAll(/(.)-(.)|(.)/gsu)].map(([, from = "", to = "", one = ""]) =>
    one === "" ? { from, to } : { from: one, to: one },
  );
  return (character) => ranges.some(({ from, to }) => character >= from && character <= to);
}

/** Greedy with one place to come back to: the last piece that stands for any number of items. */
function matchesList<T>(
  items: readonly T[],
  pattern: readonly Segment[],
  fits: (item: T, one: Segment) => boolean,
): boolean {
  let item = 0;
  let at = 0;
  let anyAt = -1;
  let itemAtAny = 0;
  while (item < items.length) {
    const one = pattern[at];
    const current = items[item];
    if (one?.isAny) {
      anyAt = at++;
      itemAtAny = item;
    } else if (one !== undefined && current !== undefined && fits(current, one)) {
      item += 1;
      at += 1;
    } else if (anyAt !== -1) {
      itemAtAny += 1;
      item = itemAtAny;
      at = anyAt + 1;
    } else return false;
  }
  while (pattern[at]?.isAny) at += 1;
  return at === pattern.length;
}

/** Every way to read the braces; undefined when there are too many. */
function expandBraces(pattern: string): readonly string[] | undefined {
  let expanded: readonly string[] = [pattern];
  for (;;) {
    const next = expanded.flatMap((one) => {
      const braces = /\{([^{}]*)\}/.exec(one);
      if (braces === null) return [one];
      const [whole, inner = ""] = braces;
      return inner
        .split(",")
        .map((choice) => one.slice(0, braces.index) + choice + one.slice(braces.index + whole.length));
    });
    if (next.length > maxAlternatives) return undefined;
    if (next.every((one, index) => one === expanded[index])) return next;
    expanded = next;
  }
}
