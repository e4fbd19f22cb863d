import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { createAddressPolicy } from "../../../src/policy/locations/addresses.js";
import { createEgress } from "../../../src/policy/locations/egress.js";
import { createSkill, type InstallOptions, installSkills } from "../../../src/skills/install.js";
import { parseSkill } from "../../../src/skills/parse.js";
import { validateSkill } from "../../../src/skills/validate.js";
import { tempFolder } from "../../support/engine/engine-kit.js";
import { type ZipEntry, zipOf } from "../../support/zip.js";

const doc = (name: string): string => `---\nname: ${name}\ndescription: About ${name}.\n---\nDo ${name}.\n`;

async function setUp(context: TestContext) {
  const root = await tempFolder(context);
  const workspace = path.join(root, "ws");
  const closed = createEgress(createAddressPolicy([]));
  const file = (name: string, content: string | Buffer): string => {
    const full = path.join(root, name);
    mkdirSync(path.dirname(full), { recursive: true });
    writeFileSync(full, content);
    return full;
  };
  return {
    root,
    file,
    zip: (entries: readonly ZipEntry[], name = "pack.zip") => file(name, zipOf(entries)),
    install: async (source: string, more: Partial<InstallOptions> = {}) =>
      (
        await installSkills(
          source,
          { workspace, replace: false, resolve: closed.resolve, ...more },
          new AbortController().signal,
        )
      ).map(({ name }) => name),
    /** All that is in the skills folder, hidden or not. */
    there: (): readonly string[] => {
      try {
        return readdirSync(path.join(workspace, "skills"), { recursive: true, encoding: "utf8" }).sort();
      } catch {
        return [];
      }
    },
    read: (name: string) => readFileSync(path.join(workspace, "skills", name), "utf8"),
  };
}

test("a folder, a file and a zip are installed with what lies beside the skill", async (context) => {
  const t = await setUp(context);
  t.file("pdf/SKILL.md", doc("pdf"));
  t.file("pdf/scripts/run.py", "print()");
  t.file("pdf/.git/config", "");
  assert.deepEqual(await t.install(path.join(t.root, "pdf")), ["pdf"]);
  assert.deepEqual(await t.install(t.file("tea.md", doc("tea"))), ["tea"]);
  const zip = t.zip([
    { name: "pack/", content: "" },
    { name: "pack/天气/SKILL.md", content: doc("天气") },
    { name: "pack/mail/SKILL.md", content: doc("mail") },
    { name: "pack/README.md", content: "# two skills" },
  ]);
  assert.deepEqual(await t.install(zip), ["mail", "天气"]);
  assert.deepEqual(
    t.there().filter((name) => /\./.test(name)),
    ["mail/SKILL.md", "pdf/SKILL.md", "pdf/scripts/run.py", "tea.md", "天气/SKILL.md"],
  );
});

test("a skill that is there is only replaced on demand, and then as a whole", async (context) => {
  const t = await setUp(context);
  t.file("tea/SKILL.md", doc("tea"));
  t.file("tea/old.txt", "old");
  await t.install(path.join(t.root, "tea"));
  t.file("new/SKILL.md", doc("tea").replace("Do tea", "Do new tea"));
  await assert.rejects(t.install(path.join(t.root, "new")), /There is a skill tea already/);
  assert.match(t.read("tea/SKILL.md"), /Do tea/);
  await t.install(path.join(t.root, "new"), { replace: true });
  assert.match(t.read("tea/SKILL.md"), /Do new tea/);
  assert.deepEqual(t.there(), ["tea", "tea/SKILL.md"]);
  await t.install(t.file("tea.md", doc("tea")), { replace: true });
  assert.deepEqual(t.there(), ["tea.md"], "a file takes the place of a folder of its name");
});

test("of several skills one can be chosen, and one that does not work lets none in", async (context) => {
  const t = await setUp(context);
  t.file("pack/a/SKILL.md", doc("a"));
  t.file("pack/b/SKILL.md", doc("b"));
  assert.deepEqual(await t.install(path.join(t.root, "pack"), { only: "B" }), ["b"]);
  await assert.rejects(t.install(path.join(t.root, "pack"), { only: "c" }), /no skill c .* only a, b/);
  t.file("pack/c/SKILL.md", "---\nname: c\ndescription: [\n---\nx");
  await assert.rejects(t.install(path.join(t.root, "pack"), { replace: true }), /The skill c is not installed/);
  assert.deepEqual(t.there(), ["b", "b/SKILL.md"]);
});

test("archives that lead out of their folder, hold links or are too large leave nothing behind", async (context) => {
  const t = await setUp(context);
  const skill = { name: "x/SKILL.md", content: doc("x") };
  const cases: readonly (readonly [string, readonly ZipEntry[], RegExp])[] = [
    ["slip", [skill, { name: "../../evil.md", content: "x" }], /invalid relative path|leads out/],
    ["absolute", [skill, { name: "/tmp/evil.md", content: "x" }], /absolute path|leads out/],
    ["backslash", [skill, { name: "..\\evil.md", content: "x" }], /invalid characters|leads out/],
    ["link", [skill, { name: "x/passwd", content: "/etc/passwd", mode: 0o120777 }], /passwd is a link/],
    ["bomb", [skill, { name: "x/zeros", content: Buffer.alloc(25 * 1_048_576) }], /more than 20 MB/],
    ["liar", [skill, { name: "x/zeros", content: Buffer.alloc(2_000_000), claims: 10 }], /size|bytes|not unpacked/],
    [
      "many",
      [skill, ...Array.from({ length: 1001 }, (_, n) => ({ name: `x/${n}`, content: "" }))],
      /more than 1000 files/,
    ],
    ["twice", [skill, { ...skill, content: "another" }], /EEXIST|not unpacked/],
    ["empty", [{ name: "x/notes.txt", content: "x" }], /There is no SKILL.md/],
  ];
  for (const [name, entries, why] of cases) {
    await assert.rejects(t.install(t.zip(entries, `${name}.zip`)), why, name);
    assert.deepEqual(t.there(), [], name);
  }
  await assert.rejects(t.install(t.file("text.zip", "no zip at all")), /text\.zip is not unpacked/);
  await assert.rejects(t.install(t.zip([skill]).replace("pack", "nothing")), /is not a folder, a zip/);
  assert.deepEqual(
    readdirSync(t.root).filter((name) => name.startsWith("evil")),
    [],
  );
});

test("links in folders are not followed", async (context) => {
  const t = await setUp(context);
  t.file("tea/SKILL.md", doc("tea"));
  symlinkSync("/etc/passwd", path.join(t.root, "tea/notes.md"));
  await assert.rejects(t.install(path.join(t.root, "tea")), /notes\.md is a link/);
  assert.deepEqual(t.there(), []);
});

test("a git repository is cloned without its history, and nothing in it or for it runs", async (context) => {
  const t = await setUp(context);
  const repository = path.join(t.root, "repo");
  t.file("repo/skills/tea/SKILL.md", doc("tea"));
  symlinkSync("/etc/passwd", path.join(repository, "skills/tea/link"));
  t.file("template/hooks/post-checkout", `#!/bin/sh\ntouch ${t.root}/ran\n`);
  chmodSync(path.join(t.root, "template/hooks/post-checkout"), 0o755);
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: repository, stdio: "pipe" });
  git("init", "--quiet", "-b", "main");
  git("add", ".");
  git("commit", "--quiet", "-m", "one");
  git("checkout", "--quiet", "-b", "other");
  t.file("repo/skills/coffee/SKILL.md", doc("coffee"));
  git("add", ".");
  git("commit", "--quiet", "-m", "two");
  git("checkout", "--quiet", "main");
  process.env.GIT_TEMPLATE_DIR = path.join(t.root, "template");
  context.after(() => delete process.env.GIT_TEMPLATE_DIR);
  const url = pathToFileURL(repository).href;
  assert.deepEqual(await t.install(url), ["tea"]);
  assert.equal(t.read("tea/link"), "/etc/passwd", "a link is a file that holds its target");
  assert.deepEqual(await t.install(`${url}#other`, { only: "coffee" }), ["coffee"]);
  assert.deepEqual(readdirSync(t.root).includes("ran"), false, "no hook has run");
  await assert.rejects(t.install(`${url}#nothing`), /cannot be cloned: .*nothing/);
  await assert.rejects(t.install(`${url}#--upload-pack=x`), /is not a branch/);
  await assert.rejects(t.install("ext::sh -c touch% /tmp/x"), /is not a folder/);
  await assert.rejects(t.install("--upload-pack=x"), /is not a folder/);
  assert.deepEqual(
    t.there().filter((name) => name.startsWith(".")),
    [],
  );
});

test("a git address leads to this machine or a private network only where web_fetch may, and nowhere else from there", async (context) => {
  const t = await setUp(context);
  const asked: string[] = [];
  let leadsTo = "";
  const server = createServer(({ url = "", headers }, response) => {
    asked.push(`${headers.host} ${url}`);
    if (leadsTo === "") response.writeHead(404).end();
    else response.writeHead(302, { location: `${leadsTo}${url}` }).end();
  });
  const other = createServer((_request, response) => {
    asked.push("the other");
    response.writeHead(404).end();
  });
  for (const each of [server, other]) await new Promise<void>((done) => each.listen(0, "127.0.0.1", done));
  context.after(() => {
    for (const each of [server, other]) each.close();
  });
  const portOf = (each: typeof server): number => (each.address() as AddressInfo).port;
  const port = portOf(server);
  for (const source of [
    ...["127.0.0.1", "localhost", "127.1", "0x7f000001", "[::ffff:127.0.0.1]", "a:b@127.0.0.1"].map(
      (host) => `http://${host}:${port}/x.git`,
    ),
    ...[`git://127.0.0.1:${port}/x`, `ssh://127.0.0.1:${port}/x`, "git@127.0.0.1:x/y", "https://169.254.169.254/x"],
  ])
    await assert.rejects(t.install(source), /tools may not reach \(setting tools\.web\.fetch\.allow\)/, source);
  assert.deepEqual(asked, []);

  const allowed = createEgress(createAddressPolicy([`127.0.0.1:${port}`]));
  await assert.rejects(t.install(`http://127.0.0.1:${port}/x.git`, allowed), /cannot be cloned/);
  assert.match(asked.join(), new RegExp(`^127\\.0\\.0\\.1:${port} /x\\.git/info/refs`));
  leadsTo = `http://127.0.0.1:${portOf(other)}`;
  await assert.rejects(t.install(`http://127.0.0.1:${port}/x.git`, allowed), /leads to another address: give that one/);
  assert.doesNotMatch(asked.join(), /the other/, "what a redirect leads to was not judged");

  // A name that has another address when git looks it up would lead elsewhere.
  const resolve = async () => [{ address: "127.0.0.1" }];
  await assert.rejects(t.install(`http://skills.invalid:${port}/x.git`, { resolve }), /leads to another address/);
  assert.match(asked.at(-1) ?? "", /^skills\.invalid:/);
});

test("a new skill is a form that works, under a name that a file can have", async (context) => {
  const workspace = await tempFolder(context);
  const made = await createSkill("my-skill", 'Use when: "x"', workspace);
  assert.deepEqual(await validateSkill(path.join(made.path, "SKILL.md")), { errors: [], warnings: [] });
  await assert.rejects(createSkill("my-skill", "", workspace), /already/);
  for (const name of ["../x", "a/b", "all", "", ".x", "x.", "a".repeat(65)])
    await assert.rejects(createSkill(name, "", workspace), /is not a valid skill name/, name);
});

test("validating names what does not work, and what breaks the standard", async (context) => {
  const t = await setUp(context);
  const check = async (content: string) => await validateSkill(t.file("tea/SKILL.md", content));
  assert.deepEqual(await check(doc("tea")), { errors: [], warnings: [] });
  assert.match((await check("---\nname: tea\ndescription: [\n---\nx")).errors.join(), /front matter cannot be read/);
  assert.match((await check("---\nname: tea\ndescription: x\n---\n")).errors.join(), /empty/);
  const warned = await check(
    "---\nname: coffee\nallowed-tools: Read, Bash(git:*), Fly\n---\nSee [more](more.md), [web](https://x.y).",
  );
  assert.deepEqual(warned.errors, []);
  for (const why of [/name is "coffee"/, /no description/, /names Fly/, /names more\.md/])
    assert.match(warned.warnings.join("\n"), why);
  assert.equal(warned.warnings.length, 4);
  assert.match((await check("Boil water.")).warnings.join(), /no front matter/);
});

test("allowed-tools is read as a list, and as names in a row", async () => {
  const of = async (value: string) => (await parseSkill(`---\nname: x\nallowed-tools: ${value}\n---\nx`)).allowedTools;
  assert.deepEqual(await of("[read_file, web_fetch]"), ["read_file", "web_fetch"]);
  assert.deepEqual(await of("Read, Bash(git add:*), Write"), ["Read", "Bash(git add:*)", "Write"]);
  assert.deepEqual(await of("Read Write"), ["Read", "Write"]);
  assert.deepEqual(await of("7"), []);
});
