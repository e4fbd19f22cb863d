import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { type ApprovalScope, createPermit } from "../../../src/agent/calls/approvals.js";
import { DoomLoop } from "../../../src/agent/calls/doom-loop.js";
import type { HumanInput, Question } from "../../../src/agent/questions/human-input.js";
import { draft } from "../../../src/events/event.js";
import type { ExecutionMode, ToolAccess, ToolUse } from "../../../src/policy/access.js";
import { createPolicy } from "../../../src/policy/policy.js";
import { visibleFields } from "../../../src/util/text/visible.js";
import { askingSentences, deedSentences, permissionSentences } from "../../../src/util/words/permission-sentences.js";
import { readerOf } from "../../../src/util/words/sentences.js";
import { askingInChinese, deedsInChinese, permissionsInChinese } from "../../../src/web/failures/permissions.js";
import { loadOwnWords, permissionLine, permissionText } from "../../../src/web/failures/said.js";
import { foreignTool } from "../../support/foreign-tool.js";
import { projectFile } from "../../support/project.js";

const home = "/home/ann/.maxclaw";
const workspace = `${home}/workspace`;
const folder = `${workspace}/.sessions/telegram_1`;
const commands = [
  "ls",
  "echo 'May I write plan.md? That is another chat.' for Bo",
  "python3 -c 1",
  "cat $1",
  "cat ../../.env",
  "cat ../telegram_2/1",
  "cat /mnt/data/1",
  "ls ../..",
  "cat /mnt/.h*",
  ":(){ :|:& };:",
  `${"sudo ".repeat(12)}ls`,
  "echo 1 > /dev/sda",
  "reboot",
  "mkfs /dev/sda",
  "kill -9 -1",
  "rm -rf /",
];

/** Of each kind what can be asked about. A new kind has to be named here. */
const accesses: { readonly [Kind in ToolAccess["kind"]]: readonly Extract<ToolAccess, { kind: Kind }>[] } = {
  call: [{ kind: "call", input: {} }],
  read: [{ kind: "read", path: `${folder}/1` }],
  write: ["AGENTS.md", "MEMORY.md", "memory/1.md", "skills/1/SKILL.md", "a for b", ".sessions/telegram_1/1"]
    .map((name) => `${workspace}/${name}`)
    .concat("/mnt/1")
    .map((path) => ({ kind: "write", path })),
  network: [true, false].map((sends) => ({ kind: "network", url: "https://1.example/2", sends })),
  chat: [{ kind: "chat", chat: "telegram:7", isOwn: false }],
  command: commands.flatMap((command) => [
    { kind: "command", command, isSandboxed: false },
    { kind: "command", command, isSandboxed: true, hasNetwork: true },
  ]),
  memory: (["owner", "chat"] as const).flatMap((of) =>
    (["read", "write"] as const).map((access) => ({ kind: "memory" as const, access, of })),
  ),
  schedule: ["add", "list", "remove", "enable", "disable", "run", "history"].map((detail) => ({
    kind: "schedule",
    detail,
  })),
  other: [{ kind: "other", detail: "9" }],
};

interface Asked {
  readonly question: Question;
  readonly access: ToolAccess;
}

/** All that the policy can ask, as a person is asked it. */
async function allQuestions(senderName: string | undefined): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  for (const executionMode of ["ask", "auto"] as const)
    for (const rules of [[], [{ verdict: "ask" as const }]])
      for (const restrictToWorkspace of [true, false])
        for (const outside of [[], ["1.example"], ["the file 1.pdf"]])
          for (const chatType of ["dm", "group"] as const) {
            const decide = policyOf({ executionMode, rules, restrictToWorkspace, outside, chatType });
            for (const access of Object.values<readonly ToolAccess[]>(accesses).flat())
              await ask(decide, access, senderName, (question) => asked.push({ question, access }));
          }
  return asked;
}

function policyOf(given: {
  readonly executionMode: ExecutionMode;
  readonly rules: readonly { readonly verdict: "ask" }[];
  readonly restrictToWorkspace: boolean;
  readonly outside: readonly string[];
  readonly chatType: "dm" | "group";
}) {
  const { outside, chatType, ...options } = given;
  const policy = createPolicy({ ...options, workspace, home, userHome: "/home/ann", owners: [], channels: {} });
  return (use: Pick<ToolUse, "tool" | "access" | "folder">) =>
    policy.mayUseTool({
      ...use,
      chat: "telegram:1",
      files: [],
      outside,
      speaker: {
        channel: "telegram",
        senderId: "1",
        chatType,
        role: "owner",
        audience: chatType === "dm" ? "owner" : "others",
      },
    });
}

/** Only what a question needs. */
async function ask(
  decide: ReturnType<typeof policyOf>,
  access: ToolAccess,
  senderName: string | undefined,
  take: (question: Question) => void,
): Promise<void> {
  const tool = access.kind === "call" ? foreignTool([]) : { ...foreignTool([]), risk: "access" as const };
  const input = access.kind === "command" ? { command: access.command } : { path: Reflect.get(access, "path") ?? "9" };
  const sender = { channel: "telegram", chatId: "7", senderId: "1", sessionKey: "telegram:7", senderName };
  const scope: ApprovalScope = {
    policy: { decide, filesOf: async () => undefined, allowAlways: async () => undefined },
    message: { ...sender, id: "msg_1", content: "", attachments: [], receivedAt: 0 },
    signal: new AbortController().signal,
    human: {
      ask: async (question: Question) => {
        take(question);
        return { outcome: "nobody", text: "", responderId: "" };
      },
    },
    tool,
    call: { id: "call_1", name: tool.name, input },
    folder,
    outside: () => [],
    isPlanning: false,
  };
  await createPermit(scope).permit(access);
}

function shownOf({ question, input, options }: Question) {
  return permissionText({
    question,
    input: visibleFields(input ?? {}),
    options: options.map(({ label, description }) => ({ label, description })),
  });
}

const catalogues = [
  [permissionSentences, permissionsInChinese],
  [deedSentences, deedsInChinese],
  [askingSentences, askingInChinese],
] as const;

describe("what a permission asks", () => {
  before(async () => {
    Object.assign(globalThis, { document: { documentElement: { lang: "zh" } } });
    await loadOwnWords();
  });
  after(() => Reflect.deleteProperty(globalThis, "document"));

  test("has Chinese words with the same values", () => {
    const namesIn = (words: string) => [...words.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
    for (const [english, chinese] of catalogues)
      for (const [code, words] of Object.entries<string>(english))
        assert.deepEqual(namesIn(String(Reflect.get(chinese, code))), namesIn(words), code);
  });

  for (const who of [undefined, "Bo 7"])
    test(`is Chinese on the Chinese page, whatever the policy asks${who === undefined ? "" : ", and for whom"}`, async () => {
      const deeds = new Set<string>();
      const reasons = new Set<string>();
      const [readDeed, readReason] = [readerOf(deedSentences), readerOf(askingSentences)];
      for (const { question, access } of await allQuestions(who)) {
        const said = shownOf(question);
        const english = question.question;
        const because = english.slice(english.lastIndexOf("? ") + 2, -1);
        reasons.add(readReason(because.charAt(0).toLowerCase() + because.slice(1))?.code ?? because);
        // Nobody knows where what it names ends.
        if (access.kind === "other" && who !== undefined) continue;
        const named = [...commands, "May I write plan.md? That is another chat.", "foreign_do"];
        const ours = "path" in access ? [access.path, access.path.replace(`${workspace}/`, "")] : [];
        named.push(...ours, "https://1.example/2", "telegram:7", "../../.env", "/mnt/.h*");
        named.push("Bo 7", "policy.rules[0]", "the file 1.pdf", "1.example", "/new");
        named.sort((a, b) => b.length - a.length);
        const left = named.reduce((text, name) => text.replaceAll(name, ""), said.question);
        const plain = left.replaceAll(/\.\.\/telegram_2\/1|\/[a-z.]+(?:\/[a-z0-9_.]+)*/g, "");
        assert.doesNotMatch(plain, /[a-z]{2}/i, `${english}\n${said.question}`);
        assert.match(said.question, who === undefined ? /^是否允许/ : /^是否允许为 Bo 7 /, english);
        for (const [index, { label, description = "" }] of said.options.entries()) {
          assert.doesNotMatch(label, /[a-z]/i);
          assert.equal(description === "", question.options[index]?.description === undefined);
          assert.doesNotMatch(description, /exactly so/);
        }
        const deed = english.slice("May I ".length, english.lastIndexOf("? "));
        deeds.add(readDeed(who === undefined ? deed : deed.replace(/ for Bo 7$/, ""))?.code ?? deed);
      }
      assert.deepEqual([...reasons].sort(), Object.keys(askingSentences).sort());
      deeds.delete("9");
      assert.deepEqual([...deeds].sort(), Object.keys(deedSentences).sort());
    });

  test("has its reasons in the catalogue alone", () => {
    const written = /["'`](?:that|this conversation|it may|nobody knows|others write) /;
    for (const file of ["policy", "tool-limits", "locations/location-limits", "commands/command-reach"].concat(
      "commands/harmful-commands",
    ))
      assert.doesNotMatch(readFileSync(projectFile(`src/policy/${file}.ts`), "utf8"), written, file);
  });

  test("keeps a command to its last word, whatever it looks like, and whom it is for apart from it", async () => {
    const run = async (command: string, senderName?: string): Promise<string> => {
      const decide = policyOf({
        executionMode: "ask",
        rules: [],
        restrictToWorkspace: true,
        outside: [],
        chatType: "dm",
      });
      const said: string[] = [];
      const access = { kind: "command", command, isSandboxed: false } as const;
      await ask(decide, access, senderName, (question) => said.push(shownOf(question).question));
      return said.join();
    };
    assert.equal(await run("say hello for Ann"), "是否允许运行 say hello for Ann？它不在沙箱中运行。");
    assert.equal(await run("say hello for Ann", "Bo"), "是否允许为 Bo 运行 say hello for Ann？它不在沙箱中运行。");
    assert.equal(await run("add a scheduled job"), "是否允许运行 add a scheduled job？它不在沙箱中运行。");
    assert.equal(
      await run("a\nb; c? That is another chat."),
      "是否允许运行 a\\nb; c? That is another chat.？它不在沙箱中运行。",
    );
    assert.equal(
      await run("rm -rf '/x? That is another chat'"),
      "是否允许运行 rm -rf '/x? That is another chat'？它可能会毁掉 /x? That is another chat 中的全部内容。",
    );
  });

  test("says which call is repeated, and what can be done about it", async () => {
    const asked: Question[] = [];
    const human: Pick<HumanInput, "ask" | "isUnattended"> = {
      isUnattended: false,
      ask: async (question) => {
        asked.push(question);
        return { outcome: "nobody", text: "", responderId: "" };
      },
    };
    const loop = new DoomLoop([], { draft: (type, payload) => draft(type, payload, { source: "agent" }) }, human);
    const call = { id: "1", name: "exec", input: { command: "Deny" }, isRead: false, isServers: false };
    for (const _ of [1, 2, 3]) {
      const ended = await loop.check(call, new AbortController().signal);
      if (typeof ended !== "string") ended({ text: "same" });
    }
    const [question] = asked;
    assert.ok(question);
    assert.deepEqual(shownOf(question), {
      question: "exec 用同样的输入被调用了 3 次。要继续吗？",
      options: [
        { label: "继续", description: undefined },
        { label: "停止", description: undefined },
      ],
    });
  });

  test("is known by one sentence alone, a question as well as an answer", () => {
    assert.equal(permissionLine("May I run ls? That is another chat."), "是否允许运行 ls？那是另一个对话。");
    assert.equal(permissionLine("Go on"), "继续");
  });

  test("stays as it is where nobody knows it", () => {
    const asked = {
      question: "May I dance? The music is on.",
      input: [],
      options: [{ label: "Yes", description: "Now" }],
    };
    assert.deepEqual(permissionText(asked), { question: asked.question, options: asked.options });
  });
});
