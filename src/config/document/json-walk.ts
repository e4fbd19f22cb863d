import { type Fault, findLineAndColumn } from "../faults/fault.js";

/** A value of a text, and where it is: `text.slice(start, end)`. */
export interface JsonNode {
  readonly kind: "object" | "array" | "plain";
  readonly start: number;
  readonly end: number;
  readonly value: unknown;
  /** Of an object or a list, in their order. */
  readonly members: readonly JsonMember[];
}

export interface JsonMember {
  /** Empty in a list. */
  readonly key: string;
  /** Where its key begins; in a list, its value. */
  readonly start: number;
  readonly node: JsonNode;
  /** Where the comma after it is, if there is one. */
  readonly comma: number | undefined;
}

export interface JsonTree {
  readonly root: JsonNode;
  readonly comments: readonly { readonly start: number; readonly end: number }[];
}

/**
 * Reads JSON as people write it (JSON5): with comments, a comma at the end, single quotes and keys without quotes.
 * Messages quote nothing of the text, which in a config may be a key.
 */
export function readJson(text: string): JsonTree | { readonly fault: Fault } {
  try {
    return new JsonWalk(text).walk();
  } catch (error) {
    if (error instanceof JsonFault) return { fault: error.fault };
    throw error;
  }
}

class JsonFault extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.message);
    this.fault = fault;
  }
}

const deepest = 200;
const blank = /[\s\ufeff]*/y;
const lineComment = /\/\/[^\n\r\u2028\u2029]*/y;
const blockComment = /\/\*[\s\S]*?\*\//y;
const word = /(?:true|false|null)(?![\w$.+-])/y;
const number =
  /[+-]?(?:Infinity|NaN|0[xX][0-9a-fA-F]+|(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(?![\w$.+-])/y;
const name = /[$_\p{L}\p{Nl}][$_\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}\u200c\u200d]*/uy;
/** What people write in names of models, and no comment. */
const oddSign = /[-.@+]|\/(?![/*])/y;
const escaped = String.raw`\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|0(?!\d)|\r\n|[^ux0-9])`;
const quoted: Readonly<Record<string, RegExp>> = {
  '"': new RegExp(String.raw`"(?:[^"\\\n\r]+|${escaped})*`, "y"),
  "'": new RegExp(String.raw`'(?:[^'\\\n\r]+|${escaped})*`, "y"),
};
const wantsValue = "a value is expected: a text in double quotes, a number, true, false, null, { or [";

class JsonWalk {
  readonly #text: string;
  readonly #comments: { readonly start: number; readonly end: number }[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  walk(): JsonTree {
    const root = this.#value(0);
    this.#skipBlank();
    if (this.#at < this.#text.length) throw this.#fault("nothing may follow the closing bracket");
    return { root, comments: this.#comments };
  }

  #value(depth: number): JsonNode {
    this.#skipBlank();
    switch (this.#peek()) {
      case "{":
        return this.#members("object", "}", depth);
      case "[":
        return this.#members("array", "]", depth);
      case '"':
      case "'":
        return this.#plain(this.#string());
      default:
        return this.#literal();
    }
  }

  #literal(): JsonNode {
    const found = this.#take(word);
    if (found !== undefined) return this.#plain(found, JSON.parse(found));
    const digits = this.#take(number);
    if (digits === undefined) throw this.#fault(wantsValue);
    const sign = digits.startsWith("-") ? -1 : 1;
    return this.#plain(digits, sign * Number(digits.replace(/^[+-]/, "")));
  }

  /** What was just taken. */
  #plain(raw: string, value: unknown = textOf(raw)): JsonNode {
    return { kind: "plain", start: this.#at - raw.length, end: this.#at, value, members: [] };
  }

  #members(kind: "object" | "array", close: string, depth: number): JsonNode {
    if (depth > deepest) throw this.#fault("this is nested too deep");
    const start = this.#at++;
    const members: JsonMember[] = [];
    for (this.#skipBlank(); this.#peek() !== close; this.#skipBlank()) {
      if (members.length > 0 && members.at(-1)?.comma === undefined)
        throw this.#fault(`a comma or ${close} is expected`);
      members.push(this.#member(kind, depth));
    }
    this.#at++;
    const values = members.map(({ node }) => node.value);
    const value = kind === "array" ? values : objectOf(members);
    return { kind, start, end: this.#at, value, members };
  }

  #member(kind: "object" | "array", depth: number): JsonMember {
    const start = this.#at;
    const key = kind === "object" ? this.#key() : "";
    const node = this.#value(depth + 1);
    this.#skipBlank();
    const comma = this.#peek() === "," ? this.#at++ : undefined;
    return { key, start, node, comma };
  }

  #key(): string {
    const quote = this.#peek();
    const key = quote === '"' || quote === "'" ? textOf(this.#string()) : this.#plainKey();
    this.#skipBlank();
    if (this.#peek() !== ":") throw this.#fault("a colon is expected after the key");
    this.#at++;
    return key;
  }

  #plainKey(): string {
    const start = this.#at;
    const key = this.#take(name);
    if (key === undefined) throw this.#fault("a key is expected: a word, or a text in double quotes");
    const sign = this.#take(oddSign);
    if (sign === undefined) return key;
    this.#at = start;
    throw this.#fault(`a key with ${sign} in it belongs in double quotes`);
  }

  #string(): string {
    const quote = this.#peek() ?? "";
    const start = this.#at;
    const body = this.#take(quoted[quote] ?? /$/y) ?? "";
    if (this.#peek() === quote) {
      this.#at++;
      return body + quote;
    }
    if (this.#peek() === "\\") throw this.#fault("this escape does not exist in JSON");
    this.#at = start;
    throw this.#fault(`this text has no closing ${quote === '"' ? "double" : "single"} quote`);
  }

  #peek(): string | undefined {
    return this.#text[this.#at];
  }

  #skipBlank(): void {
    for (;;) {
      this.#take(blank);
      if (this.#peek() !== "/") return;
      const start = this.#at;
      const comment = this.#take(lineComment) ?? this.#take(blockComment);
      if (comment === undefined)
        throw this.#fault(this.#text.startsWith("/*", start) ? "this comment has no end: */" : wantsValue);
      this.#comments.push({ start, end: this.#at });
    }
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found === null) return undefined;
    this.#at = pattern.lastIndex;
    return found[0];
  }

  #fault(message: string): JsonFault {
    return new JsonFault({
      ...findLineAndColumn(this.#text, this.#at),
      message: this.#at >= this.#text.length ? `the file ends here, but ${message}` : message,
    });
  }
}

/** As JSON.parse does: the last one of a name counts, and `__proto__` is a name like others. */
function objectOf(members: readonly JsonMember[]): object {
  return Object.fromEntries(members.map(({ key, node }) => [key, node.value]));
}

const controls: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v", 0: "\0" };

function textOf(raw: string): string {
  return raw
    .slice(1, -1)
    .replaceAll(/\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|[\s\S]))/g, (_, long, short, mark) => {
      if (mark === undefined) return String.fromCharCode(Number.parseInt(long ?? short, 16));
      return /^[\r\n\u2028\u2029]/.test(mark) ? "" : (controls[mark] ?? mark);
    });
}
