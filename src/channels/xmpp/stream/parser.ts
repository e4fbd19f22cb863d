import { Xml } from "./xml.js";

/** What a server sends is not XML, or more than is taken. The stream cannot go on. */
export class XmlError extends Error {
  override readonly name = "XmlError";
}

export interface ParserEvents {
  /** The element that stays open for as long as the stream. */
  readonly onOpen: (root: Xml) => void;
  /** A whole element right below it. */
  readonly onElement: (element: Xml) => void;
  readonly onEnd: () => void;
}

export interface ParserLimits {
  /** Of one stanza, in characters. */
  readonly maxLength: number;
  readonly maxDepth: number;
  readonly maxAttributes: number;
  /** Elements in one stanza. */
  readonly maxElements: number;
}

const defaults: ParserLimits = { maxLength: 2 * 1024 * 1024, maxDepth: 64, maxAttributes: 64, maxElements: 20_000 };

interface OpenElement {
  readonly element: Xml;
  readonly tag: string;
  /** Namespaces that it names itself, by their prefixes. */
  readonly names: ReadonlyMap<string, string>;
}

const xmlNamespace = "http://www.w3.org/XML/1998/namespace";
const name = "[\\p{L}_][\\p{L}\\p{N}_.:\\u00b7-]*";
const tagPattern = new RegExp(`^(${name})((?:\\s+${name}\\s*=\\s*(?:"[^"<]*"|'[^'<]*'))*)\\s*(/?)$`, "u");
const attributePattern = new RegExp(`\\s+(${name})\\s*=\\s*(?:"([^"]*)"|'([^']*)')`, "gu");

/**
 * The XML of XMPP as it arrives: elements, attributes, texts and the five names of characters. Comments, processing
 * instructions and document types are not allowed there (RFC 6120, 11.1), so that nothing can be defined to grow. Looks at
 * each character once, however small the pieces are.
 */
export class XmlParser {
  readonly #events: ParserEvents;
  readonly #limits: ParserLimits;
  readonly #open: OpenElement[] = [];
  /** A tag or a text whose end has not come. It is not looked into before: that would join it again with each piece. */
  #rest = "";
  #isTag = false;
  #quote = "";
  #length = 0;
  #elements = 0;
  #isBegun = false;

  constructor(events: ParserEvents, limits: Partial<ParserLimits> = {}) {
    this.#events = events;
    this.#limits = { ...defaults, ...limits };
  }

  /** @throws {XmlError} */
  write(text: string): void {
    for (let at = 0; at < text.length; ) {
      if (this.#rest === "") this.#isTag = text[at] === "<";
      const end = this.#isTag ? this.#endOfTag(text, at) : text.indexOf("<", at);
      const piece = end === -1 ? text.slice(at) : text.slice(at, end);
      this.#count(piece.length);
      this.#rest += piece;
      if (end === -1) return;
      const whole = this.#rest;
      this.#rest = "";
      if (this.#isTag) this.#takeTag(whole.slice(1, -1));
      else this.#takeText(whole);
      at = end;
    }
  }

  /** Behind the `>` that ends the tag; a `>` in quotes is a part of it. */
  #endOfTag(text: string, at: number): number {
    for (let index = at; index < text.length; index += 1) {
      const character = text[index];
      if (this.#quote !== "") {
        if (character === this.#quote) this.#quote = "";
      } else if (character === '"' || character === "'") this.#quote = character;
      else if (character === ">") return index + 1;
    }
    return -1;
  }

  #count(length: number): void {
    this.#length += length;
    if (this.#length > this.#limits.maxLength) throw new XmlError("a stanza is too large");
  }

  #takeTag(tag: string): void {
    if (tag.startsWith("/")) {
      this.#close(tag.slice(1).trimEnd());
      return;
    }
    if (tag.startsWith("?xml ") && !this.#isBegun) return;
    if (/^[!?]/.test(tag)) throw new XmlError("comments, instructions and document types are not allowed");
    const [, tagName = "", attributes = "", slash] = tagPattern.exec(tag) ?? [];
    if (tagName === "") throw new XmlError("a tag cannot be read");
    this.#begin(tagName, attributes);
    if (slash === "/") this.#close(tagName);
  }

  #begin(tag: string, written: string): void {
    this.#isBegun = true;
    const { maxDepth, maxElements, maxAttributes } = this.#limits;
    this.#elements += 1;
    if (this.#open.length >= maxDepth || this.#elements > maxElements) throw new XmlError("a stanza is too deep");
    const attributes = new Map<string, string>();
    const names = new Map<string, string>();
    for (const [, key = "", double, single] of written.matchAll(attributePattern)) {
      const value = unescaped(double ?? single ?? "");
      if (attributes.has(key) || attributes.size >= maxAttributes) throw new XmlError("a tag has too many attributes");
      const prefix = key === "xmlns" ? "" : key.startsWith("xmlns:") ? key.slice(6) : undefined;
      attributes.set(key, value);
      if (prefix !== undefined) names.set(prefix, value);
    }
    for (const key of attributes.keys()) if (/^xmlns(:|$)/.test(key)) attributes.delete(key);
    const [local = "", prefix = ""] = tag.split(":").toReversed();
    const ns = names.get(prefix) ?? this.#namespaceOf(prefix);
    if (prefix !== "" && ns === undefined) throw new XmlError("a prefix has no namespace");
    const element = new Xml(local, ns ?? "", attributes);
    this.#open.push({ element, tag, names });
    if (this.#open.length === 1) {
      this.#reset();
      this.#events.onOpen(element);
    }
  }

  /** As what is around names it. */
  #namespaceOf(prefix: string): string | undefined {
    const by = this.#open.findLast(({ names }) => names.has(prefix));
    return by?.names.get(prefix) ?? (prefix === "xml" ? xmlNamespace : undefined);
  }

  #close(tag: string): void {
    const closed = this.#open.pop();
    if (closed === undefined || closed.tag !== tag) throw new XmlError("a tag is closed that is not open");
    const parent = this.#open.at(-1);
    if (parent === undefined) this.#events.onEnd();
    else if (this.#open.length > 1) parent.element.children.push(closed.element);
    else {
      this.#reset();
      this.#events.onElement(closed.element);
    }
  }

  #takeText(text: string): void {
    const inside = this.#open.at(-1);
    if (this.#open.length > 1 && inside !== undefined) inside.element.children.push(unescaped(text));
    else if (text.trim() !== "") throw new XmlError("there is text between stanzas");
    else this.#reset();
  }

  #reset(): void {
    this.#length = 0;
    this.#elements = 0;
  }
}

const characters: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescaped(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&([^;&]{0,12})(;?)/g, (_, said: string, end: string) => {
    const [, hex, decimal] = /^#(?:x([\da-f]{1,6})|(\d{1,7}))$/i.exec(said) ?? [];
    const code = hex === undefined ? (decimal === undefined ? Number.NaN : Number(decimal)) : Number.parseInt(hex, 16);
    const known = Object.hasOwn(characters, said) ? characters[said] : undefined;
    const character = known ?? (isCharacter(code) ? String.fromCodePoint(code) : undefined);
    if (end === "" || character === undefined) throw new XmlError("a name of a character is not known");
    return character;
  });
}

/** Of XML: no control characters, and no halves of a character. */
function isCharacter(code: number): boolean {
  if (code < 0x20) return code === 0x9 || code === 0xa || code === 0xd;
  return code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) || (code >= 0x10000 && code <= 0x10ffff);
}
