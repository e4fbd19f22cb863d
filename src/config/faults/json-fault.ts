/** Where a text stops being valid. Lines and columns count from 1; the message quotes nothing of the text. */
export interface Fault {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** Line and column of an offset. */
export function findLineAndColumn(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: offset - lineStart + 1 };
}

/**
 * The first place where a text is not JSON, or undefined when it is. Node 20's own message often names no place, and
 * quotes the text around it, which in a config may be a key.
 */
export function findJsonFault(text: string): Fault | undefined {
  return new JsonWalk(text).findFault();
}

const deepest = 200;
const unclosed = "this text has no closing double quote";
const literal = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;

/** Walks through a text as JSON. Each step gives the fault that it stops at. */
class JsonWalk {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  findFault(): Fault | undefined {
    const fault = this.#value(0);
    if (fault !== undefined) return fault;
    this.#skipBlank();
    return this.#at < this.#text.length ? this.#fail("nothing may follow the closing bracket") : undefined;
  }

  #value(depth: number): Fault | undefined {
    this.#skipBlank();
    switch (this.#peek()) {
      case "{":
        return this.#members("}", depth, () => this.#member(depth));
      case "[":
        return this.#members("]", depth, () => this.#value(depth + 1));
      case '"':
        return this.#string("a text");
      default:
        if (this.#skip(literal)) return undefined;
        return this.#fail("a value is expected: a text in double quotes, a number, true, false, null, { or [");
    }
  }

  #member(depth: number): Fault | undefined {
    const fault = this.#string("a key");
    if (fault !== undefined) return fault;
    this.#skipBlank();
    if (this.#peek() !== ":") return this.#fail("a colon is expected after the key");
    this.#at++;
    return this.#value(depth + 1);
  }

  #members(close: string, depth: number, member: () => Fault | undefined): Fault | undefined {
    if (depth > deepest) return this.#fail("this is nested too deep");
    this.#at++;
    this.#skipBlank();
    if (this.#peek() === close) {
      this.#at++;
      return undefined;
    }
    for (;;) {
      this.#skipBlank();
      if (this.#peek() === close) return this.#fail("there is a comma before the closing bracket");
      const fault = member();
      if (fault !== undefined) return fault;
      this.#skipBlank();
      if (this.#peek() === close) {
        this.#at++;
        return undefined;
      }
      if (this.#peek() !== ",") return this.#fail(`a comma or ${close} is expected`);
      this.#at++;
    }
  }

  #string(what: string): Fault | undefined {
    if (this.#peek() !== '"') return this.#fail(`${what} in double quotes is expected`);
    const start = this.#at;
    this.#at++;
    this.#skip(/(?:[^"\\\p{Cc}]|[\x7f-\x9f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/uy);
    if (this.#skip(/"/y)) return undefined;
    if (this.#peek() === "\\") return this.#fail("this escape does not exist in JSON");
    this.#at = start;
    return { ...this.#fail(unclosed), message: unclosed };
  }

  #peek(): string | undefined {
    return this.#text[this.#at];
  }

  #skipBlank(): void {
    this.#skip(/[ \t\r\n]*/y);
  }

  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found === null) return false;
    this.#at = pattern.lastIndex;
    return true;
  }

  #fail(message: string): Fault {
    return {
      ...findLineAndColumn(this.#text, this.#at),
      message: this.#at >= this.#text.length ? `the file ends here, but ${message}` : message,
    };
  }
}
