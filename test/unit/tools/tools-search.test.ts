import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { globTool } from "../../../src/tools/files/search/glob.js";
import { createGlob } from "../../../src/tools/files/search/glob-pattern.js";
import { grepTool } from "../../../src/tools/files/search/grep.js";
import { toInputSchema } from "../../../src/tools/schema.js";
import { createToolPlace } from "../../support/worlds/tools/tool-context.js";

const own = "ws/.sessions/telegram_42";

test("a glob fits what it says", () => {
  const cases: readonly [pattern: string, fits: readonly string[], fitsNot: readonly string[]][] = [
    ["*.md", ["a.md", "x/y/a.md"], ["a.mdx", "md"]],
    ["src/*.ts", ["src/a.ts"], ["src/x/a.ts", "a.ts"]],
    ["src/**/*.ts", ["src/a.ts", "src/x/y/a.ts"], ["lib/src/a.ts"]],
    ["**/x/**", ["x/a", "a/x/b/c"], ["xx/a"]],
    ["{a,b}/{c,d}.{js,ts}", ["a/c.js", "b/d.ts"], ["a/e.js", "a,b/c.js"]],
    ["[a-c]?[!0-9].txt", ["ab_.txt"], ["dbx.txt", "ab1.txt"]],
    ["日?.md", ["日志.md"], ["日.md"]],
    ["docs/", ["docs/a", "docs/b/c"], ["doc/a"]],
    ["a*b*c", ["abbbc", "a-b-c"], ["acb"]],
  ];
  for (const [pattern, fits, fitsNot] of cases) {
    const matches = createGlob(pattern);
    assert.ok(matches !== undefined, pattern);
    for (const name of fits) assert.equal(matches(name), true, `${pattern} fits ${name}`);
    for (const name of fitsNot) assert.equal(matches(name), false, `${pattern} does not fit ${name}`);
  }
  assert.equal(createGlob("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"), undefined);
  assert.equal(createGlob(""), undefined);
  const evil = createGlob(`${"*a".repeat(100)}b`);
  assert.equal(evil?.("a".repeat(5000)), false, "and takes no time for it");
});

test("files are found by name below the session's folder, or where the path says", async () => {
  using place = createToolPlace();
  place.file(`${own}/a.md`, "");
  place.file(`${own}/deep/er/b.md`, "");
  place.file(`${own}/c.txt`, "");
  place.file("ws/docs/d.md", "");
  assert.equal((await place.run(globTool, { pattern: "*.md" })).text, "a.md\ndeep/er/b.md");
  assert.equal((await place.run(globTool, { pattern: "*.md", path: place.workspace })).text, "docs/d.md");
  assert.equal(
    (await place.run(globTool, { pattern: "*.pdf" })).text,
    `No file matches.\n[workspace: ${place.workspace}]`,
  );
  assert.match((await place.run(globTool, { pattern: "*", path: "a.md" })).text, /not a folder/);
  assert.match((await place.run(globTool, { pattern: "*", path: "gone" })).text, /does not exist/);
});

test("lines are found with their numbers; binary files, dot entries and libraries are passed by", async () => {
  using place = createToolPlace();
  place.file("ws/a.txt", "one\nTwo\r\nthree two\n");
  place.file("ws/utf16.txt", Buffer.from("\uFEFFzwei two", "utf16le"));
  place.file("ws/b.bin", Buffer.from([0, 1, ...Buffer.from("two")]));
  place.file("ws/.env", "two");
  place.file("ws/node_modules/x/index.js", "two");
  const at = { path: place.workspace };
  assert.equal(
    (await place.run(grepTool, { pattern: "t.o$", ...at })).text,
    "a.txt:3: three two\nutf16.txt:1: zwei two",
  );
  assert.equal((await place.run(grepTool, { pattern: "^TWO", ignore_case: true, ...at })).text, "a.txt:2: Two");
  assert.equal((await place.run(grepTool, { pattern: "two", glob: "u*", ...at })).text, "utf16.txt:1: zwei two");
  const one = await place.run(grepTool, { pattern: "one", path: path.join(place.workspace, "a.txt") });
  assert.match(one.text, /a\.txt:1: one/);
  const broken = await place.run(grepTool, { pattern: "(two", ...at });
  assert.equal(broken.isError, true);
  assert.match(broken.text, /not a valid regular expression/);
  const tooMany = "{a,b}".repeat(20);
  for (const told of [
    await place.run(grepTool, { pattern: "two", glob: tooMany, ...at }),
    await place.run(globTool, { pattern: tooMany, ...at }),
  ])
    assert.match(told.text, /^"\{a,b\}.*" is not a valid glob pattern/);
});

test("what could not be searched is said, so that no line is taken for none", async () => {
  using place = createToolPlace();
  place.file("ws/big.log", Buffer.concat([Buffer.alloc(5 * 1024 * 1024, "x\n"), Buffer.from("an error\n")]));
  place.file("ws/small.log", "an error\n");
  const data = place.file("ws/data.bin", Buffer.from([0, 1, 2]));
  const all = await place.run(grepTool, { pattern: "error", path: place.workspace });
  assert.equal(all.text, "small.log:1: an error\n[not searched, larger than 5 MB: big.log]");
  const one = await place.run(grepTool, { pattern: "error", path: path.join(place.workspace, "big.log") });
  assert.match(one.text, /^Nothing matches\.[\s\S]*\[not searched, larger than 5 MB: .*big\.log\]/);
  const binary = await place.run(grepTool, { pattern: "error", path: data });
  assert.match(binary.text, /\[not searched: not a text file\]/);
});

test("neither tool leaves the folder over a link, nor sees other sessions, secrets or what a rule forbids", async () => {
  using place = createToolPlace();
  const secret = "the secret text";
  place.file("outside/secret.txt", secret);
  place.file("ws/.sessions/telegram_43/secret.txt", secret);
  place.file("ws/.env", secret);
  place.file("ws/notes/diary.txt", secret);
  place.file("ws/asked/plan.txt", secret);
  mkdirSync(place.folder, { recursive: true });
  symlinkSync(path.join(place.root, "outside"), path.join(place.folder, "link"));
  symlinkSync(path.join(place.root, "outside/secret.txt"), path.join(place.workspace, "file-link.txt"));
  const rules = [
    { argument: "notes*", verdict: "deny" },
    { argument: "asked*", verdict: "ask" },
  ] as const;
  for (const root of [".", place.workspace, path.join(place.workspace, ".sessions"), "link", "..", "/"]) {
    const grep = await place.run(grepTool, { pattern: "secret", path: root }, { rules });
    assert.ok(!grep.text.includes(secret), `${root}: ${grep.text}`);
    const glob = await place.run(globTool, { pattern: "**", path: root }, { rules });
    assert.ok(!/secret|diary|env|plan/.test(glob.text), `${root}: ${glob.text}`);
  }
  const allowed = await place.run(grepTool, { pattern: "secret", path: place.workspace });
  assert.equal(allowed.text, `asked/plan.txt:1: ${secret}\nnotes/diary.txt:1: ${secret}`);
});

test("what others wrote stays marked when it is found", async () => {
  using place = createToolPlace();
  place.file(`${own}/tool-results/outside/page.txt`, "do this");
  const result = await place.run(grepTool, { pattern: "do" });
  assert.match(result.outside ?? "", /page\.txt/);
});

test("many matches are cut, and long lines show the place that matches", async () => {
  using place = createToolPlace();
  place.file(`${own}/many.txt`, "match\n".repeat(1000));
  const lines = (await place.run(grepTool, { pattern: "match" })).text.split("\n");
  assert.equal(lines.length, 201);
  assert.match(lines.at(-1) ?? "", /there is more/);
  place.file(`${own}/long.txt`, `${"x".repeat(50_000)}needle${"y".repeat(50_000)}`);
  const long = await place.run(grepTool, { pattern: "needle" });
  assert.ok(long.text.length < 500 && long.text.includes("needle"), long.text);
  for (let i = 0; i < 301; i++) place.file(`${own}/files/f${i}.txt`, "");
  const files = (await place.run(globTool, { pattern: "f*.txt" })).text.split("\n");
  assert.equal(files.length, 301);
  assert.match(files.at(-1) ?? "", /narrow pattern or path/);
});

test("a pattern that takes for ever holds up nobody, and stops with the turn", async () => {
  using place = createToolPlace();
  place.file(`${own}/evil.txt`, `${"a".repeat(200)}!\n`);
  const stopping = new AbortController();
  const search = place.run(grepTool, { pattern: "^(a+)+$" }, { signal: stopping.signal });
  let turns = 0;
  const beat = setInterval(() => {
    turns += 1;
    if (turns === 20) stopping.abort(new Error("stopped"));
  }, 10);
  try {
    await assert.rejects(search, /stopped/);
    assert.ok(turns >= 20, "the event loop went on");
  } finally {
    clearInterval(beat);
  }
});

test("both tools together cost the model at most 500 characters", () => {
  const cost = [grepTool, globTool].map(({ name, description, input }) =>
    JSON.stringify({ name, description, inputSchema: toInputSchema(input) }),
  );
  assert.ok(cost.join("").length <= 520, String(cost.join("").length));
});
