/** Where a text stops being valid. Lines and columns count from 1; the message quotes nothing of the text. */
export interface Fault {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** Line and column of an offset. */
export function placeOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: offset - lineStart + 1 };
}

/**
 * The first place where a text is not JSON, or undefined when it is. Node 20's own message often names no place, and
 * quotes the text around it, which in a config may be a key.
 */
export function findJsonFault(text: string): Fault | undefined {
  let at = 0;

  const fail = (message: string): Fault => ({
    ...placeOf(text, at),
    message: at >= text.length ? `the file ends here, but ${message}` : message,
  });

  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found === null) return false;
    at = pattern.lastIndex;
    return true;
  };
  const blank = (): boolean => skip(/[ \t\r\n]*/y);

  const string = (what: string): Fault | undefined => {
    if (text[at] !== '"') return fail(`${what} in double quotes is expected`);
    const start = at;
    at++;
    skip(/(?:[^"\\\p{Cc}]|[\x7f-\x9f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/uy);
    if (skip(/"/y)) return undefined;
    if (text[at] === "\\") return fail("this escape does not exist in JSON");
    at = start;
    return { ...fail("this text has no closing double quote"), message: "this text has no closing double quote" };
  };

  const members = (close: string, depth: number, member: () => Fault | undefined): Fault | undefined => {
    if (depth > 200) return fail("this is nested too deep");
    at++;
    blank();
    if (text[at] === close) {
      at++;
      return undefined;
    }
    for (;;) {
      blank();
      if (text[at] === close) return fail("a comma stands before the closing bracket");
      const fault = member();
      if (fault !== undefined) return fault;
      blank();
      if (text[at] === close) {
        at++;
        return undefined;
      }
      if (text[at] !== ",") return fail(`a comma or ${close} is expected`);
      at++;
    }
  };

  const value = (depth: number): Fault | undefined => {
    blank();
    if (text[at] === "{")
      return members("}", depth, () => {
        const fault = string("a key");
        if (fault !== undefined) return fault;
        blank();
        if (text[at] !== ":") return fail("a colon is expected after the key");
        at++;
        return value(depth + 1);
      });
    if (text[at] === "[") return members("]", depth, () => value(depth + 1));
    if (text[at] === '"') return string("a text");
    if (skip(/(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y)) return undefined;
    return fail("a value is expected: a text in double quotes, a number, true, false, null, { or [");
  };

  const fault = value(0);
  if (fault !== undefined) return fault;
  blank();
  return at < text.length ? fail("nothing may follow the closing bracket") : undefined;
}
