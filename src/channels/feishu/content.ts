import { z } from "zod";
import { mimeTypeOf } from "../../util/files/content-types.js";
import type { FeishuMessage, Mention } from "./message.js";

/** What is to be fetched for a message. */
export interface FeishuFile {
  readonly key: string;
  readonly kind: "image" | "file";
  readonly filename: string;
  readonly mimeType: string;
  readonly isVoice?: boolean;
}

export interface ReadContent {
  readonly text: string;
  readonly files: readonly FeishuFile[];
  readonly unreadable?: string;
  readonly outside?: string;
}

const text = z.looseObject({ text: z.string() });
const image = z.looseObject({ image_key: z.string().min(1) });
const file = z.looseObject({ file_key: z.string().min(1), file_name: z.string().optional().catch(undefined) });
const location = z.looseObject({
  name: z.string().catch(""),
  latitude: z.coerce.string(),
  longitude: z.coerce.string(),
});
const post = z.looseObject({
  title: z.string().catch(""),
  content: z.array(z.array(z.looseObject({ tag: z.string() })).catch([])),
});

/** Kinds that people can send and the model cannot read. */
const unreadable: Readonly<Record<string, string>> = {
  sticker: "stickers",
  merge_forward: "forwarded conversations",
  share_chat: "shared groups",
  share_user: "shared contacts",
};
const mostPostLines = 2000;

/** What a message says, by its type. https://open.feishu.cn/document/server-docs/im-v1/message-content-description/message_content */
export function readContent(message: Pick<FeishuMessage, "type" | "content" | "mentions">, botId: string): ReadContent {
  const { type, mentions } = message;
  const content = jsonIn(message.content);
  const names: Names = { mentions, botId };
  switch (type) {
    case "text":
      return onlyText(withNames(text.safeParse(content).data?.text ?? "", names));
    case "post":
      return readPost(content, names);
    case "image": {
      const { data } = image.safeParse(content);
      return data === undefined ? unknown() : { text: "", files: [picture(data.image_key)] };
    }
    case "file":
    case "audio":
    case "media":
    case "folder":
      return readFile(type, content);
    case "location": {
      const { data } = location.safeParse(content);
      return data === undefined ? unknown() : onlyText(`[${data.name}: ${data.latitude}, ${data.longitude}]`);
    }
    case "interactive": {
      const said = textsIn(content).join("\n").trim();
      return said === "" ? unknown() : { ...onlyText(said), outside: "a card" };
    }
    default:
      return { text: "", files: [], unreadable: unreadable[type] ?? "this kind of message" };
  }
}

function unknown(): ReadContent {
  return { text: "", files: [], unreadable: "this kind of message" };
}

function onlyText(said: string): ReadContent {
  return { text: said, files: [] };
}

function picture(key: string): FeishuFile {
  // Feishu says nothing about a picture; how it begins tells what it is.
  return { key, kind: "image", filename: "picture.png", mimeType: "image/png" };
}

function readFile(type: "file" | "audio" | "media" | "folder", content: unknown): ReadContent {
  const { data } = file.safeParse(content);
  if (data === undefined || type === "folder") return { text: "", files: [], unreadable: "folders" };
  const { file_key: key, file_name: name } = data;
  const filename = name || (type === "audio" ? "voice.ogg" : type === "media" ? "video.mp4" : "file");
  const mimeType = type === "audio" ? "audio/ogg" : type === "media" ? "video/mp4" : mimeTypeOf(filename);
  const one = { key, kind: "file", filename, mimeType } as const;
  return { text: "", files: [type === "audio" ? { ...one, isVoice: true } : one] };
}

interface Names {
  readonly mentions: readonly Mention[];
  readonly botId: string;
}

/**
 * `@_user_1` as people read it: without the bot's name, unless that is all there is, and with other people's names.
 */
function withNames(said: string, names: Names): string {
  const stripped = replaceNames(said, names, "")
    .replace(/^[\s,:，：]+/, "")
    .trim();
  return stripped === "" ? replaceNames(said, names, "@you").trim() : stripped;
}

function replaceNames(said: string, { mentions, botId }: Names, own: string): string {
  return said.replace(/@_(?:user_\d+|all)/g, (key) => {
    if (key === "@_all") return "@all";
    const one = mentions.find((mention) => mention.key === key);
    if (one === undefined) return key;
    return one.id === botId ? own : `@${one.name || one.id || "somebody"}`;
  });
}

function readPost(content: unknown, names: Names): ReadContent {
  const { data } = post.safeParse(localised(content));
  if (data === undefined) return unknown();
  const files: FeishuFile[] = [];
  const lines = data.content.slice(0, mostPostLines).map((line) => line.map((part) => readPart(part, files)).join(""));
  const said = withNames([data.title, ...lines].join("\n").trim(), names);
  return said === "" && files.length === 0 ? unknown() : { text: said, files };
}

const languages = ["zh_cn", "en_us", "ja_jp"];

/** What people write comes without a language, what programs send with one. */
function localised(content: unknown): unknown {
  if (typeof content !== "object" || content === null || "content" in content) return content;
  const found = languages.find((language) => Object.hasOwn(content, language));
  return found === undefined ? content : Reflect.get(content, found);
}

const partText = z.looseObject({
  text: z.string().catch(""),
  href: z.string().catch(""),
  user_id: z.string().catch(""),
  image_key: z.string().catch(""),
  file_key: z.string().catch(""),
  emoji_type: z.string().catch(""),
  language: z.string().catch(""),
});

/** One piece of a line; what is to be fetched is added to `files`. */
function readPart(part: { readonly tag: string }, files: FeishuFile[]): string {
  const { data } = partText.safeParse(part);
  if (data === undefined) return "";
  switch (part.tag) {
    case "a":
      return data.text === data.href || data.href === "" ? data.text : `${data.text} (${data.href})`;
    case "at":
      return data.user_id;
    case "emotion":
      return `[${data.emoji_type}]`;
    case "code_block":
      return `\n\`\`\`${data.language.toLowerCase()}\n${data.text.replace(/\n$/, "")}\n\`\`\`\n`;
    case "hr":
      return "———";
    case "img":
      if (data.image_key !== "") files.push(picture(data.image_key));
      return "";
    case "media":
      if (data.file_key !== "")
        files.push({ key: data.file_key, kind: "file", filename: "video.mp4", mimeType: "video/mp4" });
      return "";
    default:
      return data.text;
  }
}

const mostTexts = 500;
const deepest = 30;

/** What can be read in a card, in its order. */
function textsIn(content: unknown): readonly string[] {
  const found: string[] = [];
  const walk = (value: unknown, depth: number): void => {
    if (typeof value !== "object" || value === null || depth > deepest || found.length >= mostTexts) return;
    for (const [key, inner] of Object.entries(value)) {
      if (typeof inner !== "string") walk(inner, depth + 1);
      else if (key === "text" || key === "content" || key === "title") found.push(inner);
    }
  };
  walk(content, 0);
  return found;
}

function jsonIn(written: string): unknown {
  try {
    return JSON.parse(written);
  } catch {
    // Feishu writes a plain sentence for a forwarded conversation.
    return undefined;
  }
}
