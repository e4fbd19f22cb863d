import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import type { BoundFile, ToolAccess, ToolUse } from "../../../src/policy/access.js";
import { filesOfCommand } from "../../../src/policy/commands/command-files.js";
import { createGrants, type Grants, scopeOf } from "../../../src/policy/grants.js";
import { shareRecords } from "../../support/engine/histories/shared-records.js";

async function newGrants(stored: Readonly<Record<string, unknown>> = {}): Promise<Grants> {
  const records = shareRecords().node();
  for (const [id, value] of Object.entries(stored)) await records.put(id, value);
  return createGrants(records, { now: () => Date.UTC(2026, 10, 22) });
}

const speaker = { channel: "telegram", senderId: "1", chatType: "dm", role: "owner", audience: "owner" } as const;
const base: ToolUse = {
  tool: { name: "exec", effect: "write", risk: "access" },
  access: { kind: "command", command: "sh run.sh", isSandboxed: false },
  folder: "/srv/ws/.sessions/telegram_1",
  speaker,
  chat: "telegram:1",
  files: [{ path: "/srv/ws/.sessions/telegram_1/run.sh", sha256: "a1" }],
};

const command = (text: string, more: Partial<Extract<ToolAccess, { kind: "command" }>> = {}): ToolAccess => ({
  kind: "command",
  command: text,
  isSandboxed: false,
  ...more,
});

test("an always holds for the same thing, the same contents, the same chat and the same person, and for nothing else", async () => {
  const grants = await newGrants();
  await grants.add(base, "telegram:1");
  assert.ok(grants.covers(base));
  assert.ok(grants.covers({ ...base, files: [...(base.files ?? [])] }));
  const other: readonly Partial<ToolUse>[] = [
    { tool: { ...base.tool, name: "mcp_exec" } },
    { access: command("sh run.sh ") },
    { access: command("sh  run.sh") },
    { access: command("sh run.sh", { isSandboxed: true, hasNetwork: true }) },
    { files: [{ path: "/srv/ws/.sessions/telegram_1/run.sh", sha256: "b2" }] },
    { files: [] },
    { files: [...(base.files ?? []), { path: "/srv/ws/x", sha256: "c3" }] },
    { files: undefined },
    { chat: "telegram:2" },
    { chat: "webui:1" },
    { chat: undefined },
    { speaker: { ...base.speaker, senderId: "2" } },
    { speaker: { ...base.speaker, channel: "discord" } },
  ];
  for (const change of other) assert.ok(!grants.covers({ ...base, ...change }), JSON.stringify(change));
});

test("an always for a call holds for its whole input, in whatever order its fields come", async () => {
  const grants = await newGrants();
  const tool = { name: "mcp_x_do", effect: "write", risk: "call" } as const;
  const call = (input: unknown): ToolUse => ({ ...base, tool, access: { kind: "call", input }, files: undefined });
  const grant = await grants.add(call({ b: [{ y: 1, x: 2 }], a: "1" }), "telegram:1");
  assert.equal(grant?.argument, '{"a":"1","b":[{"x":2,"y":1}]}');
  assert.ok(grants.covers(call({ a: "1", b: [{ x: 2, y: 1 }] })));
  for (const input of [{}, { a: "1" }, { a: "1", b: [{ x: 2, y: 2 }] }, { a: "1", b: [{ x: 2, y: 1 }], c: null }])
    assert.ok(!grants.covers(call(input)), JSON.stringify(input));
});

test("what cannot be told again cannot be allowed for always", async () => {
  const grants = await newGrants();
  const unbound: readonly Partial<ToolUse>[] = [
    { files: undefined },
    { chat: undefined },
    { access: command("cd x && sh run.sh") },
    { access: command("sh $X") },
    { access: command("PATH=. ls") },
    // These look into the folder for what to run.
    { access: command("make") },
    { access: command("npm test") },
    { access: command("git status") },
    { access: command("/usr/bin/git status") },
  ];
  for (const change of unbound) {
    assert.equal(scopeOf({ ...base, ...change }), undefined, JSON.stringify(change));
    assert.equal(await grants.add({ ...base, ...change }, "telegram:1"), undefined);
    assert.ok(!grants.covers({ ...base, ...change }));
  }
  // In the sandbox they can write nothing but the chat's own folder.
  const boxed = command("cd x && sh run.sh", { isSandboxed: true, hasNetwork: true });
  assert.notEqual(scopeOf({ ...base, access: boxed }), undefined);
  assert.deepEqual(grants.list(), []);
});

test("what an earlier version has allowed allows nothing any more, is listed as old, and can be revoked", async () => {
  const old = {
    tool: "mcp_x_do",
    kind: "call",
    argument: "",
    for: "owner",
    grantedBy: "telegram:1",
    grantedAt: "2026-11-01T00:00:00.000Z",
  };
  const grants = await newGrants({
    allow_00000000: old,
    allow_11111111: { ...old, kind: "command", argument: "sh run.sh" },
  });
  const tool = { name: "mcp_x_do", effect: "write", risk: "call" } as const;
  assert.ok(!grants.covers({ ...base, tool, access: { kind: "call", input: {} } }));
  assert.ok(!grants.covers(base));
  assert.deepEqual(
    grants.list().map(({ id, isOld }) => [id, isOld]),
    [
      ["allow_00000000", true],
      ["allow_11111111", true],
    ],
  );
  assert.equal((await grants.revoke("allow_00000000"))?.isOld, true);
  assert.equal(await grants.revoke("allow_00000000"), undefined);
  assert.equal(grants.list().length, 1);
});

test("the files that a command names in the workspace are known by what they hold", async () => {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), "maxclaw-files-")));
  try {
    const workspace = path.join(root, "ws");
    const folder = path.join(workspace, ".sessions", "telegram_1");
    mkdirSync(path.join(folder, "sub"), { recursive: true });
    const put = (name: string, text: string | Buffer) => writeFileSync(path.join(folder, name), text);
    const of = (text: string) => filesOfCommand({ command: text }, { folder, workspace });
    const names = (files: readonly BoundFile[] | undefined) => files?.map((file) => path.relative(folder, file.path));
    put("run.sh", "echo 1");
    put("sub/b.cfg", "x");
    writeFileSync(path.join(workspace, "shared.py"), "1");
    assert.deepEqual(names(await of("sh run.sh")), ["run.sh"]);
    assert.deepEqual(names(await of("sh ./run.sh missing /bin/sh sub")), ["run.sh"]);
    assert.deepEqual(names(await of("python3 ../../shared.py --config=sub/b.cfg")), ["sub/b.cfg", "../../shared.py"]);
    assert.deepEqual(names(await of("cd x; 'run.sh'&&cat<sub/b.cfg")), ["run.sh", "sub/b.cfg"]);
    assert.deepEqual(names(await of(`sh ${folder}/run.sh`)), ["run.sh"]);
    assert.equal(
      await filesOfCommand({ command: "sh run.sh", cwd: `${folder}/sub` }, { folder, workspace }),
      undefined,
    );
    assert.deepEqual(names(await filesOfCommand({ command: "sh run.sh", cwd: folder }, { folder, workspace })), [
      "run.sh",
    ]);
    // Other contents, or a file where none was, are another command.
    const before = JSON.stringify(await of("sh run.sh late.sh"));
    put("run.sh", "echo 2");
    assert.notEqual(JSON.stringify(await of("sh run.sh late.sh")), before);
    put("run.sh", "echo 1");
    assert.equal(JSON.stringify(await of("sh run.sh late.sh")), before);
    put("late.sh", "id");
    assert.notEqual(JSON.stringify(await of("sh run.sh late.sh")), before);
    // A link that others may turn elsewhere counts by what is behind it.
    const target = path.join(root, "outside.sh");
    writeFileSync(target, "echo 1");
    symlinkSync(target, path.join(folder, "link.sh"));
    const linked = JSON.stringify(await of("sh link.sh"));
    assert.match(linked, /link\.sh/);
    writeFileSync(target, "echo 2");
    assert.notEqual(JSON.stringify(await of("sh link.sh")), linked);
    // What cannot be known, without waiting for a pipe.
    execFileSync("mkfifo", [path.join(folder, "pipe")]);
    assert.equal(await of("cat pipe"), undefined);
    put("large.bin", Buffer.alloc(5 * 1024 * 1024));
    assert.equal(await of("cat large.bin"), undefined);
    for (let index = 0; index < 25; index += 1) put(`many${index}`, "x");
    assert.equal(await of(`cat ${Array.from({ length: 25 }, (_, index) => `many${index}`).join(" ")}`), undefined);
    assert.equal(await of(`echo ${Array.from({ length: 300 }, (_, index) => `w${index}`).join(" ")}`), undefined);
  } finally {
    rmSync(root, { recursive: true });
  }
});

test("of two nodes that take a grant back at once one has done it, and the same yes on both is one grant", async () => {
  const shared = shareRecords();
  const times = [Date.UTC(2026, 10, 22), Date.UTC(2026, 10, 23)];
  const nodes = times.map((at) => createGrants(shared.node(), { now: () => at }));
  const given = await Promise.all(nodes.map((node) => node.add(base, "telegram:1")));
  assert.deepEqual(given[0], given[1]);
  shared.refresh();
  const revoked = await Promise.all(nodes.map((node) => node.revoke(given[0]?.id ?? "")));
  assert.equal(revoked.filter((grant) => grant !== undefined).length, 1);
});
