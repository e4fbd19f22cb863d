/** Tags that the specification names. https://spec.matrix.org/latest/client-server-api/#mroommessage-msgtypes */
const tags: ReadonlySet<string> = new Set([
  ...["del", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "p", "a", "ul", "ol", "sup", "sub", "li", "b", "i", "u"],
  ...["strong", "em", "s", "code", "hr", "br", "div", "table", "thead", "tbody", "tr", "th", "td", "caption", "pre"],
  ...["span", "img", "details", "summary"],
]);
const empty: ReadonlySet<string> = new Set(["br", "hr", "img"]);
const attributes: Readonly<Record<string, RegExp>> = {
  a: /^ href="(?:https?|ftp|mailto|magnet):[^"<>\s]*"$/i,
  code: /^ class="language-[^"<>\s]*"$/,
};

/** The largest event, with what servers add to it: hashes, signatures, and the events before it. */
const largestEvent = 65_536;
const addedBytes = 4096;

/** Why a homeserver or a client would not take this content of a message; undefined: it is fine. */
export function whyRefused(content: Readonly<Record<string, unknown>>): string | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(content)) + addedBytes;
  if (bytes > largestEvent) return `it has ${bytes} bytes`;
  if (typeof content.body !== "string" || content.body.trim() === "") return "it has no body";
  const html = content.formatted_body;
  if (html === undefined) return isWhole(content.body) ? undefined : "half of a character";
  if (content.format !== "org.matrix.custom.html" || typeof html !== "string") return "its format is not known";
  if (!isWhole(content.body) || !isWhole(html)) return "half of a character";
  return whyBadHtml(html);
}

function isWhole(text: string): boolean {
  return !/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text);
}

/** Nothing but known tags with known attributes, closed in order, and escaped text. */
export function whyBadHtml(html: string): string | undefined {
  const open: string[] = [];
  for (const piece of html.split(/(<[^<>]*>)/)) {
    if (!piece.startsWith("<")) {
      if (/[<>]/.test(piece)) return `a bare bracket in ${piece}`;
      if (/&(?!(?:amp|lt|gt|quot|nbsp);)/.test(piece)) return `a bare & in ${piece}`;
      continue;
    }
    const [, slash = "", name = "", rest = ""] = /^<(\/?)([a-z][a-z0-9]*)(.*)>$/.exec(piece) ?? [];
    if (!tags.has(name)) return `the tag ${piece}`;
    if (slash === "/") {
      if (open.pop() !== name || rest !== "") return `${piece} closes nothing`;
    } else {
      if (rest !== "" && attributes[name]?.test(rest) !== true) return `the attribute in ${piece}`;
      if (!empty.has(name)) open.push(name);
    }
  }
  return open.length === 0 ? undefined : `${open.join()} is not closed`;
}

/**
 * The addresses of which a client would have its homeserver fetch what is behind them: links and bare addresses, except in
 * code and quotes, as Element does it; and all where the sender does not say that there are to be none.
 */
export function previewsIn(content: Readonly<Record<string, unknown>>): readonly string[] {
  const html = String(content.formatted_body ?? content.body ?? "");
  const isOff = Array.isArray(content["com.beeper.linkpreviews"]) && content["com.beeper.linkpreviews"].length === 0;
  const shown = isOff ? html.replace(/<(pre|code|blockquote)\b[\s\S]*?<\/\1>/g, "") : html;
  return shown.match(/https?:\/\/[^\s"<>]+/g) ?? [];
}

const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: " " };

/** What people read of it. */
export function asRead(html: string): string {
  return html
    .replace(/<br>/g, "\n")
    .replace(/<[^<>]*>/g, "")
    .replace(/&(amp|lt|gt|quot|nbsp);/g, (_whole, name: string) => named[name] ?? "");
}
