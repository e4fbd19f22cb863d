import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { sayStatus, wordedInChinese } from "../../../src/web/failures/status.js";
import { projectFile } from "../../support/project.js";
import { sentencesIn } from "../../support/rules/thrown-sentences.js";

interface Source {
  readonly path: string;
  readonly code: string;
}

function sourcesBelow(folder: string): readonly Source[] {
  return readdirSync(projectFile(folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => {
      const path = join(folder, name);
      return { path, code: readFileSync(projectFile(path), "utf8") };
    });
}

/** Two words at least that are not values. */
const isSentence = (text: string): boolean => /[a-z]+[^a-z{}]* [^{}]*[a-z]{2}/i.test(text.replaceAll("{}", " "));
const isWhole = (text: string): boolean => isSentence(text) && /^ ?[A-Z{].*\.$/s.test(text);

/** Of those whose values are words: what they are told with. */
const told: Readonly<Record<string, readonly string[]>> = {
  "Discord closed the connection for good ({}).{}": ["Discord closed the connection for good (4010)."],
  // A key and a problem of the config.
  "channels.{}: {}": [],
  "The program of {} {}: the message may have arrived.": [
    "The program of kitchen went away: the message may have arrived.",
    "The program of kitchen did not answer in time: the message may have arrived.",
  ],
  "The room {} {}.": [
    "was destroyed",
    "has banned the bot",
    "has thrown the bot out",
    "takes only its members now",
  ].map((why) => `The room a@b.example ${why}.`),
  "{} was refused ({}).": [
    "Entering the room a@b",
    "Looking into the archive of a@b",
    "A message to a@b",
    "The file a.txt",
  ].map((what) => `${what} was refused (forbidden).`),
  "The SMTP server {}{}": [
    "The SMTP server a.example: 421 busy",
    "The SMTP server a.example failed: the connection broke.",
  ],
  "Log in as the bot, for example in Element, and accept the terms{}.": [
    "Log in as the bot, for example in Element, and accept the terms.",
    "Log in as the bot, for example in Element, and accept the terms at https://a.example.",
  ],
  "Put the token that the app's page {} into channels.slack.{}.": [
    "Put the token that the app's page OAuth & Permissions shows (xoxb-…) into channels.slack.botToken.",
  ],
};

/** What of these nobody can read in Chinese. Digits fit in place of each value. */
function unread(texts: readonly string[]): readonly string[] {
  const filled = texts.flatMap((text) => told[text.trim()] ?? [text.replaceAll("{}", "600").trim()]);
  return filled.filter((text) => sayStatus(text) === undefined);
}

describe("what the gateway says without a code", () => {
  test("each sentence of a ChannelError has its Chinese words", () => {
    const sources = sourcesBelow("src/channels").concat(sourcesBelow("src/bus"));
    const thrown = sources.flatMap(({ code }) => sentencesIn(code, /\bnew ChannelError\(/g)).filter(isSentence);
    assert.ok(thrown.length > 120, `${thrown.length} sentences`);
    assert.deepEqual(unread(thrown), []);
  });

  test("so has what is made into one, and what a platform's refusal is told with", () => {
    const sources = sourcesBelow("src/channels").filter(({ code }) => code.includes("ChannelError"));
    const named = sources.flatMap(({ code }) =>
      sentencesIn(code, /\bconst (?:message|why|todo|hint) =|\b(?:super|LoginRefused|#lose|#refusedLogin|cut)\(/g),
    );
    const hints = sources
      .filter(({ path }) => path.endsWith("-error.ts"))
      .flatMap(({ code }) => sentencesIn(code, /\breturn\b|\[(?:\d[\d_]*|windowClosed),|\bconst \w+ =|^ {2}\d+:/gm));
    const whole = [...named, ...hints].filter(isWhole);
    assert.ok(whole.length > 50, `${whole.length} sentences`);
    assert.deepEqual(unread(whole), []);
  });

  test("so has why a turn fails, for its owner and for others", () => {
    const { code } = sourcesBelow("src/agent/model").find(({ path }) => path.endsWith("/sentences.ts")) ?? { code: "" };
    const said = sentencesIn(code, /^ {2}[A-Z_]+:|\breturn\b/gm).filter(isWhole);
    // A turn that ends well is told with these.
    const failed = said.filter((text) => !/^(?:This conversation is|I stopped after) \{\}|^\{\}/.test(text));
    assert.ok(failed.length > 12, `${failed.length} sentences`);
    const toOwner = failed.map((text) =>
      text.replace(/\b(t|T)he owner needs to check /g, (_, t) => (t === "T" ? "Check " : "check ")),
    );
    assert.deepEqual(unread([...failed, ...toOwner]), []);
  });

  test("so has why an MCP server is not connected", () => {
    const sources = sourcesBelow("src/mcp").filter(({ path }) => /\/(?:connection|transport|auth\/oauth)/.test(path));
    const why = sources.flatMap(({ code }) =>
      sentencesIn(code, /\bnew (?:Error|LoginNeeded|MoreLoginNeeded)\(|#end\(/g),
    );
    const clauses = why.filter((text) => isSentence(text) && !text.startsWith("{}"));
    assert.ok(clauses.length > 6, `${clauses.length} clauses`);
    assert.deepEqual(unread(clauses), []);
  });

  test("the Chinese words have the same values, and are Chinese", () => {
    const namesIn = (words: string): readonly string[] =>
      [...words.matchAll(/\{(\w+)\}/g)].map(([name]) => name).sort();
    for (const [english, chinese] of Object.entries(wordedInChinese)) {
      assert.deepEqual(namesIn(chinese), namesIn(english), english);
      assert.match(chinese, /\p{Script=Han}|^\{reason\}（turn/u, english);
      assert.doesNotMatch(chinese.replace(/\{\w+\}/g, ""), /\b(?:the|is|was|not|of)\b/i, chinese);
    }
  });

  test("a sentence in a sentence is said in Chinese, too", () => {
    for (const [english, chinese] of [
      [
        "Feishu refused the message (code 230013: Bot has NO availability; ask). Take this person into the app's range of availability (Version Management & Release).",
        "Feishu 拒绝了消息（代码 230013：Bot has NO availability; ask）。请把此人加入应用的可用范围（版本管理与发布）。",
      ],
      [
        "The file could not be fetched from Matrix: nothing listens at 127.0.0.1:9 (ECONNREFUSED).",
        "无法从 Matrix 取得文件：127.0.0.1:9 没有程序在监听（ECONNREFUSED）。",
      ],
      [
        "Entering the room a@b.example was refused (forbidden: banned).",
        "进入聊天室 a@b.example 被拒绝（forbidden: banned）。",
      ],
      [
        "MCP server docs is not connected: it ended with code 1: no such file",
        "MCP 服务器 docs 没有连接：它以退出码 1 结束：no such file",
      ],
      [
        "The model is busy right now. Please try again in a little while. (turn_01AB)",
        "模型现在很忙，请稍后再试。（turn_01AB）",
      ],
    ] as const)
      assert.equal(sayStatus(english), chinese);
    assert.equal(sayStatus("A bakery opens at six."), undefined);
  });
});
