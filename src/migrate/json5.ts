/** A plain JSON object. */
export type JsonObject = { readonly [key: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const escapes: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v", "0": "\0" };

/**
 * Reads JSON as people write it by hand: comments, names without quotes, single quotes, a comma at the end.
 *
 * @throws {SyntaxError} naming the line, and nothing of the text, which may hold keys
 */
export function parseJson5(source: string): unknown {
  const text = source.replace(/^\uFEFF/, "");
  let at = 0;

  const fail = (): never => {
    throw new SyntaxError(`it cannot be read, line ${text.slice(0, at).split("\n").length}`);
  };
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  const blank = (): void => void take(/(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y);
  const isNext = (sign: string): boolean => {
    blank();
    if (text[at] !== sign) return false;
    at += 1;
    return true;
  };

  const string = (): string | undefined => {
    const quoted = take(/"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'/y);
    return quoted
      ?.slice(1, -1)
      .replaceAll(/\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|[\s\S]))/g, (_, long, short, sign: string) => {
        const code: string | undefined = long ?? short;
        if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
        return /^[\r\n]/.test(sign) ? "" : (escapes[sign] ?? sign);
      });
  };

  const object = (depth: number): JsonObject => {
    const entries: [string, unknown][] = [];
    while (!isNext("}")) {
      const name = string() ?? take(/[\p{L}_$][\p{L}\p{N}_$]*/uy) ?? fail();
      if (!isNext(":")) fail();
      entries.push([name, value(depth + 1)]);
      if (!isNext(",")) {
        if (!isNext("}")) fail();
        break;
      }
    }
    // Not by assignment: a name may be __proto__.
    return Object.fromEntries(entries);
  };

  const list = (depth: number): unknown[] => {
    const entries: unknown[] = [];
    while (!isNext("]")) {
      entries.push(value(depth + 1));
      if (!isNext(",")) {
        if (!isNext("]")) fail();
        break;
      }
    }
    return entries;
  };

  const value = (depth: number): unknown => {
    if (depth > 100) fail();
    if (isNext("{")) return object(depth);
    if (isNext("[")) return list(depth);
    const quoted = string();
    if (quoted !== undefined) return quoted;
    const word = take(/[+-]?[\p{L}\p{N}.]+(?:(?<=\d[eE])[+-]\d+)?/uy) ?? fail();
    if (word === "true" || word === "false") return word === "true";
    if (word === "null") return null;
    const number = Number(word.replace(/^\+/, ""));
    return Number.isNaN(number) ? fail() : number;
  };

  const root = value(0);
  blank();
  return at === text.length ? root : fail();
}
