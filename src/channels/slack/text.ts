/** What Slack's marks of control stand for. */
export interface Names {
  readonly botId: string;
  /** Undefined: not known. */
  readonly nameOf: (userId: string) => string | undefined;
}

/** Ids of people that a text mentions. */
export function mentionedIn(text: string): readonly string[] {
  return [...text.matchAll(/<@([UW][A-Z0-9]+)(?:\|[^<>]*)?>/g)].map(([, id = ""]) => id);
}

export function mentions(text: string, userId: string): boolean {
  return mentionedIn(text).includes(userId);
}

/**
 * Slack's text as people read it: without the bot's name, unless that is all there is, with other people's names instead of
 * their ids, and addresses without their brackets. https://docs.slack.dev/messaging/formatting-message-text
 */
export function toReadable(text: string, names: Names): string {
  const own = new RegExp(`<@${names.botId}(?:\\|[^<>]*)?>`, "g");
  const stripped = text
    .replace(new RegExp(`^\\s*${own.source}[\\s,:]*`), "")
    .replace(own, "")
    .trim();
  const shown = stripped === "" ? text.replace(own, "@you").trim() : stripped;
  return shown
    .replace(/<([^<>]*)>/g, (_whole, inner: string) => toWords(inner, names))
    .replace(/&(amp|lt|gt);/g, unescaped);
}

const characters: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">" };

function unescaped(_whole: string, name: string): string {
  return characters[name] ?? "";
}

/** What is between `<` and `>`: a person, a channel, a group, everybody, a date, or an address. */
function toWords(inner: string, { nameOf }: Names): string {
  const at = inner.indexOf("|");
  const target = at === -1 ? inner : inner.slice(0, at);
  const label = at === -1 ? "" : inner.slice(at + 1);
  if (target.startsWith("@")) return `@${nameOf(target.slice(1)) ?? (label || target.slice(1))}`;
  if (target.startsWith("#")) return `#${label || target.slice(1)}`;
  if (target.startsWith("!subteam^")) return label || "@group";
  if (target.startsWith("!date^")) return label;
  if (target.startsWith("!")) return `@${target.slice(1)}`;
  const address = target.replace(/^mailto:/, "");
  if (label === "" || label === address || address.endsWith(`//${label}`)) return address;
  return `${label} (${address})`;
}
