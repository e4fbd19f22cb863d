/** What Slack refuses of a message, as its word for it; undefined: it takes it. */
export function whyRefused(args: URLSearchParams, longestText: number): string | undefined {
  const text = args.get("text") ?? "";
  const blocks = jsonOf(args.get("blocks")) as readonly Record<string, unknown>[];
  if (text === "" && blocks.length === 0) return "no_text";
  if (text.length > longestText) return "msg_too_long";
  if (blocks.length > 50 || !blocks.every(isBlock)) return "invalid_blocks";
  return [text, ...blocks.map(textOf)].every(isMrkdwn) ? undefined : "invalid_arguments";
}

export function jsonOf(text: string | null): unknown {
  return text === null || text === "" ? [] : JSON.parse(text);
}

interface TextObject {
  readonly type?: string;
  readonly text?: string;
}

function textOf(block: Record<string, unknown>): string {
  const elements = (block.elements ?? []) as readonly TextObject[];
  const own = (block.text as TextObject | undefined)?.text ?? "";
  return [own, ...elements.map(({ text }) => (typeof text === "string" ? text : ""))].join("\n");
}

function isBlock(block: Record<string, unknown>): boolean {
  if (block.type === "section") return isText((block.text as TextObject | undefined)?.text, 3000);
  const elements = (block.elements ?? []) as readonly Record<string, unknown>[];
  if (block.type === "context") return elements.length > 0 && elements.length <= 10;
  if (block.type !== "actions" || elements.length === 0 || elements.length > 25) return false;
  const ids = elements.map((one) => one.action_id);
  return new Set(ids).size === ids.length && elements.every(isButton);
}

function isButton(element: Record<string, unknown>): boolean {
  const { type, text, value } = element;
  const label = text as TextObject | undefined;
  return type === "button" && label?.type === "plain_text" && isText(label.text, 75) && isText(value, 2000);
}

function isText(text: unknown, longest: number): boolean {
  return typeof text === "string" && text !== "" && text.length <= longest;
}

/** No more than Slack says: `<` only begins an address of ours, `&` only one of three names, no half of a character. */
function isMrkdwn(text: string): boolean {
  const rest = text.replace(/<(?:https?:\/\/|mailto:|tg:)[^<>\s|]+(?:\|[^<>\n|]*)?>/g, "");
  const isWhole = !/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text);
  return isWhole && !/<|&(?!amp;|lt;|gt;)/.test(rest) && !rest.replace(/^> ?/gm, "").includes(">");
}

/** What people read of it. */
export function asRead(text: string): string {
  const plain = text.replace(
    /<([^<>|]*)(?:\|([^<>]*))?>/g,
    (_whole, address: string, label?: string) => label ?? address,
  );
  return plain.replaceAll("\u200b", "").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
