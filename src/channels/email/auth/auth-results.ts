import type { Header } from "../header-lines.js";

export interface AuthResult {
  readonly method: string;
  readonly result: string;
  /** E.g. `header.from`, in lower case. */
  readonly properties: ReadonlyMap<string, string>;
}

/** One's own server writes no longer ones. */
const longestValue = 8192;

/**
 * What one's own server has found out about a mail (RFC 8601): the topmost header of that name, as lower ones came with
 * the mail. Undefined where there is none.
 */
export function readAuthResults(headers: readonly Header[], authservId: string): readonly AuthResult[] | undefined {
  for (const { name, value } of headers) {
    if (name !== "authentication-results") continue;
    if (value.length > longestValue) continue;
    const [id = "", ...results] = splitOutside(withoutComments(value));
    const [server = ""] = id.trim().split(/\s+/);
    if (unquoted(server).toLowerCase() !== authservId.toLowerCase()) continue;
    return results.flatMap(parseResult);
  }
  return undefined;
}

function parseResult(text: string): readonly AuthResult[] {
  const words = text.trim().match(/[^\s"=]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s"]*))?/g) ?? [];
  const [first = "", ...rest] = words;
  const [method = "", result = ""] = pairOf(first);
  if (method === "" || result === "") return [];
  return [
    {
      method: method.replace(/\/.*/, "").toLowerCase(),
      result: result.toLowerCase(),
      properties: new Map(rest.map(pairOf).map(([key = "", value = ""]) => [key.toLowerCase(), value])),
    },
  ];
}

function pairOf(word: string): readonly string[] {
  const at = word.indexOf("=");
  return at === -1 ? [word] : [word.slice(0, at).trim(), unquoted(word.slice(at + 1).trim())];
}

function unquoted(text: string): string {
  return text.startsWith('"') ? text.slice(1, -1).replace(/\\(.)/g, "$1") : text;
}

/** Comments nest, and do not count inside quotes. */
function withoutComments(text: string): string {
  let depth = 0;
  let isQuoted = false;
  let kept = "";
  for (let at = 0; at < text.length; at++) {
    const letter = text.charAt(at);
    if (letter === "\\" && (isQuoted || depth > 0)) {
      if (depth === 0) kept += text.slice(at, at + 2);
      at += 1;
    } else if (depth === 0 && letter === '"') {
      isQuoted = !isQuoted;
      kept += letter;
    } else if (!isQuoted && letter === "(") {
      depth += 1;
    } else if (!isQuoted && letter === ")" && depth > 0) {
      depth -= 1;
    } else if (depth === 0) {
      kept += letter;
    }
  }
  return kept;
}

/** Cut at each semicolon that is not inside quotes. */
function splitOutside(text: string): readonly string[] {
  const parts = [""];
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const letter = text.charAt(at);
    if (letter === '"') isQuoted = !isQuoted;
    if (letter === ";" && !isQuoted) {
      parts.push("");
      continue;
    }
    const isEscape = letter === "\\" && isQuoted;
    parts.push(`${parts.pop() ?? ""}${isEscape ? text.slice(at, at + 2) : letter}`);
    if (isEscape) at += 1;
  }
  return parts.filter((part) => part !== "");
}
