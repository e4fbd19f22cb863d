import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { editConfig, readRaw } from "../../../src/config/edit.js";
import { saveSecrets } from "../../../src/config/secrets-file.js";
import { settingPath } from "../../../src/config/settings/one-setting.js";
import { ConfigError } from "../../../src/errors.js";
import { systemSentence } from "../../../src/util/files/system-fault.js";

let folder = "";
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "maxclaw-edit-"));
});
after(() => rm(folder, { recursive: true }));

const add = { path: ["tools", "mcpServers", "new"], value: { command: "run" } };

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text, { mode: 0o644 });
  return path;
}

test("one key changes; order, variables and what nobody knows stay, and only the owner can read it", async () => {
  const path = await file(
    "a.json",
    '{"zeta":"\u0024{KEY}","tools":{"web":{"x":1},"mcpServers":{"old":{"command":"o"}}},"alpha":[1,2]}',
  );
  await editConfig(path, [add]);
  const root = JSON.parse(await readFile(path, "utf8"));
  assert.deepEqual(Object.keys(root), ["zeta", "tools", "alpha"]);
  assert.equal(root.zeta, "\u0024{KEY}");
  assert.deepEqual(root.tools, { web: { x: 1 }, mcpServers: { old: { command: "o" }, new: { command: "run" } } });
  assert.match(await readFile(path, "utf8"), /^\{"zeta":.*"alpha":\[1,2\]\}\n$/s, "its layout stays, too");
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  await editConfig(path, [{ path: ["tools", "mcpServers", "old"] }]);
  assert.equal(await readRaw(path, ["tools", "mcpServers", "old"]), undefined);
});

test("a file that is not there is made", async () => {
  const path = join(folder, "made.json");
  await editConfig(path, [add]);
  assert.deepEqual(JSON.parse(await readFile(path, "utf8")), { tools: { mcpServers: { new: { command: "run" } } } });
});

test("comments and order of YAML stay", async () => {
  const path = await file("a.yaml", "# mine\nzeta: 1 # one\ntools:\n  exec: { timeout: 9 }\n");
  await editConfig(path, [add]);
  const text = await readFile(path, "utf8");
  assert.match(
    text,
    /^# mine\nzeta: 1 # one\ntools:\n {2}exec: \{ timeout: 9 \}\n {2}mcpServers:\n {4}new:\n {6}command: run\n$/,
  );
});

const commented = [
  "{",
  "  // who answers",
  '  "agents": { "defaults": { "model": "a/b" /* the good one */ } }, // keep',
  "  'owners': [",
  "    12345678901234567890, // me",
  '    "telegram:2",',
  "  ],",
  "  /* nothing else */",
  "  tools: { exec: { timeout: 0x10, }, },",
  "}",
  "// the end",
  "",
].join("\n");

test("comments, trailing commas, long numbers and the layout of JSON stay", async () => {
  const path = await file("commented.json", commented);
  await editConfig(path, [{ path: ["agents", "defaults", "model"], value: "c/d" }]);
  assert.equal(await readFile(path, "utf8"), commented.replace("a/b", "c/d"));
  await editConfig(path, [{ path: ["skills", "default"], value: "all" }]);
  const added = commented
    .replace("a/b", "c/d")
    .replace("timeout: 0x10, }, },\n", 'timeout: 0x10, }, },\n  "skills": {\n    "default": "all"\n  },\n');
  assert.equal(await readFile(path, "utf8"), added);
  await editConfig(path, [{ path: ["skills"] }, { path: ["owners"], value: [12345678901234567890n.toString()] }]);
  const text = await readFile(path, "utf8");
  for (const comment of [
    "// who answers",
    "/* the good one */",
    "// keep",
    "// me",
    "/* nothing else */",
    "// the end",
  ])
    assert.ok(text.includes(comment), comment);
  assert.deepEqual(await readRaw(path, ["owners"]), ["12345678901234567890"]);
  assert.deepEqual(await readRaw(path, ["tools"]), { exec: { timeout: 16 } });
});

for (const [what, text] of [
  ["is damaged", '{"a": 1'],
  ["is not an object", "[1]"],
  ["has something else at that place", '{"tools": "none"}'],
] as const)
  test(`a file that ${what} is left as it is`, async () => {
    const path = await file("bad.json", text);
    await assert.rejects(editConfig(path, [add]), ConfigError);
    assert.equal(await readFile(path, "utf8"), text);
  });

for (const [what, put] of [
  ["folder", (lock) => mkdir(lock)],
  ["pipe", (lock) => execFileSync("mkfifo", [lock])],
  ["link to nothing", (lock) => symlink("nothing", lock)],
  ["link to the file itself", (lock) => symlink("locked.json", lock)],
] as const satisfies readonly (readonly [string, (lock: string) => unknown])[])
  test(`a lock that is a ${what} is named, holds nobody up, and nothing is changed`, { timeout: 5000 }, async (t) => {
    const path = await file("locked.json", "{}");
    t.after(() => rm(`${path}.lock`, { recursive: true }));
    await put(`${path}.lock`);
    await assert.rejects(
      editConfig(path, [add]),
      (error) =>
        (systemSentence(error) ?? "").startsWith(`${path}.lock cannot be used: it is `) &&
        (systemSentence(error) ?? "").endsWith("Move it away."),
    );
    assert.equal(await readFile(path, "utf8"), "{}");
  });

test("a key is read as strictly as it is written", () => {
  const wrong = [
    "",
    ".",
    "gateway.",
    "gateway..port",
    'prices["x',
    'prices[""].input',
    "prices[x].input",
    'prices["x"]input',
  ];
  const forbidden = ["__proto__", 'prices["__proto__"].input', "prices.__proto__"];
  for (const key of [...wrong, ...forbidden])
    assert.throws(() => settingPath(key, {}), /" is not a key\. A key looks like/, key);
  assert.deepEqual(settingPath(String.raw`prices["a\"b.c\\d"].input`, {}), ["prices", 'a"b.c\\d', "input"]);
});

test("a pipe instead of the config or the secrets is named, holds nobody up, and stays", async () => {
  const home = await mkdtemp(join(folder, "pipes-"));
  for (const name of ["config.json", "secrets.json"]) execFileSync("mkfifo", [join(home, name)]);
  const config = join(home, "config.json");
  await assert.rejects(editConfig(config, [add]), /config\.json cannot be read: it is not a file/);
  await assert.rejects(saveSecrets(home, { KEY: "x" }), /secrets\.json cannot be read \(it is not a file\)/);
  for (const name of ["config.json", "secrets.json"]) assert.ok((await stat(join(home, name))).isFIFO(), name);
});
