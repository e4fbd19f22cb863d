import type { ToolResultPart } from "../../events/content.js";
import type { Wish } from "./understand.js";

export type Language = "en" | "zh";

const snippet = `{
  "providers": { "openai": { "apiKey": "sk-…" } },
  "agents": { "defaults": { "model": "openai/gpt-4o-mini" } }
}`;

const addModel: Readonly<Record<Language, string>> = {
  en: `To talk to a real model, run \`maxclaw onboard\` (in its source folder: \`node bin/maxclaw.js onboard\`), or start Ollama on this machine, or put this into the config (\`maxclaw config path\` says where it is):\n\n\`\`\`json\n${snippet}\n\`\`\``,
  zh: `要接入真正的模型：运行 \`maxclaw onboard\`（在源码目录里：\`node bin/maxclaw.js onboard\`），或在本机启动 Ollama，或把下面的内容写进配置文件（\`maxclaw config path\` 会显示位置）：\n\n\`\`\`json\n${snippet}\n\`\`\``,
};

const abilities: Readonly<Record<Language, string>> = {
  en: `I understand a few plain requests:\n- list files, or list files in docs\n- read file notes.txt\n- write "text" to file notes.txt\n- summarise notes.txt\n- what time is it`,
  zh: `我能听懂几句简单的话：\n- 列出文件\n- 读取文件 notes.txt\n- 把“内容”写入文件 notes.txt\n- 总结 notes.txt\n- 现在几点`,
};

const whoIAm: Readonly<Record<Language, string>> = {
  en: "I am maxclaw's built-in offline stand-in, not a language model, because no model provider can be used: none is set up, or the config has a problem, which `maxclaw status` shows.",
  zh: "我是 maxclaw 内置的离线替身，不是语言模型，因为没有可用的模型：还没有配置，或者配置有问题（用 `maxclaw status` 查看）。",
};

/** For messages that ask for no tool. */
export function plainReply(wish: Wish, clock: string | undefined, language: Language): string {
  const isEnglish = language === "en";
  switch (wish.kind) {
    case "greeting":
      return `${isEnglish ? "Hello!" : "你好！"} ${whoIAm[language]}\n\n${abilities[language]}\n\n${addModel[language]}`;
    case "help":
      return `${whoIAm[language]}\n\n${abilities[language]}\n\n${addModel[language]}`;
    case "time":
      if (clock === undefined)
        return isEnglish ? "Your message carries no clock, so I cannot tell." : "这条消息没有带时间，我无法判断。";
      return isEnglish ? `It is ${clock}.` : `现在是 ${clock}。`;
    default: {
      const sorry = isEnglish ? "I did not understand that." : "这句话我听不懂。";
      return `${sorry} ${whoIAm[language]}\n\n${abilities[language]}\n\n${addModel[language]}`;
    }
  }
}

export function missingTool(toolName: string, language: Language): string {
  return language === "en"
    ? `That needs the tool ${toolName}, which is not available in this chat.`
    : `这需要工具 ${toolName}，但它在这个会话里不可用。`;
}

/** Tells in words what the tool said. */
export function report(wish: Wish, result: ToolResultPart, language: Language): string {
  const isEnglish = language === "en";
  const said = result.content.replace(/\n\[workspace: .*\]$/, "").trim();
  if (result.is_error) return isEnglish ? `That did not work: ${said}` : `没有成功：${said}`;
  switch (wish.kind) {
    case "list": {
      const folder = wish.path ?? (isEnglish ? "this chat's folder" : "这个会话的文件夹");
      return isEnglish ? `Here is what ${folder} holds:\n\n${fence(said)}` : `${folder} 里有：\n\n${fence(said)}`;
    }
    case "read":
      return isEnglish ? `${wish.path} says:\n\n${fence(said)}` : `${wish.path} 的内容：\n\n${fence(said)}`;
    case "write":
      return isEnglish ? `Done, ${wish.path} is written. (${said})` : `已写入 ${wish.path}。（${said}）`;
    case "summarise":
      return summary(wish.path, result.content, language);
    default:
      return isEnglish ? `The tool answered:\n\n${fence(said)}` : `工具返回：\n\n${fence(said)}`;
  }
}

const shownLines = 5;

function summary(path: string, text: string, language: Language): string {
  const note = /^\[lines \d+-\d+ of (\d+)[^\]]*\]$/m.exec(text);
  const lines = text
    .replace(note?.[0] ?? "", "")
    .trimEnd()
    .split("\n");
  const body = lines.join("\n");
  const words = body.split(/\s+/).filter((word) => word !== "").length;
  const total = note?.[1] ?? String(lines.length);
  const head = fence(lines.slice(0, shownLines).join("\n"));
  return language === "en"
    ? `I cannot judge what matters in ${path}, but I can count: ${total} lines; the part I read has ${words} words and ${body.length} characters. It begins:\n\n${head}`
    : `我无法判断 ${path} 的要点，但可以数一数：共 ${total} 行；读到的部分有 ${words} 个词、${body.length} 个字符。开头是：\n\n${head}`;
}

/** Longer than any fence inside. */
function fence(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
  const ticks = "`".repeat(longest + 1);
  return `${ticks}\n${text}\n${ticks}`;
}
