import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { createPolicy, type PolicyOptions, type Role, type Speaker } from "../../src/policy/policy.js";
import { builtinTools } from "../../src/tools/builtin.js";

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

test("an owner of one channel is nobody special on another", () => {
  const policy = createPolicy({ ...defaults, owners: ["telegram:42"], channels: { discord: { allowFrom: ["*"] } } });
  const role = (channel: string) => {
    const decision = policy.maySpeak({ channel, senderId: "42", chatType: "dm", addressed: true }, () => false);
    return decision.allowed && decision.role;
  };
  assert.equal(role("telegram"), "owner");
  assert.equal(role("discord"), "guest");
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
 * What a path is, written down once more. Letters per mode safe, ask, auto; `+` allowed, `-` denied.
 * Columns: reading · writing as owner · writing as guest, each for restricted and unrestricted tools.
 */
const places: readonly (readonly [string, string, string, string, string, string, string])[] = [
  // path                       read     owner    guest    | read   owner  guest when not restricted
  [`${folder}/notes.txt`, "+++", "-++", "-++", "+++", "-++", "-++"],
  [`${folder}`, "+++", "-++", "-++", "+++", "-++", "-++"],
  [`${folder}/.env`, "+++", "-++", "-++", "+++", "-++", "-++"],
  [`${folder}/skills/x.md`, "+++", "-++", "-++", "+++", "-++", "-++"],
  [`${folder}/AGENTS.md`, "+++", "-++", "-++", "+++", "-++", "-++"],
  [workspace, "+++", "--+", "--+", "+++", "--+", "--+"],
  [`${workspace}/notes.txt`, "+++", "--+", "--+", "+++", "--+", "--+"],
  [`${workspace}/a/b/notes.txt`, "+++", "--+", "--+", "+++", "--+", "--+"],
  [`${workspace}/a/AGENTS.md`, "+++", "--+", "--+", "+++", "--+", "--+"],
  [`${workspace}/memory/MEMORY.md`, "+++", "--+", "--+", "+++", "--+", "--+"],
  [`${workspace}/memory/heartbeat.md`, "+++", "--+", "---", "+++", "--+", "---"],
  [`${workspace}/AGENTS.md`, "+++", "--+", "---", "+++", "--+", "---"],
  [`${workspace}/agents.MD`, "+++", "--+", "---", "+++", "--+", "---"],
  [`${workspace}/CLAUDE.md`, "+++", "--+", "---", "+++", "--+", "---"],
  [`${workspace}/SOUL.md`, "+++", "--+", "---", "+++", "--+", "---"],
  [`${workspace}/USER.md`, "+++", "--+", "---", "+++", "--+", "---"],
  [`${workspace}/config.json`, "+++", "--+", "---", "+++", "--+", "---"],
  [`${workspace}/config.yaml`, "+++", "--+", "---", "+++", "--+", "---"],
  [`${workspace}/skills/x.md`, "+++", "--+", "---", "+++", "--+", "---"],
  [`${workspace}/Skills/deep/SKILL.md`, "+++", "--+", "---", "+++", "--+", "---"],
  [`${workspace}/.skills_state.json`, "+++", "--+", "---", "+++", "--+", "---"],
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
  ["/srv/other/x", "---", "---", "---", "+++", "--+", "---"],
  ["/", "---", "---", "---", "+++", "--+", "---"],
];

test("what a tool may do follows the table, over every tool, path, role, mode and restriction", () => {
  const modes = ["safe", "ask", "auto"] as const;
  let walked = 0;
  for (const [target, ...columns] of places) {
    for (const restrictToWorkspace of [true, false]) {
      const [read = "", asOwner = "", asGuest = ""] = columns.slice(restrictToWorkspace ? 0 : 3);
      for (const [index, executionMode] of modes.entries()) {
        const policy = createPolicy({ ...defaults, executionMode, restrictToWorkspace });
        for (const tool of builtinTools) {
          for (const role of ["owner", "guest"] as const) {
            for (const kind of ["read", "write"] as const) {
              const decision = policy.mayUseTool({
                toolName: tool.name,
                effect: tool.effect,
                access: { kind, path: target },
                folder,
                role,
              });
              const expected = expectation({
                kind,
                role,
                safeTool: tool.effect === "read",
                executionMode,
                target,
                read,
                asOwner,
                asGuest,
                index,
              });
              const what = `${tool.name} ${kind} ${target} as ${role}, ${executionMode}, restricted ${restrictToWorkspace}`;
              assert.equal(decision.allowed, expected, what);
              if (!decision.allowed) assert.match(decision.sentence, /^\S.*\.$/, what);
              walked++;
            }
          }
        }
      }
    }
  }
  assert.equal(walked, places.length * 2 * 3 * builtinTools.length * 2 * 2);
});

function expectation(row: {
  kind: "read" | "write";
  role: Role;
  safeTool: boolean;
  executionMode: string;
  target: string;
  read: string;
  asOwner: string;
  asGuest: string;
  index: number;
}): boolean {
  if (row.kind === "write") return (row.role === "owner" ? row.asOwner : row.asGuest)[row.index] === "+";
  if (row.executionMode === "safe" && !row.safeTool) return false;
  const isFar = row.target === "/" || row.target.startsWith("/srv/other");
  return row.read[row.index] === "+" && !(isFar && row.role === "guest");
}

test("what is neither reading nor writing a file is free for reading tools and needs auto for others", () => {
  const access = { kind: "other", detail: "post to example.org" } as const;
  const allowed = (executionMode: "safe" | "ask" | "auto", effect: "read" | "idempotent" | "write") =>
    createPolicy({ ...defaults, executionMode }).mayUseTool({
      toolName: "mcp_x_y",
      effect,
      access,
      folder,
      role: "owner",
    }).allowed;
  assert.deepEqual(
    (["safe", "ask", "auto"] as const).map((mode) => allowed(mode, "read")),
    [true, true, true],
  );
  for (const effect of ["idempotent", "write"] as const) {
    assert.deepEqual(
      (["safe", "ask", "auto"] as const).map((mode) => allowed(mode, effect)),
      [false, false, true],
    );
  }
});

test("a denial names the setting that decides", () => {
  const sentence = (options: Partial<PolicyOptions>, target: string, role: Role = "owner") => {
    const access = { kind: "write", path: target } as const;
    const decision = createPolicy({ ...defaults, ...options }).mayUseTool({
      toolName: "write_file",
      effect: "idempotent",
      access,
      folder,
      role,
    });
    return decision.allowed ? "" : decision.sentence;
  };
  assert.match(sentence({ executionMode: "safe" }, `${folder}/x`), /agents\.defaults\.executionMode is "safe"/);
  assert.match(sentence({}, `${workspace}/x`), /Writing x, .*agents\.defaults\.executionMode is "auto"/);
  assert.match(sentence({}, `${workspace}/SOUL.md`), /steers the assistant.*executionMode/);
  assert.match(sentence({ executionMode: "auto" }, `${workspace}/SOUL.md`, "guest"), /"owners"/);
  assert.match(sentence({}, "/srv/other/x"), /tools\.restrictToWorkspace/);
});

test("a folder that is no session's own opens nothing", () => {
  const target = `${workspace}/.sessions/telegram_43/x`;
  for (const wide of [
    workspace,
    `${workspace}/.sessions`,
    "/",
    "/srv",
    `${workspace}/.sessions/..`,
    `${workspace}/.sessions/a/b`,
  ]) {
    const access = { kind: "read", path: target } as const;
    const decision = createPolicy(defaults).mayUseTool({
      toolName: "read_file",
      effect: "read",
      access,
      folder: wide,
      role: "owner",
    });
    assert.equal(decision.allowed, false, wide);
  }
});

test("what a chat was sent may be read by that chat, and only that file", () => {
  const read = (file: string) =>
    createPolicy(defaults).mayUseTool({
      toolName: "read_file",
      effect: "read",
      access: { kind: "read", path: file },
      folder,
      role: "guest",
      readable: [`${workspace}/.uploads/a/mine.pdf`],
    }).allowed;
  assert.equal(read(`${workspace}/.uploads/a/mine.pdf`), true);
  assert.equal(read(`${workspace}/.uploads/a/other.pdf`), false);
  assert.equal(read(`${workspace}/.uploads/a`), false);
});

test("when the home is the workspace, or in it, config, secrets and journal stay closed", () => {
  for (const home of [workspace, `${workspace}/home`]) {
    const policy = createPolicy({ ...defaults, home, executionMode: "auto" });
    for (const name of ["config.json", "Config.yaml", "secrets.json", "journal/0001"]) {
      const access = { kind: "read", path: `${home}/${name}` } as const;
      assert.equal(
        policy.mayUseTool({ toolName: "read_file", effect: "read", access, folder, role: "owner" }).allowed,
        false,
        name,
      );
    }
  }
});

test("a skills folder that is a link still steers where it truly lies", () => {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), "maxclaw-policy-")));
  try {
    mkdirSync(path.join(root, "my-skills"));
    symlinkSync("my-skills", path.join(root, "skills"));
    const policy = createPolicy({ ...defaults, workspace: root, executionMode: "auto" });
    const access = { kind: "write", path: path.join(root, "my-skills/x.md") } as const;
    const use = { toolName: "write_file", effect: "write", access, folder: path.join(root, ".sessions/a") } as const;
    assert.equal(policy.mayUseTool({ ...use, role: "guest" }).allowed, false);
    assert.equal(policy.mayUseTool({ ...use, role: "owner" }).allowed, true);
  } finally {
    rmSync(root, { recursive: true });
  }
});

test("the memory is the owner's, and in a group only the chat itself is the past", () => {
  const rows = [
    // role, group, read, write per mode safe, ask, auto
    ["owner", false, "+++", "-++"],
    ["owner", true, "---", "-++"],
    ["guest", false, "---", "---"],
    ["guest", true, "---", "---"],
  ] as const;
  for (const [role, isGroup, read, write] of rows)
    for (const [index, executionMode] of (["safe", "ask", "auto"] as const).entries())
      for (const access of ["read", "write"] as const) {
        const { allowed } = createPolicy({ ...defaults, executionMode }).mayUseTool({
          toolName: `memory_${access}`,
          effect: access === "read" ? "read" : "idempotent",
          access: { kind: "memory", access },
          folder,
          role,
          isGroup,
        });
        assert.equal(
          allowed,
          (access === "read" ? read : write)[index] === "+",
          `${role} ${isGroup} ${executionMode} ${access}`,
        );
      }
});
