import { trimEndWhere } from "../../util/text/trim-where.js";
/** What the offline stand-in takes a message for. */
export type Wish =
  | { readonly kind: "help" }
  | { readonly kind: "greeting" }
  | { readonly kind: "time" }
  | { readonly kind: "list"; readonly path: string | undefined }
  | { readonly kind: "read"; readonly path: string }
  | { readonly kind: "summarise"; readonly path: string }
  | { readonly kind: "write"; readonly path: string; readonly content: string }
  | { readonly kind: "unknown" };

/** A message as the agent sends it: what is around the person's words, and the words. */
export interface Heard {
  readonly words: string;
  /** The clock of the message, where it has one. */
  readonly clock: string | undefined;
}

const envelope = /^\s*(?:<(now|skill|missing_skills|sender)\b[^>]*>[\s\S]*?<\/\1>|<file\b[^>]*\/>)/;

export function hear(text: string): Heard {
  const clock = /<now>([^<]+)<\/now>/.exec(text)?.[1];
  let words = text;
  while (envelope.test(words)) words = words.replace(envelope, "");
  return { words: words.trim(), clock };
}

export function isChinese(words: string): boolean {
  return /\p{Script=Han}/u.test(words);
}

const quoted = `["'“”‘’「『\`]`;
const endQuoted = `["'“”‘’」』\`]`;
/** A file's name, in quotes or without spaces. */
const name = `${quoted}?(?<path>[^\\s"'“”‘’「」『』\`，。？！]+)${endQuoted}?`;
const quotedName = `${quoted}(?<path>[^"“”]+)${endQuoted}`;
const content = `${quoted}(?<content>[\\s\\S]*?)${endQuoted}`;

const writing = [
  `^(?:write|save|put) ${content} (?:to|into|in|as) (?:the )?(?:file )?${name}$`,
  `^(?:write|save) (?:to|into) (?:the )?(?:file )?${name}:? ${content}$`,
  `^(?:把|将)\\s*${content}\\s*(?:写入|写到|写进|保存到|保存为|存到|存入)\\s*(?:文件)?\\s*${name}(?:\\s*(?:里|中|文件))?$`,
  `^(?:在|往|向)\\s*(?:文件)?\\s*${name}\\s*(?:文件)?\\s*(?:里|中)?\\s*(?:写入|写上|写)\\s*${content}$`,
  `^(?:写入|写|保存)\\s*${content}\\s*(?:到|进|至)\\s*(?:文件)?\\s*${name}$`,
];

const summarising = [
  `^(?:summari[sz]e|sum up|remember) (?:the )?(?:file )(?:${quotedName})$`,
  `^(?:summari[sz]e|sum up|remember) (?:the )?(?<isFile>file )?${name}$`,
  `^(?<isFile>总结|概括|摘要|记住)(?:一下)?\\s*(?:文件)?\\s*${name}(?:\\s*文件)?$`,
];

const reading = [
  `^(?:read|show|open|print|display|cat) (?:me )?(?:the )?(?:file )(?:${quotedName})$`,
  `^(?:read|show|open|print|display|cat) (?:me )?(?:the )?(?:contents? of )?(?:the )?(?<isFile>file )?${name}$`,
  `^(?:读取|读一下|读|打开|查看|显示|看看|看一下)(?:一下)?\\s*(?<isFile>文件)?\\s*${name}?(?:\\s*(?:文件|的内容|这个文件))*$`,
];

const listing = [
  `^(?:list|show)(?: me)?(?: all)?(?: the| my| your)? (?:files|folder|directory)(?: (?:in|of|under) (?:the )?(?:folder |directory )?${name})?$`,
  `^(?:what|which) files (?:are there|are here|do (?:you|i|we) have|exist|are)(?: (?:in|under) (?:the )?(?:folder |directory )?${name})?$`,
  `^(?:ls|dir|list)(?: ${name})?$`,
  `^(?:列出|列一下|显示|看看|查看)\\s*(?:(?:当前)?(?:目录|文件夹)\\s*)?(?:${name}?\\s*(?:目录下|目录里|文件夹里|里|下|中|目录)[面边]?(?:的|有哪些)?)?\\s*(?:所有|全部)?的?(?:文件|目录)(?:列表)?$`,
  `^(?:${name}\\s*(?:目录下|目录里|文件夹里|里|下|中)[面边]?)?(?:这里|现在|当前目录)?(?:有哪些|有什么|有啥)文件$`,
];

const askingTime =
  /^(?:what(?:'s| is)? the (?:time|date)|what time is it(?: now)?|what day is (?:it|today)|time|date)$|几点|什么时间|现在时间|今天.*(?:几号|星期几|周几|日期)/i;
const helping =
  /^(?:help|\?|what can you do(?: for me)?|what do you (?:do|understand)|who are you|what are you)$|^(?:帮助|使用说明)$|你?(?:能|会|可以)(?:做|干)(?:什么|啥|些什么)|你是谁|你会什么/i;
const greeting =
  /^(?:hi|hello|hey|hallo|good (?:morning|afternoon|evening)|你好|您好|嗨|哈喽|早上好|晚上好)(?: there| maxclaw|啊|呀)?$/i;

/** The plain requests that need no model; everything else is `unknown`. */
export function understand(words: string): Wish {
  const text = plain(words);
  if (greeting.test(text)) return { kind: "greeting" };
  if (helping.test(text)) return { kind: "help" };
  const write = firstMatch(writing, text);
  if (write?.path !== undefined) return { kind: "write", path: write.path, content: write.content ?? "" };
  const list = firstMatch(listing, text);
  if (list !== undefined) return { kind: "list", path: list.path };
  const summarise = firstMatch(summarising, text);
  if (summarise?.path !== undefined && isFile(summarise)) return { kind: "summarise", path: summarise.path };
  const read = firstMatch(reading, text);
  if (read?.path !== undefined && isFile(read)) return { kind: "read", path: read.path };
  if (askingTime.test(text)) return { kind: "time" };
  return { kind: "unknown" };
}

/** It understands short sentences only. */
const longestAsked = 2000;

function plain(words: string): string {
  const asked = words
    .trim()
    .replace(/^(?:hi|hello|hey|你好|您好)(?: there| maxclaw)?\s*[,.!，。！]\s*(?=\S)/i, "")
    .replace(/^(?:please|can you|could you|would you|请你?|帮我|麻烦你?|给我)[\s,，]*/i, "")
    .replace(/^(?:please|请|帮我)[\s,，]*/i, "")
    .slice(0, longestAsked);
  const bare = trimEndWhere(asked, (unit) => /[\s.!?。！？]/.test(unit));
  return trimEndWhere(bare.replace(/(?:please|吧|吗|呢)$/i, ""), (unit) => /[\s,，]/.test(unit));
}

type Groups = Readonly<Record<string, string | undefined>>;

function firstMatch(patterns: readonly string[], text: string): Groups | undefined {
  for (const pattern of patterns) {
    const match = new RegExp(pattern, "iu").exec(text);
    if (match !== null) return match.groups ?? {};
  }
  return undefined;
}

/** "show progress" is not a file; "show notes.txt" and "show the file progress" are. */
function isFile({ path = "", isFile: said }: Groups): boolean {
  return said !== undefined || /[./]/.test(path);
}
