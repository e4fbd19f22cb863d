import { z } from "zod";

type Json = Readonly<Record<string, unknown>>;

/** Telegram nests 16 deep and takes 500 blocks; what is beyond is not a message of its clients. */
const deepest = 40;
const mostPieces = 20_000;

/** What a rich message says, as Markdown, and its parts with files, each as a message of its kind would have it. */
export interface RichContent {
  readonly text: string;
  readonly media: readonly Json[];
}

const richMessage = z.looseObject({ blocks: z.array(z.unknown()) });
const media: ReadonlySet<string> = new Set(["animation", "audio", "document", "photo", "video", "voice_note"]);

/**
 * Reads a `rich_message`. Blocks of kinds that came later are read as far as they hold texts and blocks, else named.
 * https://core.telegram.org/bots/api#richmessage
 */
export function readRich(value: unknown): RichContent | undefined {
  const { success, data } = richMessage.safeParse(value);
  if (!success) return undefined;
  const reader = new RichReader();
  return { text: reader.blocks(data.blocks, 0), media: reader.media };
}

class RichReader {
  readonly media: Json[] = [];
  #pieces = 0;

  blocks(value: unknown, depth: number): string {
    if (!Array.isArray(value) || depth > deepest) return "";
    return joined(
      value.map((block) => this.#block(block, depth)),
      "\n\n",
    );
  }

  #block(value: unknown, depth: number): string {
    this.#pieces += 1;
    if (!isObject(value) || this.#pieces > mostPieces) return "";
    const type = typeof value.type === "string" ? value.type : "";
    if (media.has(type)) this.media.push(value);
    const body = this.#body(type, value, depth);
    const caption = isObject(value.caption) ? this.#captionOf(value.caption, depth) : this.text(value.caption, depth);
    const credit = this.text(value.credit, depth);
    return joined([body, caption, credit === "" ? "" : `— ${credit}`], "\n");
  }

  #body(type: string, value: Json, depth: number): string {
    const text = this.text(value.text, depth);
    switch (type) {
      case "heading":
        return `${"#".repeat(Math.min(Math.max(Number(value.size) || 1, 1), 6))} ${text}`;
      case "pre":
        return `\`\`\`${typeof value.language === "string" ? value.language : ""}\n${text}\n\`\`\``;
      case "divider":
        return "---";
      case "anchor":
        return "";
      case "mathematical_expression":
        return `$$${String(value.expression)}$$`;
      case "list":
        return this.#list(value.items, depth);
      case "blockquote":
        return this.blocks(value.blocks, depth + 1).replace(/^/gm, "> ");
      case "expandable_blockquote":
      case "pullquote":
        return text.replace(/^/gm, "> ");
      case "table":
        return this.#table(value.cells, depth);
      case "details":
        return joined([this.text(value.summary, depth), this.blocks(value.blocks, depth + 1)], "\n");
      case "map":
        return locationOf(value.location);
      case "buttons":
        return arrayOf(value.buttons)
          .map((button) => this.#button(button, depth))
          .join(" ");
      default:
        return this.#other(type, value, text, depth);
    }
  }

  /** A kind that is a text, or holds blocks, or is a file; else one that is not known. */
  #other(type: string, value: Json, text: string, depth: number): string {
    const inner = joined([text, this.blocks(value.blocks, depth + 1)], "\n\n");
    return inner !== "" || media.has(type) || "text" in value || "blocks" in value ? inner : unreadable(type);
  }

  #list(items: unknown, depth: number): string {
    return joined(
      arrayOf(items).map((item) => {
        if (!isObject(item)) return "";
        const box = item.has_checkbox === true ? (item.is_checked === true ? "[x] " : "[ ] ") : "";
        const label = typeof item.label === "string" && /^[\w]+[.)]?$/.test(item.label) ? item.label : "-";
        const content = this.blocks(item.blocks, depth + 1).replace(/\n+/g, "\n  ");
        return `${label} ${box}${content}`;
      }),
      "\n",
    );
  }

  #table(cells: unknown, depth: number): string {
    const rows = arrayOf(cells).map(
      (row) =>
        `| ${arrayOf(row)
          .map((cell) => (isObject(cell) ? this.text(cell.text, depth).replace(/\n/g, " ") : ""))
          .join(" | ")} |`,
    );
    const [header = "", ...others] = rows;
    const columns = arrayOf(arrayOf(cells)[0]).length;
    return [header, `|${" --- |".repeat(columns)}`, ...others].join("\n");
  }

  #captionOf(caption: Json, depth: number): string {
    const credit = this.text(caption.credit, depth);
    return joined([this.text(caption.text, depth), credit === "" ? "" : `— ${credit}`], " ");
  }

  #button(value: unknown, depth: number): string {
    if (!isObject(value)) return "";
    const label = this.text(value.text, depth);
    return typeof value.url === "string" ? withAddress(label, value.url) : `[${label}]`;
  }

  /** A RichText: a string, a list of them, or one with a mark. */
  text(value: unknown, depth: number): string {
    this.#pieces += 1;
    if (typeof value === "string") return value;
    if (depth > deepest || this.#pieces > mostPieces) return "";
    if (Array.isArray(value)) return value.map((one) => this.text(one, depth + 1)).join("");
    if (!isObject(value)) return "";
    const inner = this.text(value.text, depth + 1);
    switch (value.type) {
      case "bold":
        return marked("**", inner);
      case "italic":
        return marked("*", inner);
      case "strikethrough":
        return marked("~~", inner);
      case "code":
        return marked("`", inner);
      case "url":
        return typeof value.url === "string" ? withAddress(inner, value.url) : inner;
      case "email_address":
        return typeof value.email_address === "string" ? withAddress(inner, value.email_address) : inner;
      case "custom_emoji":
        return typeof value.alternative_text === "string" ? value.alternative_text : "";
      case "mathematical_expression":
        return typeof value.expression === "string" ? `$${value.expression}$` : "";
      case "button":
        return this.#button(value.button, depth + 1);
      default:
        return inner;
    }
  }
}

/** A text that leads to an address which it does not show. */
export function withAddress(text: string, address: string): string {
  const label = text.trim();
  const same = (one: string): string =>
    one
      .replace(/^[a-z]+:(\/\/)?/i, "")
      .replace(/\/$/, "")
      .toLowerCase();
  if (label === "") return address;
  return same(label) === same(address) ? text : `${text} (${address})`;
}

export function unreadable(kind: string): string {
  return `[${kind.replaceAll("_", " ") || "a part"}, which cannot be read here]`;
}

function locationOf(value: unknown): string {
  return isObject(value) ? `[location: ${String(value.latitude)}, ${String(value.longitude)}]` : "";
}

function marked(mark: string, inner: string): string {
  return inner.trim() === "" ? inner : `${mark}${inner}${mark}`;
}

function joined(parts: readonly string[], by: string): string {
  return parts.filter((part) => part.trim() !== "").join(by);
}

function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
