import { askingSentences, deedSentences, permissionSentences } from "../../util/words/permission-sentences.js";
import { readerOf, withValues } from "../../util/words/sentences.js";

/** What a permission asks for, for who reads Chinese. What a person or a model has named in it stays as it is. */
export const permissionsInChinese: Readonly<Record<keyof typeof permissionSentences, string>> = {
  may_i: "是否允许{what}？{because}。",
  may_i_for: "是否允许为 {who} {what}？{because}。",
  go_on_anyway: "{name} 用同样的输入被调用了 {n} 次。要继续吗？",

  allow_once: "允许一次",
  allow_always: "始终允许",
  always_this: "{what}；必须完全相同，并在这个对话中",
  deny: "拒绝",
  go_on: "继续",
  stop_that: "停止",
};

export const deedsInChinese: Readonly<Record<keyof typeof deedSentences, string>> = {
  do_read: "读取 {reason}",
  do_write: "写入 {reason}",
  do_send: "发送到 {reason}",
  do_fetch: "获取 {reason}",
  do_message: "发消息到 {reason}",
  do_run: "运行 {reason}",
  do_search_memory: "搜索记忆",
  do_change_memory: "更改记忆",
  do_search_chat_memory: "搜索这个对话的记忆",
  do_change_chat_memory: "更改这个对话的记忆",
  do_job: "{name}定时任务",
  do_use: "使用 {reason}",
};

export const askingInChinese: Readonly<Record<keyof typeof askingSentences, string>> = {
  by_rule: "{rule} 要求询问",
  others_text: "这个对话含有别人写的文字：{reason}；发送 /new 可以离开这些文字",
  others_files:
    "这个对话含有别人写的文字：{reason}；发送 /new 可以离开这些文字，直到再次使用其中的文件（命令会用到这个对话文件夹中的所有文件）",
  others_here: "别人也在这个对话中发言",

  sends_out: "这会向外发送内容",
  other_chat: "那是另一个对话",
  open_network: "它运行时可以使用网络，包括本机的端口",
  no_walls_here: "它不在沙箱中运行",
  unknown_call: "没有人知道它会更改什么",
  may_change: "它可能会更改一些内容",
  steers: "那里的内容会左右助手",
  speaks_later: "那里的内容会影响以后的每个对话",
  outside_workspace: "那在工作区之外",
  outside_folder: "那在这个对话自己的文件夹之外",

  unclear_command: "它不在沙箱中运行，而且从字面上看不出它涉及什么",
  own_code: "它运行写在命令里的代码，而且不在沙箱中",
  reaches_secrets: "它涉及 {reason}，其中可能有机密",
  reaches_hidden: "它涉及 {reason}，而那不供这个对话使用",
  reaches: "它涉及 {reason}",
  leaves_workspace: "它离开工作区，前往 {reason}",
  whole_workspace: "它用 {reason} 涉及整个工作区",

  endless_programs: "它会无止境地启动程序",
  nested: "它嵌套太深，无法看清",
  to_device: "它会写入设备 {reason}",
  stops_machine: "它会停止这台机器",
  erases_disk: "它可能会擦除磁盘",
  ends_programs: "它会结束所有程序",
  destroys: "它可能会毁掉 {reason} 中的全部内容",
};

export interface AskedOption {
  readonly label: string;
  readonly description: string | undefined;
}

/** What of a permission is in words. */
export interface Shown<Option extends AskedOption> {
  readonly question: string;
  readonly options: readonly Option[];
}

export interface Asked<Option extends AskedOption> extends Shown<Option> {
  readonly input: Input;
}

type Input = readonly { readonly value: string }[];

const jobVerbs: Readonly<Record<string, string>> = {
  add: "添加",
  list: "列出",
  remove: "删除",
  enable: "启用",
  disable: "停用",
  run: "运行",
  history: "查看以往的",
};
const { do_job, ...namedDeeds } = deedSentences;
const readDeed = readerOf(namedDeeds);
const readJob = readerOf({ do_job });
const readAsking = readerOf(askingSentences);
const { may_i, may_i_for, always_this, ...whole } = permissionSentences;
const readWhole = readerOf(whole);

/** Says in Chinese what a permission asks; what nobody knows stays English. */
export function sayPermission<Option extends AskedOption>({ question, input, options }: Asked<Option>): Shown<Option> {
  const exact = options.flatMap(({ description }) => deedOfAlways(description) ?? [])[0];
  return {
    question: sayQuestion(question, exact, input) ?? sayWhole(question),
    options: options.map((option) => {
      const deed = deedOfAlways(option.description);
      const always = deed && withValues(permissionsInChinese.always_this, { what: sayDeed(deed) });
      return { ...option, label: sayWhole(option.label), description: always ?? option.description };
    }),
  };
}

function sayWhole(sentence: string): string {
  return sayOne(sentence, readWhole, permissionsInChinese) ?? sentence;
}

function sayOne(
  sentence: string,
  read: ReturnType<typeof readerOf>,
  chinese: Readonly<Record<string, string>>,
): string | undefined {
  const { code = "", values = {} } = read(sentence) ?? {};
  const words = chinese[code];
  // The values are as somebody has named them, also where that is a sentence of ours.
  return words === undefined ? undefined : withValues(words, values);
}

function sayDeed(deed: string): string {
  // A command may end with the same words.
  const verb = jobVerbs[readJob(deed)?.values.name ?? ""];
  if (verb !== undefined) return withValues(deedsInChinese.do_job, { name: verb });
  return sayOne(deed, readDeed, deedsInChinese) ?? deed;
}

function deedOfAlways(description = ""): string | undefined {
  const end = withValues(always_this, { what: "" });
  return description.endsWith(end) ? description.slice(0, -end.length) : undefined;
}

interface Parts {
  readonly deed: string;
  readonly who: string | undefined;
  /** The deed ends where it is known to end. */
  readonly isCertain: boolean;
  readonly because: string;
}

function sayQuestion(question: string, exact: string | undefined, input: Input): string | undefined {
  const all = partsOf(question, exact, input);
  // What a command has in it may look like the end of the question.
  const { deed, who, because } = all.find(({ isCertain }) => isCertain) ?? all[0] ?? {};
  if (deed === undefined || because === undefined) return undefined;
  const values = { what: sayDeed(deed), because };
  return who === undefined
    ? withValues(permissionsInChinese.may_i, values)
    : withValues(permissionsInChinese.may_i_for, { ...values, who });
}

/** All ways to read it, the one with the longest deed first. */
function partsOf(question: string, exact: string | undefined, input: Input): readonly Parts[] {
  const [start = "", between = "", end = ""] = may_i.split(/\{\w+\}/);
  if (!question.startsWith(start) || !question.endsWith(end)) return [];
  const found: Parts[] = [];
  for (let at = question.lastIndexOf(between); at > 0; at = question.lastIndexOf(between, at - 1)) {
    const because = sayBecause(question.slice(at + between.length, -end.length));
    if (because !== undefined) found.push({ ...deedAndWho(question.slice(start.length, at), exact, input), because });
  }
  return found;
}

/** It begins with a capital in the question, unless it begins with what has none. */
function sayBecause(words: string): string | undefined {
  return sayOne(`${words.charAt(0).toLowerCase()}${words.slice(1)}`, readAsking, askingInChinese);
}

const located: ReadonlySet<string> = new Set(["do_read", "do_write"]);
/** What they name has no blanks in it. */
const oneWorded: ReadonlySet<string> = new Set(["do_use", "do_send", "do_fetch", "do_message"]);

/** For whom it is, is told behind what it is, in words that a command can have as well. */
function deedAndWho(text: string, exact: string | undefined, input: Input): Omit<Parts, "because"> {
  const [, between = ""] = may_i_for.split(/\{\w+\}/);
  const named = exact === undefined ? input.map(({ value }) => oneLine(value)).filter((value) => value !== "") : [];
  const jobs = Object.keys(jobVerbs).map((name) => withValues(do_job, { name }));
  const ends =
    exact === undefined
      ? Object.values(namedDeeds).flatMap((deed) =>
          deed.includes("{reason}") ? named.map((reason) => withValues(deed, { reason })) : [deed],
        )
      : [exact];
  if (exact === undefined) ends.push(...jobs);
  ends.sort((a, b) => b.length - a.length);
  const end = ends.find((deed) => text === deed || text.startsWith(`${deed}${between}`));
  if (end !== undefined)
    return { deed: end, who: text === end ? undefined : text.slice(end.length + between.length), isCertain: true };
  const { deed = text } = endOfPath(text, between, named) ?? endOfWord(text, between) ?? {};
  return { deed, who: deed === text ? undefined : text.slice(deed.length + between.length), isCertain: false };
}

/** The same path may begin in another folder in the input. */
function endOfPath(text: string, between: string, named: readonly string[]): Pick<Parts, "deed"> | undefined {
  if (!located.has(readDeed(text)?.code ?? "")) return undefined;
  for (const value of named) {
    const name = value.split("/").findLast((part) => part !== "");
    if (name === undefined) continue;
    if (text.endsWith(name)) return { deed: text };
    const at = text.indexOf(`${name}${between}`);
    if (at > 0) return { deed: text.slice(0, at + name.length) };
  }
  return undefined;
}

function endOfWord(text: string, between: string): Pick<Parts, "deed"> | undefined {
  const deed = text.slice(0, Math.max(text.indexOf(between), 0));
  const { code = "", values = {} } = readDeed(deed) ?? {};
  return oneWorded.has(code) && !/\s/.test(values.reason ?? " ") ? { deed } : undefined;
}

/** A question has on one line what its input has on several. */
function oneLine(value: string): string {
  return value.replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}
