/** What Telegram shows of an HTML text, or why it refuses to parse it. */
export type ParsedHtml = { readonly text: string } | { readonly error: string };

const tags = new Set([
  "b",
  "strong",
  "i",
  "em",
  "u",
  "ins",
  "s",
  "strike",
  "del",
  "span",
  "tg-spoiler",
  "a",
  "tg-emoji",
  "code",
  "pre",
  "blockquote",
]);

const named: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"' };

const tagPattern = /^<(\/?)([a-z][a-z0-9-]*)((?:\s+[a-z-]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[a-z0-9.-]+))?)*)\s*>/i;
const entityPattern = /&(?:#(\d+)|#x([0-9a-f]+)|([a-z]+));/gi;

/** Strict as the Bot API is: only its own tags, all closed in order, and every `<` escaped. */
export function parseTelegramHtml(html: string): ParsedHtml {
  const open: string[] = [];
  let text = "";
  let at = 0;
  while (at < html.length) {
    const next = html.indexOf("<", at);
    if (next === -1) {
      text += decode(html.slice(at));
      break;
    }
    text += decode(html.slice(at, next));
    const match = tagPattern.exec(html.slice(next));
    const name = match?.[2]?.toLowerCase() ?? "";
    if (match === null || !tags.has(name)) return refuse(`Unsupported start tag "${name}" at byte offset ${next}`);
    if (match[1] === "/") {
      const expected = open.pop();
      if (expected === undefined) return refuse(`Unexpected end tag at byte offset ${next}`);
      if (expected !== name) {
        return refuse(`Unmatched end tag at byte offset ${next}, expected "</${expected}>", found "</${name}>"`);
      }
    } else {
      open.push(name);
    }
    at = next + match[0].length;
  }
  const unclosed = open.pop();
  if (unclosed !== undefined) return refuse(`Can't find end tag corresponding to start tag "${unclosed}"`);
  return { text };
}

function refuse(why: string): ParsedHtml {
  return { error: `Bad Request: can't parse entities: ${why}` };
}

function decode(text: string): string {
  return text.replace(entityPattern, (whole, decimal?: string, hex?: string, name?: string) => {
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    return named[(name ?? "").toLowerCase()] ?? whole;
  });
}
