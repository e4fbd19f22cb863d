/** One element of XMPP's XML: stanzas and what is in them. */
export class Xml {
  readonly name: string;
  readonly ns: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: (Xml | string)[];

  constructor(name: string, ns: string, attributes: ReadonlyMap<string, string>, children: (Xml | string)[] = []) {
    this.name = name;
    this.ns = ns;
    this.attributes = attributes;
    this.children = children;
  }

  attribute(name: string): string | undefined {
    return this.attributes.get(name);
  }

  is(name: string, ns: string): boolean {
    return this.name === name && this.ns === ns;
  }

  child(name: string, ns: string): Xml | undefined {
    return this.all(name, ns)[0];
  }

  all(name: string, ns: string): readonly Xml[] {
    return this.elements().filter((child) => child.is(name, ns));
  }

  elements(): readonly Xml[] {
    return this.children.filter((child) => child instanceof Xml);
  }

  /** The text right inside it. */
  get text(): string {
    return this.children.filter((child) => typeof child === "string").join("");
  }

  /** The text of a child; undefined: there is no such child. */
  textOf(name: string, ns: string): string | undefined {
    return this.child(name, ns)?.text;
  }
}

type Attributes = Readonly<Record<string, string | undefined>>;

export function xml(name: string, ns: string, attributes: Attributes = {}, ...children: (Xml | string)[]): Xml {
  const kept = Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value] as const],
  );
  return new Xml(name, ns, new Map(kept), children);
}

/** As it goes over the wire. `outer`: the namespace that is meant where none is named. */
export function write({ name, ns, attributes, children }: Xml, outer = ""): string {
  const named = [...(ns === outer ? [] : [["xmlns", ns] as const]), ...attributes];
  const head = named.map(([key, value]) => ` ${key}="${escapeXml(value)}"`).join("");
  const inner = children.map((child) => (typeof child === "string" ? escapeXml(child) : write(child, ns))).join("");
  return inner === "" ? `<${name}${head}/>` : `<${name}${head}>${inner}</${name}>`;
}

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
  "\r": "&#13;",
};

/** XML has no other control characters and no halves of characters: a server ends the stream that brings one. */
export function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\ufffd\u{10000}-\u{10ffff}]/gu, "")
    .replace(/[&<>"'\r]/g, (character) => escapes[character] ?? character);
}
