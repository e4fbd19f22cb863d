import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import type {
  Audience,
  ExecutionMode,
  Role,
  ToolAccess,
  ToolDecision,
  ToolTraits,
  ToolUse,
} from "../../../src/policy/access.js";
import type { CommandAct } from "../../../src/policy/commands/commands.js";
import { createPolicy, type PolicyOptions, type Speaker } from "../../../src/policy/policy.js";
import type { PolicyRule } from "../../../src/policy/rules.js";
import { builtinTools } from "../../../src/tools/builtin.js";

const workspace = "/srv/maxclaw-test/workspace";
const folder = `${workspace}/.sessions/telegram_42`;
const defaults: PolicyOptions = {
  executionMode: "ask",
  workspace,
  home: "/srv/maxclaw-test",
  restrictToWorkspace: true,
  owners: [],
  channels: {},
};

/**
 * Who may talk, written down once more as a table. Columns: direct message, group when addressed, group when not.
 * `o` owner, `g` guest, `p` needs pairing, `-` not allowed, `.` not addressed.
 */
const speech: readonly (readonly [string, string, string, string])[] = [
  // channel and its list          sender        paired  DM, group, overheard
  ["open [*]", "42", "no", "g g ."],
  ["open [*]", "7", "yes", "g g ."],
  ["open [*]", "1", "no", "o o ."],
  ["open [*]", "", "no", "- - ."],
  ["open [*]", "*", "no", "- - ."],
  ["open [*]", "@bob", "no", "- - ."],
  ["closed []", "42", "no", "p - ."],
  ["closed []", "42", "yes", "g - ."],
  ["closed []", "1", "no", "o o ."],
  ["closed []", "@bob", "yes", "- - ."],
  ["closed []", "", "yes", "- - ."],
  ["listed [42,@bob,@ann:example.org]", "42", "no", "g g ."],
  ["listed [42,@bob,@ann:example.org]", "042", "no", "- - ."],
  ["listed [42,@bob,@ann:example.org]", " 42", "no", "- - ."],
  ["listed [42,@bob,@ann:example.org]", "4", "no", "- - ."],
  ["listed [42,@bob,@ann:example.org]", "421", "no", "- - ."],
  ["listed [42,@bob,@ann:example.org]", "bob", "no", "- - ."],
  ["listed [42,@bob,@ann:example.org]", "@bob", "no", "- - ."],
  ["listed [42,@bob,@ann:example.org]", "@ann:example.org", "no", "g g ."],
  ["listed [42,@bob,@ann:example.org]", "@Ann:example.org", "no", "- - ."],
  ["listed [42,@bob,@ann:example.org]", "43", "yes", "- - ."],
  ["listed [42,@bob,@ann:example.org]", "1", "no", "o o ."],
  ["names [@bob]", "@bob", "yes", "- - ."],
  ["names [@bob]", "42", "yes", "- - ."],
  ["unknown", "42", "no", "p - ."],
  ["unknown", "42", "yes", "g - ."],
  ["constructor", "42", "no", "p - ."],
  ["webui", "anything", "no", "o o o"],
  ["cli", "", "no", "o o o"],
];

test("who may talk follows the table, over every channel, sender, chat type and pairing", () => {
  const channels = {
    open: { allowFrom: ["*"] },
    closed: { allowFrom: [] },
    listed: { allowFrom: ["42", "@bob", "@ann:example.org"] },
    names: { allowFrom: ["@bob"] },
  };
  const owners = ["open:1", "closed:1", "listed:1", "closed:*", "closed:@bob", "42"];
  const policy = createPolicy({ ...defaults, owners, channels });
  for (const [label, senderId, paired, row] of speech) {
    const channel = label.split(" ")[0] ?? "";
    const chats: readonly Pick<Speaker, "chatType" | "addressed">[] = [
      { chatType: "dm", addressed: false },
      { chatType: "group", addressed: true },
      { chatType: "group", addressed: false },
    ];
    for (const [index, expected] of row.split(" ").entries()) {
      const chat = chats[index];
      assert.ok(chat);
      const decision = policy.maySpeak({ channel, senderId, ...chat }, () => paired === "yes");
      const letter = decision.allowed
        ? decision.role === "owner"
          ? "o"
          : "g"
        : { needs_pairing: "p", not_allowed: "-", not_addressed: "." }[decision.reason];
      assert.equal(letter, expected, `${label}, sender "${senderId}", paired ${paired}, ${JSON.stringify(chat)}`);
    }
  }
});

test("a list of groups keeps the assistant out of all others, and lets in those who address it there", () => {
  const channels = {
    any: { allowFrom: ["42"], allowGroups: [] },
    groups: { allowFrom: [], allowGroups: ["-100"] },
    both: { allowFrom: ["42"], allowGroups: ["-100"] },
  };
  const policy = createPolicy({ ...defaults, owners: ["groups:1"], channels });
  const may = (channel: string, chatId: string, senderId: string, addressed = true) => {
    const decision = policy.maySpeak({ channel, chatId, senderId, chatType: "group", addressed }, () => true);
    return decision.allowed ? decision.role : decision.reason;
  };
  const rows = [
    [may("any", "-5", "42"), may("any", "-5", "43")],
    [may("groups", "-100", "43"), may("groups", "-100", "43", false), may("groups", "-5", "43")],
    [may("groups", "-5", "1")],
    [may("both", "-100", "42"), may("both", "-100", "43"), may("both", "-5", "42")],
  ];
  assert.deepEqual(rows, [
    ["guest", "not_allowed"],
    ["guest", "not_addressed", "not_allowed"],
    ["owner"],
    ["guest", "not_allowed", "not_allowed"],
  ]);
  const dm = policy.maySpeak(
    { channel: "groups", chatId: "7", senderId: "7", chatType: "dm", addressed: true },
    () => false,
  );
  assert.deepEqual(dm, { allowed: false, reason: "needs_pairing" });
});

test("an owner of one channel is nobody special on another", () => {
  const policy = createPolicy({ ...defaults, owners: ["telegram:42"], channels: { discord: { allowFrom: ["*"] } } });
  const role = (channel: string) => {
    const decision = policy.maySpeak({ channel, senderId: "42", chatType: "dm", addressed: true }, () => false);
    return decision.allowed && decision.role;
  };
  assert.equal(role("telegram"), "owner");
  assert.equal(role("discord"), "guest");
});

test("a group that is named as an owner makes nobody an owner who writes in its name", () => {
  const policy = createPolicy({ ...defaults, owners: ["telegram:-100"], channels: { telegram: { allowFrom: ["*"] } } });
  const speaker = {
    channel: "telegram",
    chatId: "-100",
    senderId: "-100",
    chatType: "group",
    addressed: true,
  } as const;
  assert.deepEqual(
    policy.maySpeak(speaker, () => false),
    { allowed: true, role: "guest" },
  );
  assert.match(policy.problems.join(), /owners: telegram:-100 never matches/);
});

test("entries that can never match are named as problems", () => {
  const policy = createPolicy({
    ...defaults,
    owners: ["42", "telegram:@bob", "telegram:42"],
    channels: { telegram: { allowFrom: ["@bob", "42", "*"] } },
  });
  assert.equal(policy.problems.length, 3);
  assert.match(
    policy.problems.join("\n"),
    /channels\.telegram\.allowFrom: @bob[\s\S]*owners: 42 never[\s\S]*owners: telegram:@bob never/,
  );
});

/**
 * What a path is, written down once more. Letters per mode safe, ask, auto; `+` allowed, `?` asked, `!` an owner is
 * asked, `-` denied. Columns: reading · writing as owner · writing as guest, each for restricted and unrestricted tools.
 * Behind a slash: where others read along, which they always do for guests.
 */
const places: readonly (readonly [string, string, string, string, string, string, string])[] = [
  // path                       read     owner    guest    | read   owner  guest when not restricted
  [`${folder}/notes.txt`, "+++", "-++", "-++", "+++", "-++", "-++"],
  [`${folder}`, "+++", "-++", "-++", "+++", "-++", "-++"],
  [`${folder}/.env`, "+++", "-++", "-++", "+++", "-++", "-++"],
  [`${folder}/skills/x.md`, "+++", "-++", "-++", "+++", "-++", "-++"],
  [`${folder}/AGENTS.md`, "+++", "-++", "-++", "+++", "-++", "-++"],
  [workspace, "+++", "-?+", "-!+", "+++", "-?+", "-!+"],
  [`${workspace}/notes.txt`, "+++", "-?+", "-!+", "+++", "-?+", "-!+"],
  [`${workspace}/a/b/notes.txt`, "+++", "-?+", "-!+", "+++", "-?+", "-!+"],
  [`${workspace}/a/AGENTS.md`, "+++", "-?+", "-!+", "+++", "-?+", "-!+"],
  [`${workspace}/memory/MEMORY.md`, "+++/---", "-?+/---", "---", "+++/---", "-?+/---", "---"],
  [`${workspace}/memory`, "+++/---", "-?+/---", "---", "+++/---", "-?+/---", "---"],
  [`${workspace}/memory/HISTORY.md`, "+++/---", "-?+/---", "---", "+++/---", "-?+/---", "---"],
  [`${workspace}/memory/2026-11-22.md`, "+++/---", "-?+/---", "---", "+++/---", "-?+/---", "---"],
  [`${workspace}/memory/deep/notes.txt`, "+++/---", "-?+/---", "---", "+++/---", "-?+/---", "---"],
  [`${workspace}/Memory/MEMORY.md`, "+++/---", "-?+/---", "---", "+++/---", "-?+/---", "---"],
  [`${workspace}/GUESTS.md`, "+++/---", "-?+/---", "---", "+++/---", "-?+/---", "---"],
  [`${workspace}/SOUL.md.bak2`, "+++/---", "-?+/---", "---", "+++/---", "-?+/---", "---"],
  [`${workspace}/config.yml`, "+++/---", "-?+/---", "---", "+++/---", "-?+/---", "---"],
  [`${workspace}/AGENTS.md.`, "+++/---", "-?+/---", "---", "+++/---", "-?+/---", "---"],
  [`${workspace}/AGENTS.md `, "+++/---", "-?+/---", "---", "+++/---", "-?+/---", "---"],
  [`${workspace}/ＡＧＥＮＴＳ.md`, "+++/---", "-?+/---", "---", "+++/---", "-?+/---", "---"],
  [`${workspace}/AGENTS\u200c.md`, "+++/---", "-?+/---", "---", "+++/---", "-?+/---", "---"],
  [`${workspace}/memory./MEMORY.md`, "+++/---", "-?+/---", "---", "+++/---", "-?+/---", "---"],
  [`${workspace}/\u017foul.md`, "+++/---", "-?+/---", "---", "+++/---", "-?+/---", "---"],
  [`${workspace}/conﬁg.json`, "+++/---", "-?+/---", "---", "+++/---", "-?+/---", "---"],
  [`${workspace}/memory:x/MEMORY.md`, "+++/---", "-?+/---", "---", "+++/---", "-?+/---", "---"],
  [`${workspace}/SOUL.md::$DATA`, "+++/---", "-?+/---", "---", "+++/---", "-?+/---", "---"],
  [`${workspace}/memory/heartbeat.md`, "+++/---", "-?+/---", "---", "+++/---", "-?+/---", "---"],
  [`${workspace}/AGENTS.md`, "+++/---", "-?+/---", "---", "+++/---", "-?+/---", "---"],
  [`${workspace}/agents.MD`, "+++/---", "-?+/---", "---", "+++/---", "-?+/---", "---"],
  [`${workspace}/CLAUDE.md`, "+++/---", "-?+/---", "---", "+++/---", "-?+/---", "---"],
  [`${workspace}/SOUL.md`, "+++/---", "-?+/---", "---", "+++/---", "-?+/---", "---"],
  [`${workspace}/USER.md`, "+++/---", "-?+/---", "---", "+++/---", "-?+/---", "---"],
  [`${workspace}/config.json`, "+++/---", "-?+/---", "---", "+++/---", "-?+/---", "---"],
  [`${workspace}/config.yaml`, "+++/---", "-?+/---", "---", "+++/---", "-?+/---", "---"],
  [`${workspace}/skills/x.md`, "+++", "-?+/-??", "---", "+++", "-?+/-??", "---"],
  [`${workspace}/Skills/deep/SKILL.md`, "+++", "-?+/-??", "---", "+++", "-?+/-??", "---"],
  [`${workspace}/.skills_state.json`, "+++/---", "-?+/---", "---", "+++/---", "-?+/---", "---"],
  [`${workspace}/memories/x.md`, "+++", "-?+", "-!+", "+++", "-?+", "-!+"],
  [`${workspace}/a/memory/x.md`, "+++", "-?+", "-!+", "+++", "-?+", "-!+"],
  [`${workspace}/\u200c.git/config`, "---", "---", "---", "---", "---", "---"],
  [`${workspace}/memory/.git/config`, "---", "---", "---", "---", "---", "---"],
  [`${workspace}/.env`, "---", "---", "---", "---", "---", "---"],
  [`${workspace}/.sessions`, "---", "---", "---", "---", "---", "---"],
  [`${workspace}/.sessions/telegram_42.json`, "---", "---", "---", "---", "---", "---"],
  [`${workspace}/.sessions/telegram_421/x`, "---", "---", "---", "---", "---", "---"],
  [`${workspace}/.sessions/telegram_4/x`, "---", "---", "---", "---", "---", "---"],
  [`${workspace}/.uploads/x.png`, "---", "---", "---", "---", "---", "---"],
  [`${workspace}/.cron/jobs.json`, "---", "---", "---", "---", "---", "---"],
  [`${workspace}/skills/.hidden.md`, "---", "---", "---", "---", "---", "---"],
  [`${workspace}/project/.git/config`, "---", "---", "---", "---", "---", "---"],
  ["/srv/maxclaw-test/config.json", "---", "---", "---", "---", "---", "---"],
  ["/srv/maxclaw-test/journal/0001", "---", "---", "---", "---", "---", "---"],
  ["/srv/maxclaw-test/workspace-evil/x", "---", "---", "---", "---", "---", "---"],
  ["/srv/other/x", "---", "---", "---", "+++", "-?+", "---"],
  ["/", "---", "---", "---", "+++", "-?+", "---"],
];

const modes = ["safe", "ask", "auto"] as const;

/** `?`: who asks may allow it, `!`: only an owner may. */
function letterOf(decision: ToolDecision): string {
  if (decision.verdict === "ask") return decision.approver === "owner" ? "!" : "?";
  return decision.verdict === "allow" ? "+" : "-";
}

function speakerOf(
  role: Role,
  channel = "telegram",
  chatType: "dm" | "group" = "dm",
  audience: Audience = role === "owner" && chatType === "dm" ? "owner" : "others",
): ToolUse["speaker"] {
  return { channel, senderId: "42", chatType, role, audience };
}

/** The part of a column that counts for this speaker. */
function columnFor(column: string, { role, audience }: ToolUse["speaker"]): string {
  const [inPrivate = "", amongOthers = inPrivate] = column.split("/");
  return role === "owner" && audience === "owner" ? inPrivate : amongOthers;
}

test("what a tool may do with a path follows the table, over every tool, path, role, mode and restriction", () => {
  let walked = 0;
  for (const [target, ...columns] of places) {
    for (const restrictToWorkspace of [true, false]) {
      const [read = "", asOwner = "", asGuest = ""] = columns.slice(restrictToWorkspace ? 0 : 3);
      for (const [index, executionMode] of modes.entries()) {
        const policy = createPolicy({ ...defaults, executionMode, restrictToWorkspace });
        for (const tool of builtinTools) {
          for (const role of ["owner", "guest"] as const) {
            for (const audience of ["owner", "others"] as const) {
              for (const kind of ["read", "write"] as const) {
                const speaker = speakerOf(role, "telegram", "dm", audience);
                const use: ToolUse = { tool, access: { kind, path: target }, folder, speaker };
                const decision = policy.mayUseTool(use);
                const isReader = tool.effect === "read";
                const written = columnFor(role === "owner" ? asOwner : asGuest, speaker)[index];
                const readable = columnFor(read, speaker)[index];
                const expected =
                  kind === "write" ? written : readLetter({ isReader, role, executionMode, target, read: readable });
                const what = `${tool.name} ${kind} ${target} as ${role} among ${audience}, ${executionMode}, restricted ${restrictToWorkspace}`;
                assert.equal(letterOf(decision), expected, what);
                if (decision.verdict === "deny") assert.match(decision.sentence, /^\S.*\.$/, what);
                if (decision.verdict === "ask") assert.ok(decision.what !== "" && decision.because !== "", what);
                walked++;
              }
            }
          }
        }
      }
    }
  }
  assert.equal(walked, places.length * 2 * 3 * builtinTools.length * 2 * 2 * 2);
});

function readLetter(row: {
  isReader: boolean;
  role: Role;
  executionMode: ExecutionMode;
  target: string;
  read: string | undefined;
}): string | undefined {
  if (row.executionMode === "safe" && !row.isReader) return "-";
  const isFar = row.target === "/" || row.target.startsWith("/srv/other");
  return isFar && row.role === "guest" ? "-" : row.read;
}

const reader: ToolTraits = { name: "web_fetch", effect: "read", risk: "access" };
const writer: ToolTraits = { name: "exec", effect: "write", risk: "access" };
const harmless: ToolTraits = { name: "plan", effect: "idempotent", risk: "none" };
const foreignReader: ToolTraits = { name: "mcp_x_look", effect: "read", risk: "call" };
const foreign: ToolTraits = { name: "mcp_x_do", effect: "write", risk: "call" };

const post: ToolAccess = { kind: "network", url: "https://example.org/in", sends: true };
const fetch: ToolAccess = { kind: "network", url: "https://example.org/page", sends: false };
const madeUp: ToolAccess = { kind: "network", url: "https://example.org/?q=x", sends: true, isAddressOnly: true };
const ownChat: ToolAccess = { kind: "chat", chat: "telegram:42", isOwn: true };
const otherChat: ToolAccess = { kind: "chat", chat: "telegram:99", isOwn: false };
const boxed: ToolAccess = { kind: "command", command: "ls -l", isSandboxed: true };
const wired: ToolAccess = { kind: "command", command: "ls -l", isSandboxed: true, hasNetwork: true };
const free: ToolAccess = { kind: "command", command: "ls -l", isSandboxed: false };
const call: ToolAccess = { kind: "call", input: { a: 1 } };
const job: ToolAccess = { kind: "schedule", detail: "add" };
const other: ToolAccess = { kind: "other", detail: "press the red button" };

/** Everything but paths, written down once more. Columns: clean, with text of others in the context, in a group. */
const uses: readonly (readonly [ToolTraits, ToolAccess, owner: string, guest: string])[] = [
  // tool        access      owner          guest
  [harmless, call, "-++ -++ -++", "-++ -++ -++"],
  [reader, call, "+++ +++ +++", "+++ +++ +++"],
  [writer, call, "-++ -++ -++", "-++ -++ -++"],
  [foreignReader, call, "+++ +++ +++", "+++ +++ +++"],
  [foreign, call, "-?+ -?? -??", "-!+ -!! -!!"],
  [reader, fetch, "+++ +++ +++", "+++ +++ +++"],
  [reader, post, "-?+ -?? -??", "-?+ -?? -!!"],
  [reader, madeUp, "+++ ??? ???", "+++ ??? !!!"],
  [writer, post, "-?+ -?? -??", "-?+ -?? -!!"],
  [writer, ownChat, "-++ -++ -++", "-++ -++ -++"],
  [writer, otherChat, "-?+ -?? -??", "--- --- ---"],
  [writer, boxed, "-++ -++ -++", "-++ -++ -++"],
  [writer, free, "-?+ -?? -??", "--- --- ---"],
  [writer, wired, "-?+ -?? -??", "--- --- ---"],
  [reader, other, "+++ +++ +++", "+++ +++ +++"],
  [writer, other, "-?+ -?? -??", "-!+ -!! -!!"],
  [writer, job, "-++ -?? -??", "-++ -?? -??"],
];

/** Every use of the table, with what is expected of it without rules and grants. */
function* walk(): Generator<{ use: ToolUse; executionMode: ExecutionMode; expected: string; what: string }> {
  for (const [tool, access, owner, guest] of uses)
    for (const [role, row] of [
      ["owner", owner],
      ["guest", guest],
    ] as const)
      for (const [column, letters] of row.split(" ").entries())
        for (const [index, executionMode] of modes.entries())
          for (const channel of ["telegram", "discord", "email", "webui", "cli"]) {
            const speaker = speakerOf(role, channel, column === 2 ? "group" : "dm");
            const outside = column === 1 ? ["https://example.org", "https://example.org"] : [];
            const use: ToolUse = { tool, access, folder, speaker, outside, chat: `${channel}:42`, files: [] };
            const what = `${tool.name} ${access.kind} as ${role} on ${channel}, column ${column}, ${executionMode}`;
            yield { use, executionMode, expected: letters[index] ?? "", what };
          }
}

test("what a tool may do otherwise follows the table, over sender, channel, chat, tool, address and context", () => {
  let walked = 0;
  for (const { use, executionMode, expected, what } of walk()) {
    assert.equal(letterOf(createPolicy({ ...defaults, executionMode }).mayUseTool(use)), expected, what);
    walked++;
  }
  assert.equal(walked, uses.length * 2 * 3 * 3 * 5);
});

test("while a plan waits for its go nothing but reading is done, whatever rules and approvals say", () => {
  let denied = 0;
  const grants = { covers: () => true };
  for (const rules of [[], [{ verdict: "allow" }]] as const)
    for (const { use, executionMode, what } of walk()) {
      const policy = createPolicy({ ...defaults, executionMode, rules, grants });
      const before = policy.mayUseTool(use);
      const decision = policy.mayUseTool({ ...use, isPlanning: true });
      const { access, tool } = use;
      const posts = access.kind === "network" && access.sends && access.isAddressOnly !== true;
      const sends = access.kind === "command" || access.kind === "chat" || posts;
      const isFree = tool === harmless || (tool.effect === "read" && !sends);
      if (isFree) assert.deepEqual(decision, before, what);
      else {
        assert.equal(letterOf(decision), "-", what);
        if (before.verdict === "deny" || decision.verdict !== "deny") continue;
        assert.match(decision.sentence, /waits for the person's go/, what);
        denied++;
      }
    }
  assert.ok(denied > 500, `${denied}`);
});

test("who may use which chat command follows the table", () => {
  const rows: readonly (readonly [CommandAct, string])[] = [
    // owner: among owners, among others; guest's own: the same; guest's of others: the same
    ["look", "++ ++ ++"],
    ["plan", "++ ++ --"],
    ["jobs", "++ ++ --"],
    ["skills", "++ -- --"],
    ["pairing", "+- -- --"],
    ["totals", "+- -- --"],
  ];
  const { mayCommand } = createPolicy(defaults);
  for (const [act, row] of rows)
    for (const [column, letters] of row.split(" ").entries())
      for (const [index, audience] of (["owner", "others"] as const).entries()) {
        const speaker = { role: column === 0 ? "owner" : "guest", audience } as const;
        const refusal = mayCommand({ act, speaker, isOwn: column === 1 });
        const what = `${act} as ${speaker.role}, column ${column}, ${audience}`;
        assert.equal(refusal === undefined ? "+" : "-", letters[index], what);
        if (refusal !== undefined) assert.match(refusal, /^[A-Z].*\.$/, what);
      }
});

test("what was allowed for always is not asked again, except for what others may have brought about", () => {
  const grants = { covers: () => true };
  for (const { use, executionMode, expected, what } of walk()) {
    const byOthers = (use.outside?.length ?? 0) > 0 || use.speaker.chatType === "group";
    const decision = createPolicy({ ...defaults, executionMode, grants }).mayUseTool(use);
    const helps = !byOthers && use.speaker.role === "owner";
    assert.equal(letterOf(decision), expected === "?" && helps ? "+" : expected, what);
    const asked = createPolicy({ ...defaults, executionMode }).mayUseTool(use);
    if (asked.verdict === "ask") assert.equal(asked.canGrant, helps, `${what}: "always" is offered where it helps`);
  }
});

test("a rule decides everything but what no rule can change", () => {
  const grants = { covers: () => true };
  for (const verdict of ["allow", "ask", "deny"] as const)
    for (const { use, executionMode, expected, what } of walk()) {
      const decision = createPolicy({ ...defaults, executionMode, rules: [{ verdict }], grants }).mayUseTool(use);
      // Such a tool names what it does one by one: each of those is decided on, and the call is not asked about twice.
      const isFrame = use.access.kind === "call" && use.tool.risk === "access" && verdict !== "deny";
      const isHard = expected === "-";
      const letters = { allow: "+", ask: use.speaker.role === "owner" ? "?" : "!", deny: "-" } as const;
      assert.equal(letterOf(decision), isHard ? "-" : isFrame ? "+" : letters[verdict], `${what}, rule ${verdict}`);
    }
  for (const [target, ...columns] of places)
    for (const role of ["owner", "guest"] as const)
      for (const audience of ["owner", "others"] as const) {
        const policy = createPolicy({ ...defaults, executionMode: "ask", rules: [{ verdict: "allow" }], grants });
        const access = { kind: "write", path: target } as const;
        const tool = { name: "write_file", effect: "idempotent", risk: "access" } as const;
        const speaker = speakerOf(role, "telegram", "dm", audience);
        const column = columnFor((role === "owner" ? columns[1] : columns[2]) ?? "", speaker);
        // Where others have a say, no rule speaks for them in what steers the assistant.
        const expected = column[1] === "-" ? "-" : column[2] === "?" ? "?" : "+";
        assert.equal(letterOf(policy.mayUseTool({ tool, access, folder, speaker })), expected, target);
      }
});

test("what steers the assistant is never allowed for always, and asks in every mode while others speak", () => {
  const tool = { name: "write_file", effect: "idempotent", risk: "access" } as const;
  for (const name of [
    "AGENTS.md",
    "SOUL.md",
    "GUESTS.md",
    "memory/MEMORY.md",
    "memory/heartbeat.md",
    "skills/a/SKILL.md",
  ])
    for (const executionMode of ["ask", "auto"] as const)
      for (const outside of [[], ["https://example.org"]])
        for (const rules of [[], [{ verdict: "allow" }]] as const) {
          const access = { kind: "write", path: `${workspace}/${name}` } as const;
          const grants = { covers: () => true };
          const use = { tool, access, folder, speaker: speakerOf("owner"), outside };
          const decision = createPolicy({ ...defaults, executionMode, rules, grants }).mayUseTool(use);
          const isFree = outside.length === 0 && (executionMode === "auto" || rules.length > 0);
          assert.equal(letterOf(decision), isFree ? "+" : "?", `${name} ${executionMode} ${outside} ${rules.length}`);
          if (decision.verdict === "ask") assert.equal(decision.canGrant, false, name);
        }
});

test("of the rules that match the last one counts, and each part of a rule has to match", () => {
  const write = (path: string, rules: readonly PolicyRule[], more: Partial<ToolUse> = {}) => {
    const tool = { name: "write_file", effect: "idempotent", risk: "access" } as const;
    const use: ToolUse = { tool, access: { kind: "write", path }, folder, speaker: speakerOf("owner"), ...more };
    return letterOf(createPolicy({ ...defaults, rules }).mayUseTool(use));
  };
  const notes = `${workspace}/notes/a.md`;
  const allow = { verdict: "allow" } as const;
  assert.equal(write(notes, [{ tool: "write_*", ...allow }]), "+");
  assert.equal(write(notes, [{ tool: "write_*", ...allow }, { verdict: "deny" }]), "-");
  assert.equal(write(notes, [{ verdict: "deny" }, { tool: "write_file", ...allow }]), "+");
  for (const argument of [notes, `${workspace}/notes/*`, "notes/*", "notes/?.md", "*.md"])
    assert.equal(write(notes, [{ argument, ...allow }]), "+", argument);
  for (const argument of ["notes", "notes/", "a.md", "notes/*.txt", "NOTES/*", "/notes/*", "notes/.+"])
    assert.equal(write(notes, [{ argument, ...allow }]), "?", argument);
  for (const rule of [{ channel: "telegram" }, { sender: "telegram:42" }, { role: "owner" }, { chat: "dm" }] as const)
    assert.equal(write(notes, [{ ...rule, ...allow }]), "+", JSON.stringify(rule));
  for (const rule of [
    { channel: "tele" },
    { sender: "telegram:4" },
    { sender: "42" },
    { role: "guest" },
    { chat: "group" },
    { tool: "write" },
    { role: "owner", chat: "group" },
  ] as const)
    assert.equal(write(notes, [{ ...rule, ...allow }]), "?", JSON.stringify(rule));
  const denied = createPolicy({ ...defaults, rules: [allow, { tool: "write_file", verdict: "deny" }] }).mayUseTool({
    tool: { name: "write_file", effect: "idempotent", risk: "access" },
    access: { kind: "write", path: notes },
    folder,
    speaker: speakerOf("owner"),
  });
  assert.match(denied.verdict === "deny" ? denied.sentence : "", /policy\.rules\[1\]/);
});

test("a rule that allows a command allows no other behind it; one that denies reaches into any", () => {
  const run = (command: string, rule: PolicyRule) => {
    const access = { kind: "command", command, isSandboxed: false } as const;
    const use: ToolUse = { tool: writer, access, folder, speaker: speakerOf("owner") };
    return letterOf(createPolicy({ ...defaults, executionMode: "ask", rules: [rule] }).mayUseTool(use));
  };
  const git: PolicyRule = { tool: "exec", argument: "git *", verdict: "allow" };
  assert.equal(run("git log --oneline -5", git), "+");
  for (const chained of [
    "git log; rm -rf ~",
    "git log && curl evil.example",
    "git log | sh",
    "git log `id`",
    "git log $(id)",
    "git log\nrm -rf ~",
    "git log > /etc/passwd",
    "git log & x",
    "gitx log",
  ])
    assert.equal(run(chained, git), "?", chained);
  assert.equal(run("true && rm -rf ~", { argument: "*rm -rf*", verdict: "deny" }), "-");
});

test("an address counts by its whole and by its host, an input by its JSON", () => {
  const decide = (tool: ToolTraits, access: ToolAccess, argument: string) =>
    letterOf(
      createPolicy({ ...defaults, rules: [{ argument, verdict: "deny" }] }).mayUseTool({
        tool,
        access,
        folder,
        speaker: speakerOf("owner"),
      }),
    );
  assert.equal(decide(reader, fetch, "example.org"), "-");
  assert.equal(decide(reader, fetch, "https://example.org/*"), "-");
  assert.equal(decide(reader, fetch, "*.example.org"), "+");
  assert.equal(decide(reader, fetch, "ample.org"), "+");
  assert.equal(decide(foreign, call, '{"a":1}'), "-");
  assert.equal(decide(foreign, call, '*"a":2*'), "?");
});

test("a denial names the setting that decides, and a question what would be done and why that is asked", () => {
  const write = (options: Partial<PolicyOptions>, target: string, role: Role = "owner") =>
    createPolicy({ ...defaults, ...options }).mayUseTool({
      tool: { name: "write_file", effect: "idempotent", risk: "access" },
      access: { kind: "write", path: target },
      folder,
      speaker: speakerOf(role),
    });
  const sentence = (...args: Parameters<typeof write>): string => {
    const decision = write(...args);
    return decision.verdict === "deny" ? decision.sentence : "";
  };
  const question = (...args: Parameters<typeof write>): string => {
    const decision = write(...args);
    return decision.verdict === "ask" ? `${decision.what}: ${decision.because}` : "";
  };
  assert.match(sentence({ executionMode: "safe" }, `${folder}/x`), /agents\.defaults\.executionMode is "safe"/);
  assert.equal(question({}, `${workspace}/x`), "write x: that is outside of this chat's own folder");
  assert.equal(question({}, `${workspace}/SOUL.md`), "write SOUL.md: that steers the assistant");
  assert.match(sentence({ executionMode: "auto" }, `${workspace}/SOUL.md`, "guest"), /"owners"/);
  assert.match(sentence({}, "/srv/other/x"), /tools\.restrictToWorkspace/);
  const told = createPolicy({ ...defaults, executionMode: "auto" }).mayUseTool({
    tool: reader,
    access: post,
    folder,
    speaker: speakerOf("owner"),
    outside: ["https://example.org/page"],
  });
  assert.match(told.verdict === "ask" ? told.because : "", /others wrote: https:\/\/example\.org\/page; \/new/);
});

test("what others wrote is known by its place: files that were sent, and results kept from outside", () => {
  const policy = createPolicy(defaults);
  const of = (file: string) => policy.outsideOf(file, folder);
  assert.equal(of(`${folder}/received/1a2b3c4d-report.pdf`), "the file report.pdf");
  assert.equal(of(`${folder}/tool-results/outside/web_fetch-1.txt`), "the result in web_fetch-1.txt");
  for (const ours of [
    `${folder}/notes.txt`,
    `${folder}/tool-results/read_file-1.txt`,
    `${workspace}/AGENTS.md`,
    `${folder}/received-not/x`,
    `${workspace}/.sessions/telegram_43/tool-results/outside/x`,
  ])
    assert.equal(of(ours), undefined, ours);
});

/** What happens to reading a file, as {@link letterOf} writes it. */
function readingOf(options: Partial<PolicyOptions>, file: string, more: Partial<ToolUse> = {}): string {
  const use: ToolUse = {
    tool: { name: "read_file", effect: "read", risk: "access" },
    access: { kind: "read", path: file },
    folder,
    speaker: speakerOf("owner"),
    ...more,
  };
  return letterOf(createPolicy({ ...defaults, ...options }).mayUseTool(use));
}

test("a folder that is not a session's own opens nothing", () => {
  const target = `${workspace}/.sessions/telegram_43/x`;
  for (const wide of [
    workspace,
    `${workspace}/.sessions`,
    "/",
    "/srv",
    `${workspace}/.sessions/..`,
    `${workspace}/.sessions/a/b`,
  ])
    assert.equal(readingOf({}, target, { folder: wide }), "-", wide);
});

test("when the home is the workspace, or in it, what is the gateway's own stays closed", () => {
  const tokens = ["config.json", "Config.yaml", "secrets.json", "mcp-auth.json", "browser/telegram_42/Default/Cookies"];
  for (const home of [workspace, `${workspace}/home`])
    for (const name of [
      ...tokens,
      "packages/p1/load.mjs",
      "cache/code/v22/x",
      "journal/0001",
      "logs/maxclaw.log",
      "terminals/0123/tmp/x",
    ])
      assert.equal(
        readingOf({ home, executionMode: "auto", rules: [{ verdict: "allow" }] }, `${home}/${name}`),
        "-",
        name,
      );
});

test("a skills folder that is a link still steers where it truly lies", () => {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), "maxclaw-policy-")));
  try {
    mkdirSync(path.join(root, "my-skills"));
    symlinkSync("my-skills", path.join(root, "skills"));
    const policy = createPolicy({ ...defaults, workspace: root, executionMode: "auto" });
    const access = { kind: "write", path: path.join(root, "my-skills/x.md") } as const;
    const use = { tool: writer, access, folder: path.join(root, ".sessions/a") } as const;
    assert.equal(policy.mayUseTool({ ...use, speaker: speakerOf("guest") }).verdict, "deny");
    assert.equal(policy.mayUseTool({ ...use, speaker: speakerOf("owner") }).verdict, "allow");
  } finally {
    rmSync(root, { recursive: true });
  }
});

test("a memory folder that is a link is the owner's where it truly lies", () => {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), "maxclaw-policy-")));
  try {
    mkdirSync(path.join(root, "my-notes"));
    symlinkSync("my-notes", path.join(root, "memory"));
    const file = path.join(root, "my-notes/MEMORY.md");
    const options = { workspace: root, executionMode: "auto" } as const;
    assert.equal(readingOf(options, file), "+");
    assert.equal(readingOf(options, file, { speaker: speakerOf("guest") }), "-");
  } finally {
    rmSync(root, { recursive: true });
  }
});

test("the owner's memory is for owners among themselves; a chat's own is for everyone there", () => {
  /** Read and write per mode safe, ask, auto: clean, with text of others in the context. */
  const rows: readonly (readonly [ToolUse["speaker"], owner: string, chat: string])[] = [
    [speakerOf("owner"), "+++ -++ +++ -??", "+++ -++ +++ -??"],
    [speakerOf("owner", "telegram", "dm", "others"), "--- --- --- ---", "+++ -++ +++ -??"],
    [speakerOf("owner", "telegram", "group"), "--- --- --- ---", "+++ -++ +++ -++"],
    [speakerOf("guest"), "--- --- --- ---", "+++ -++ +++ -??"],
    [speakerOf("guest", "telegram", "dm", "owner"), "--- --- --- ---", "+++ -++ +++ -??"],
    [speakerOf("guest", "telegram", "group"), "--- --- --- ---", "+++ -++ +++ -++"],
  ];
  for (const [speaker, ...columns] of rows)
    for (const [which, of] of (["owner", "chat"] as const).entries())
      for (const [index, executionMode] of modes.entries())
        for (const [column, letters] of (columns[which] ?? "").split(" ").entries()) {
          const access = column % 2 === 0 ? "read" : "write";
          const decision = createPolicy({ ...defaults, executionMode }).mayUseTool({
            tool: { name: `memory_${access}`, effect: access === "read" ? "read" : "idempotent", risk: "access" },
            access: { kind: "memory", access, of },
            folder,
            speaker,
            outside: column < 2 ? [] : ["https://example.org"],
          });
          const what = `${JSON.stringify(speaker)} ${of} ${executionMode} ${access} ${column}`;
          assert.equal(letterOf(decision), letters[index], what);
        }
});
