import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { mock, test } from "node:test";
import { createSkills } from "../../../src/skills/find.js";
import { parseSkill } from "../../../src/skills/parse.js";
import { type DefaultSelector, selectSkills } from "../../../src/skills/select.js";
import type { Skill } from "../../../src/skills/skill.js";
import { createSkillSource } from "../../../src/skills/source.js";
import { assertSoon } from "../../support/cost.js";
import { projectFile } from "../../support/project.js";

function setUp(options: { readonly enableGlobalSkills?: boolean } = {}) {
  const root = mkdtempSync(path.join(tmpdir(), "maxclaw-skills-"));
  const skills = createSkills({
    workspace: path.join(root, "ws"),
    bundled: path.join(root, "bundled"),
    enableGlobalSkills: options.enableGlobalSkills ?? false,
    userHome: path.join(root, "home"),
  });
  return {
    root,
    skills,
    names: async () => (await skills.find()).skills.map(({ name }) => name),
    file(name: string, content = "body") {
      const full = path.join(root, name);
      mkdirSync(path.dirname(full), { recursive: true });
      writeFileSync(full, content);
      return full;
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

test("skills are found at any depth, as files and as folders with SKILL.md, sorted by name", async () => {
  using place = setUp();
  for (const name of ["b.md", "deep/er/a.md", "Weather/SKILL.md", "x/y/pdf/skill.md", "天气.md"])
    place.file(`ws/skills/${name}`);
  for (const name of [
    ".x.md",
    "_x.md",
    ".git/x.md",
    "_drafts/x.md",
    "README.md",
    "x.txt",
    "pdf/reference.md",
    "Weather/more/notes.md",
  ]) {
    place.file(`ws/skills/${name}`);
  }
  place.file("ws/skills/pdf/SKILL.md");
  rmSync(path.join(place.root, "ws/skills/x"), { recursive: true });
  assert.deepEqual(await place.names(), ["a", "b", "pdf", "Weather", "天气"]);
});

test("the first root wins by name, whatever its case; global skills only when they are on", async () => {
  const files = [
    "ws/skills/pdf.md",
    "bundled/PDF/SKILL.md",
    "bundled/mail.md",
    "home/.agents/skills/mail.md",
    "home/.agents/skills/own.md",
  ];
  for (const enableGlobalSkills of [false, true]) {
    using place = setUp({ enableGlobalSkills });
    for (const name of files) place.file(name, `from ${name}`);
    const { skills, problems } = await place.skills.find();
    assert.deepEqual(
      skills.map(({ name, source }) => `${name} ${source}`),
      ["mail bundled", ...(enableGlobalSkills ? ["own user"] : []), "pdf workspace"],
    );
    assert.deepEqual(problems, []);
  }
});

test("two skills of one name in the same root: the first path is used and the other is told", async () => {
  using place = setUp();
  place.file("ws/skills/a/x.md", "first");
  place.file("ws/skills/b/x.md", "second");
  const { skills, problems } = await place.skills.find();
  assert.deepEqual(
    skills.map(({ body }) => body),
    ["first"],
  );
  assert.match(problems.map(({ sentence }) => sentence).join(), /b\/x\.md: .*a\/x\.md has the same name/);
});

test("an edit, a new file and a removed file count from the next look on; the rest is not read again", async () => {
  using place = setUp();
  const edited = place.file("ws/skills/edited.md", "one");
  const kept = place.file("ws/skills/kept.md", "kept");
  const [before] = (await place.skills.find()).skills.filter(({ name }) => name === "kept");
  writeFileSync(edited, "two");
  utimesSync(edited, new Date(), new Date(Date.now() + 5000));
  place.file("ws/skills/new.md");
  const second = await place.skills.find();
  assert.deepEqual(
    second.skills.map(({ name, body }) => `${name} ${body}`),
    ["edited two", "kept kept", "new body"],
  );
  assert.deepEqual(second.skills[1], before);
  rmSync(kept);
  assert.deepEqual(await place.names(), ["edited", "new"]);
});

test("what was found counts as long as nothing has changed: a name, a text, a switch, or where a link leads", async () => {
  using place = setUp();
  const note = place.file("ws/skills/deep/note.md", "One.");
  const linked = place.file("elsewhere/SKILL.md", "Two.");
  symlinkSync(path.dirname(linked), path.join(place.root, "ws/skills/linked"));
  symlinkSync(path.join(place.root, "later.md"), path.join(place.root, "ws/skills/later.md"));
  const texts = async () => (await place.skills.find()).skills.map(({ name, body, enabled }) => [name, body, enabled]);
  const all = [
    ["linked", "Two.", true],
    ["note", "One.", true],
  ];
  assert.deepEqual(await texts(), all);
  place.file("later.md", "Three.");
  assert.deepEqual(await texts(), [["later", "Three.", true], ...all]);
  rmSync(path.join(place.root, "ws/skills/later.md"));
  const longAgo = new Date("2020-01-01");
  const old = ["ws/skills", "ws/skills/deep", "ws/skills/deep/note.md", "elsewhere", "elsewhere/SKILL.md"];
  const age = (): void => {
    for (const name of old) utimesSync(path.join(place.root, name), longAgo, longAgo);
  };
  age();
  // What has changed a moment ago is looked at again each time: times are told in steps. From here on it is not.
  mock.timers.enable({ apis: ["Date"], now: Date.now() + 10_000 });
  try {
    const first = await place.skills.find();
    assert.equal(await place.skills.find(), first);
    for (const [change, expected] of [
      [() => writeFileSync(note, "New"), ["Two.", "New"]],
      [() => writeFileSync(linked, "Also new"), ["Also new", "New"]],
      [() => place.file("ws/skills/deep/more.md", "More"), ["Also new", "More", "New"]],
      [() => rmSync(note), ["Also new", "More"]],
      [() => rmSync(path.dirname(linked), { recursive: true }), ["More"]],
    ] as const) {
      mock.timers.setTime(Date.now() + 10_000);
      const before = await place.skills.find();
      assert.equal(await place.skills.find(), before);
      change();
      assert.deepEqual(
        (await place.skills.find()).skills.map(({ body }) => body),
        expected,
      );
    }
    mock.timers.setTime(Date.now() + 10_000);
    await place.skills.find();
    place.file("ws/.skills_state.json", '{ "more": false }');
    assert.deepEqual(await texts(), [["more", "More", false]]);
  } finally {
    mock.timers.reset();
  }
});

test("circles of links, dead links and huge files hold nothing up", async () => {
  using place = setUp();
  place.file("ws/skills/a/good.md");
  place.file("ws/skills/huge.md", "x".repeat(1024 * 1024 + 1));
  symlinkSync("..", path.join(place.root, "ws/skills/a/up"));
  symlinkSync("nowhere", path.join(place.root, "ws/skills/dead.md"));
  const elsewhere = place.file("elsewhere/linked.md");
  symlinkSync(path.dirname(elsewhere), path.join(place.root, "ws/skills/link"));
  const { skills, problems } = await place.skills.find();
  assert.deepEqual(
    skills.map(({ name }) => name),
    ["good", "linked"],
  );
  assert.equal(problems.length, 1);
  assert.match(problems.map(({ sentence }) => sentence).join(), /huge\.md: larger than 1 MB/);
});

test("skills are switched off by .skills_state.json; a broken one leaves all on and is told", async () => {
  using place = setUp();
  for (const name of ["a", "b", "c"])
    place.file(`ws/skills/${name}.md`, name === "c" ? "---\nname: Title\n---\nx" : "x");
  const enabled = async () => (await place.skills.find()).skills.map((skill) => skill.enabled);
  assert.deepEqual(await enabled(), [true, true, true]);
  place.file("ws/.skills_state.json", '{"A": false, "b": true, "title": false, "gone": false}');
  assert.deepEqual(await enabled(), [false, true, false]);
  assert.equal(await place.skills.read("a"), undefined);
  place.file("ws/.skills_state.json", "{");
  assert.deepEqual(await enabled(), [true, true, true]);
  assert.match((await place.skills.find()).problems.map(({ sentence }) => sentence).join(), /all skills are on/);
});

test("a skill that is switched is so at the next look, however soon that comes", async () => {
  using place = setUp();
  place.file("ws/skills/a.md", "first");
  const source = createSkillSource(place.skills, "auto");
  // Looks within a moment share one answer: ten in a row are closer together than that.
  for (let turn = 0; turn < 10; turn++) {
    const isEnabled = turn % 2 === 1;
    assert.equal((await source.switchTo("A", isEnabled))?.name, "a");
    assert.deepEqual(
      (await source.list()).map(({ enabled }) => enabled),
      [isEnabled],
    );
  }
  assert.equal(await source.switchTo("none", true), undefined);
});

test("front matter gives name and description; without it the first line describes", async () => {
  const full = await parseSkill(
    "\uFEFF---\r\nname: My Skill\r\ndescription: |\r\n  does\r\n  things\r\n---\r\n\r\n# Title\r\nbody\r\n",
  );
  assert.deepEqual(full, {
    title: "My Skill",
    description: "does things",
    allowedTools: [],
    programs: [],
    body: "# Title\nbody",
    truncated: false,
  });
  assert.equal((await parseSkill("# Title\n\nThe first line.\nMore.")).description, "The first line.");
  assert.equal((await parseSkill("---\n\nno front matter, a line across the page")).problem, undefined);
  assert.equal((await parseSkill("x".repeat(12_001))).truncated, true);
});

test("broken front matter leaves a working skill with a problem; Go's plain lines are understood", async () => {
  const skill = await parseSkill("---\nname: pdf\ndescription: Use when: always\n---\nsteps");
  assert.equal(skill.title, "pdf");
  assert.equal(skill.description, "Use when: always");
  assert.match(skill.body, /^---[\s\S]*steps$/);
  assert.match(skill.problem ?? "", /front matter cannot be read/);
});

test("reading a skill never runs code that is in it", async () => {
  const code = "{ name: (globalThis.skillRan = true, 'x'), description: process.exit(3) }";
  for (const language of [
    "js",
    "javascript",
    "JS",
    "JavaScript",
    " js",
    "coffee",
    "constructor",
    "__proto__",
    "toString",
  ]) {
    const skill = await parseSkill(`---${language}\n${code}\n---\nbody`);
    assert.ok(skill.problem, language);
    assert.match(skill.body, /body$/);
  }
  await parseSkill(`---\nname: !!js/function 'function () { globalThis.skillRan = true }'\n---\nx`);
  assert.equal(Object.hasOwn(globalThis, "skillRan"), false);
});

test("reading a skill by name gives its text, and where the rest and its files are", async () => {
  using place = setUp();
  const file = place.file("ws/skills/pdf/SKILL.md", `---\nname: Portable\n---\n${"x".repeat(13_000)}`);
  const text = (await place.skills.read("PORTABLE"))?.text ?? "";
  assert.match(
    text,
    new RegExp(
      `^x{12000}\\n\\n\\[Cut: the rest is in ${file}\\]\\n\\n\\[Files of this skill: ${path.dirname(file)}\\]$`,
    ),
  );
  assert.equal((await place.skills.read("pdf"))?.text, text);
  assert.equal(await place.skills.read("nothing"), undefined);
});

function skill(name: string, body = `how to ${name}`, more: Partial<Skill> = {}): Skill {
  return {
    name,
    aliases: [name],
    description: "",
    source: "workspace",
    path: `/s/${name}.md`,
    enabled: true,
    body,
    truncated: false,
    allowedTools: [],
    programs: [],
    ...more,
  };
}

const available = [
  skill("mail"),
  skill("node.js"),
  skill("pdf"),
  skill("pdf-tools"),
  skill("weather", "how", { aliases: ["weather", "天气预报", "Weather Report"] }),
  skill("web-search"),
  skill("off", "x", { enabled: false }),
];

/** What a text selects: names in order, then what is missing. */
function selected(text: string, names?: readonly string[], by: DefaultSelector = "none", skills = available) {
  const { matched, missing, selector } = selectSkills(text, names, skills, by);
  return { matched: matched.map(({ name }) => name), missing, selector };
}

test("skills are named by $name and @skill:name, in any case, in the order of the text", () => {
  const cases: Readonly<Record<string, readonly string[]>> = {
    "use $pdf": ["pdf"],
    "$PDF please": ["pdf"],
    "@skill:Pdf.": ["pdf"],
    "@SKILL:mail, then $pdf; $mail": ["mail", "pdf"],
    "$pdf-tools": ["pdf-tools"],
    "$pdf- yes": ["pdf"],
    "$pdf: do": ["pdf"],
    "($pdf)": ["pdf"],
    "$node.js.": ["node.js"],
    $web_search: ["web-search"],
    $天气预报: ["weather"],
    请用$天气预报查一下北京: ["weather"],
    "@skill:天气预报，谢谢": ["weather"],
    用$pdf帮我: ["pdf"],
    "$weather report today": ["weather"],
  };
  for (const [text, names] of Object.entries(cases)) {
    assert.deepEqual(selected(text), { matched: names, missing: [], selector: "explicit" }, text);
  }
});

test("what only looks like a skill is plain text", () => {
  const texts = [
    "$100",
    "$PATH",
    "echo $HOME/bin",
    "$pdfs",
    "$pdf/x",
    "$pdf.txt",
    "US$pdf",
    "\\$pdf",
    "$$pdf",
    "$",
    "$ pdf",
    "pdf",
    "me@skill:pdf",
    "$off",
  ];
  for (const text of texts) assert.deepEqual(selected(text), { matched: [], missing: [], selector: "none" }, text);
  assert.deepEqual(selected("echo $PATH", undefined, "none", [skill("path")]).matched, ["path"]);
  assert.deepEqual(selected("it costs $100", undefined, "none", [skill("100")]).matched, ["100"]);
});

test("an unknown @skill:name is missing, also when it is switched off; the default counts then", () => {
  assert.deepEqual(selected("@skill:gone and @skill:off. @skill:gone"), {
    matched: [],
    missing: ["gone", "off"],
    selector: "none",
  });
  assert.deepEqual(selected("@skill:gone $pdf"), { matched: ["pdf"], missing: ["gone"], selector: "explicit" });
  assert.deepEqual(selected("@skill:没有"), { matched: [], missing: ["没有"], selector: "none" });
  assert.equal(selected("@skill:gone", undefined, "auto").selector, "auto");
});

test("all means all that are on, none wins over everything", () => {
  const all = ["mail", "node.js", "pdf", "pdf-tools", "weather", "web-search"];
  for (const text of ["$all", "@skill:ALL x", "$pdf $all"]) assert.deepEqual(selected(text).matched, all, text);
  for (const text of ["$none", "$all @skill:none", "$pdf $None"]) {
    assert.deepEqual(selected(text, ["all"], "all"), { matched: [], missing: [], selector: "none" }, text);
  }
  assert.deepEqual(selected("$all", ["none"], "all").matched, []);
  assert.deepEqual(selected("$allies", undefined, "none").matched, []);
});

test("names that a client chose are added to those of the text; an empty list is not a choice", () => {
  assert.deepEqual(selected("$mail", ["PDF", "$weather", "@skill:gone"]), {
    matched: ["mail", "pdf", "weather"],
    missing: ["gone"],
    selector: "explicit",
  });
  assert.deepEqual(selected("hi", ["all"]).selector, "all");
  assert.equal(selected("hi", [], "auto").selector, "auto");
  assert.equal(selected("hi", [" "], "auto").selector, "auto");
});

test("without a choice all bodies go along while they fit 8,000 characters, else the list does", () => {
  const small = [skill("a", "x".repeat(4000)), skill("b", "x".repeat(4000))];
  const fits = selectSkills("hi", undefined, small, "auto");
  assert.deepEqual([fits.matched.length, fits.listing.length], [2, 0]);
  const large = [...small, skill("c", "x")];
  const listed = selectSkills("hi", undefined, large, "auto");
  assert.deepEqual([listed.matched.length, listed.listing.map(({ name }) => name)], [0, ["a", "b", "c"]]);
  assert.deepEqual(selectSkills("$a", undefined, large, "auto").listing, listed.listing);
  assert.equal("body" in (listed.listing[0] ?? {}), false);
  assert.equal(listed.text, "hi");
  assert.deepEqual(selectSkills("hi", undefined, large, "none").listing, []);
});

test("all bodies together stay within 60,000 characters, and what has no room is listed", () => {
  const many = ["a", "b", "c", "d", "e", "f", "g"].map((name) => skill(name, "😀".repeat(5500)));
  const { matched, listing } = selectSkills("$all", undefined, many, "none");
  assert.ok(matched.reduce((total, { body }) => total + body.length, 0) <= 60_000);
  assert.deepEqual(
    matched.map(({ truncated }) => truncated),
    [false, false, false, false, false, true],
  );
  assert.ok(!/[\uD800-\uDBFF]$/.test(matched.at(-1)?.body ?? ""));
  assert.deepEqual(
    listing.map(({ name }) => name),
    ["g"],
  );
});

test("a message full of dollar signs is looked through quickly", () => {
  const many = Array.from({ length: 200 }, (_, i) => skill(`skill-number-${i}`));
  assertSoon(() => selectSkills("$skill-number ".repeat(7000), undefined, many, "auto"), 3000);
});

test("every bundled skill loads without problems, is short and says what it is for", async () => {
  using place = setUp();
  const skills = createSkills({ workspace: place.root, bundled: projectFile("skills"), enableGlobalSkills: false });
  const { skills: found, problems } = await skills.find();
  assert.deepEqual(problems, []);
  assert.deepEqual(
    found.map(({ name }) => name),
    ["calendar", "shell", "summarize", "weather", "write-skill"],
  );
  for (const each of found) {
    assert.deepEqual(each.aliases, [each.name]);
    assert.ok(each.description.length > 10 && !each.body.startsWith("---"), each.name);
  }
  const lines = found.map(({ name, description }) => `- ${name}: ${description}\n`).join("");
  assert.ok(Buffer.byteLength(lines) < 400, "they go along with every message");
  assert.ok(found.every(({ body }) => body.length < 2500));
});
