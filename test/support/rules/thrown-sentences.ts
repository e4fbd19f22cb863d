/** The sentences that a TypeScript text hands to the first argument of these calls, or to what is named so. `{}`: a value. */
export function sentencesIn(code: string, begins: RegExp): readonly string[] {
  return [...code.matchAll(begins)].flatMap(({ 0: { length }, index }) => readTexts(code, index + length, true).texts);
}

interface Found {
  readonly texts: readonly string[];
  readonly end: number;
}

/** Up to the comma, the semicolon or the bracket that ends this. `a` + `b` is one text. */
function readTexts(code: string, from: number, isArgument: boolean): Found {
  const texts: string[] = [];
  let depth = 0;
  let at = from;
  let isJoined = false;
  for (; at < code.length; at += 1) {
    const sign = code.charAt(at);
    if (sign === '"' || sign === "`") {
      const { text, inner, end } = sign === '"' ? readPlain(code, at + 1) : readTemplate(code, at + 1);
      if (isJoined) texts.push(`${texts.pop()}${text}`);
      else texts.push(text);
      texts.unshift(...inner);
      at = end;
      isJoined = /^\s*\+\s*["`]/.test(code.slice(at + 1, at + 40));
    } else if ("([{".includes(sign)) depth += 1;
    else if (")]}".includes(sign)) {
      if (depth === 0) break;
      depth -= 1;
    } else if (depth === 0 && (sign === ";" || (isArgument && sign === ","))) break;
  }
  return { texts, end: at };
}

interface Literal {
  readonly text: string;
  /** What is written in its values. */
  readonly inner: readonly string[];
  readonly end: number;
}

function readPlain(code: string, from: number): Literal {
  const [text = ""] = /^(?:\\.|[^"\\])*/.exec(code.slice(from, from + 2000)) ?? [];
  return { text: text.replace(/\\(.)/g, "$1"), inner: [], end: from + text.length };
}

function readTemplate(code: string, from: number): Literal {
  let text = "";
  const inner: string[] = [];
  for (let at = from; at < code.length; at += 1) {
    if (code.charAt(at) === "`") return { text, inner, end: at };
    if (code.startsWith("${", at)) {
      const found = readTexts(code, at + 2, false);
      inner.push(...found.texts);
      text += "{}";
      at = found.end;
    } else text += code.charAt(at);
  }
  throw new Error(`a template does not end: ${code.slice(from, from + 60)}`);
}
