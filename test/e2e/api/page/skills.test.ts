import assert from "node:assert/strict";
import { link, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { tempFolder, until } from "../../../support/engine/engine-kit.js";
import { startWithModel } from "../../../support/worlds/gateway.js";
import { zipOf } from "../../../support/zip.js";

async function start() {
  const started = await startWithModel(() => ({ text: "ok" }));
  const skills = join(started.gateway.workspace, "skills");
  const call = async (method: string, path: string, body?: object, headers: Readonly<Record<string, string>> = {}) => {
    const response = await fetch(`${started.url}/api/skills${path}`, {
      method,
      headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return {
      status: response.status,
      etag: response.headers.get("etag") ?? "",
      answer: Object(await response.json()),
    };
  };
  return {
    ...started,
    skills,
    call,
    put: async (name: string, text: string) => {
      await mkdir(join(skills, name), { recursive: true });
      await writeFile(join(skills, name, "SKILL.md"), text);
    },
    /** As lists show it. */
    listed: async (name: string) => {
      const { answer } = await call("GET", "");
      return answer.skills.find((skill: { readonly name: string }) => skill.name === name);
    },
    last: () => started.model.requests.at(-1)?.userText ?? "",
  };
}

const doc = (text: string, more = ""): string =>
  `---\nname: tea\ndescription: How to make tea.\n${more}---\n\n${text}\n`;

test("a skill is created, changed and deleted, and the next message sees it each time", async () => {
  await using t = await start();
  const created = await t.call("POST", "", { name: "tea", description: "How to make: tea" });
  assert.equal(created.status, 201);
  assert.equal((await t.listed("tea")).description, "How to make: tea");
  assert.deepEqual([(await t.call("POST", "", { name: "tea" })).status], [409]);

  const { answer: file, etag } = await t.call("GET", "/tea/file");
  assert.deepEqual([file.name, file.writing, file.path], ["tea", "in place", join(t.skills, "tea", "SKILL.md")]);
  assert.equal(file.text, await readFile(file.path, "utf8"));
  const saved = await t.call("PUT", "/tea/file", { text: doc("Boil water first.") }, { "if-match": etag });
  assert.deepEqual([saved.status, saved.answer.warnings], [200, []]);
  assert.notEqual(saved.etag, etag);
  assert.equal((await t.listed("tea")).description, "How to make tea.", "the list is that of the new file");
  await t.gateway.ask("@skill:tea please");
  assert.match(t.last(), /Boil water first\./);

  await t.put("tea", doc("Warm the pot first."));
  const late = await t.call("PUT", "/tea/file", { text: doc("From another tab.") }, { "if-match": saved.etag });
  assert.deepEqual([late.status, late.answer.code], [412, "changed"]);
  assert.match(await readFile(file.path, "utf8"), /Warm the pot/);
  // A look at the files serves those who ask within the same moment, and may have come while the file was half written.
  await until("what was changed on the disk counts", async () => {
    await t.gateway.ask("@skill:tea once more");
    return t.last().includes("Warm the pot first.");
  });

  assert.equal((await t.call("DELETE", "/tea")).status, 200);
  assert.equal((await t.call("DELETE", "/tea")).status, 404);
  assert.deepEqual(await readdir(t.skills), []);
  assert.equal(await t.listed("tea"), undefined);
  const kept = (await t.gateway.events("system")).filter(({ type }) => type === "settings_changed");
  assert.deepEqual(
    kept.map((event) => event.type === "settings_changed" && event.payload.to),
    ["tea created", "tea changed", "tea deleted"],
  );
});

test("a text that does not work as a skill is refused with what is wrong, and the file stays", async () => {
  await using t = await start();
  await t.put("tea", doc("Boil water."));
  for (const [text, status, what] of [
    ["---\nname: [tea\n---\nBoil it.\n", 400, /front matter cannot be read/],
    ["---\nname: tea\ndescription: About tea.\n---\n\n", 400, /empty/],
    ["", 400, /empty/],
    ["x".repeat(600 * 1024), 413, /512 kB/],
    ["x".repeat(10 * 1_048_576), 413, /larger than/],
  ] as const) {
    const { status: found, answer } = await t.call("PUT", "/tea/file", { text });
    assert.equal(found, status, text.slice(0, 30));
    assert.match(answer.error, what);
  }
  assert.equal(await readFile(join(t.skills, "tea", "SKILL.md"), "utf8"), doc("Boil water."));
  const warned = await t.call("PUT", "/tea/file", { text: "Only a text." });
  assert.match(warned.answer.warnings.join(" "), /no front matter/);
});

test("no name leads out of the skills folder, and nothing that lies elsewhere is changed", async (context) => {
  await using t = await start();
  const elsewhere = await tempFolder(context);
  await writeFile(join(elsewhere, "SKILL.md"), doc("Not here."));
  await mkdir(t.skills, { recursive: true });
  await symlink(elsewhere, join(t.skills, "linked"));
  for (const name of ["../evil", "..", "a/b", ".hidden", "all", "", "x".repeat(65)])
    assert.equal((await t.call("POST", "", { name })).status, 400, name);
  for (const path of ["/..%2F..%2Fconfig.json/file", "/%2e%2e/file", "/nothing/file"])
    assert.ok([400, 404].includes((await t.call("GET", path)).status), path);

  await writeFile(join(elsewhere, "key.md"), doc("A secret of this machine."));
  await mkdir(join(t.skills, "second"));
  await symlink(join(elsewhere, "key.md"), join(t.skills, "second", "SKILL.md"));
  await mkdir(join(t.skills, "third"));
  await link(join(elsewhere, "key.md"), join(t.skills, "third", "SKILL.md"));
  for (const name of ["linked", "second", "third"]) {
    const shown = await t.call("GET", `/${name}/file`);
    assert.ok(shown.status === 409 || (shown.status === 404 && name !== "linked"), `${name} ${shown.status}`);
    assert.doesNotMatch(JSON.stringify(shown.answer), /Not here|A secret/);
  }
  await rm(join(t.skills, "second"), { recursive: true });
  await rm(join(t.skills, "third"), { recursive: true });

  const { answer } = await t.call("PUT", "/linked/file", { text: doc("Changed.") });
  assert.match(answer.error, /is a link that leads to/);
  assert.equal((await t.call("DELETE", "/linked")).status, 200, "the link goes");
  assert.equal(await readFile(join(elsewhere, "SKILL.md"), "utf8"), doc("Not here."));
  assert.deepEqual(await readdir(t.skills), []);
});

test("a bundled skill is copied when it is changed, and is back when the copy is deleted", async () => {
  await using t = await start();
  const { answer, etag } = await t.call("GET", "/weather/file");
  assert.equal(answer.writing, "copy");
  assert.equal((await t.call("DELETE", "/weather")).status, 409);
  const text = `${answer.text}\nAlways say it in Fahrenheit.\n`;
  assert.equal((await t.call("PUT", "/weather/file", { text }, { "if-match": etag })).status, 200);
  assert.equal((await t.listed("weather")).source, "workspace");
  assert.equal((await t.call("DELETE", "/weather")).status, 200);
  assert.equal((await t.listed("weather")).source, "bundled");
  assert.equal((await t.call("GET", "/weather/file")).answer.text, answer.text);
});

test("a folder with other skills in it is not deleted with them, and a skill at the top takes only its file", async () => {
  await using t = await start();
  await t.put("drinks", doc("Drinks."));
  await t.put(join("drinks", "coffee"), doc("Coffee."));
  const { status, answer } = await t.call("DELETE", "/drinks");
  assert.deepEqual([status, answer.error], [409, "Other skills are in its folder: coffee. Delete them first."]);
  assert.equal((await t.call("DELETE", "/coffee")).status, 200);
  assert.equal((await t.call("DELETE", "/drinks")).status, 200);
  await writeFile(join(t.skills, "SKILL.md"), doc("At the top."));
  await writeFile(join(t.skills, "loose.md"), doc("Loose."));
  assert.equal((await t.call("DELETE", "/skills")).status, 200);
  assert.deepEqual(await readdir(t.skills), ["loose.md"]);
});

test("the list says what is wrong: front matter, missing programs, length, and what is left out", async () => {
  await using t = await start();
  await t.put("broken", "---\nname: [x\n---\nText.\n");
  await t.put("gh", doc("Use gh.", 'metadata: {"nanobot":{"requires":{"bins":["sh","no-such-program-1"]}}}\n'));
  await t.put("any", doc("Any.", 'metadata: {"openclaw":{"requires":{"anyBins":["no-such-2","sh"]}}}\n'));
  await t.put("long", doc("word ".repeat(3000)));
  await t.put("huge", "x".repeat(1_100_000));
  await writeFile(join(t.skills, "gh.md"), doc("The same name."));
  const { answer } = await t.call("GET", "");
  const of = (name: string) => answer.skills.find((skill: { name: string }) => skill.name === name)?.problems;
  assert.match(
    of("broken").join(),
    /^Its front matter cannot be read: .*column 1\. All of the file is used as its text\.$/,
  );
  assert.deepEqual(of("gh"), ["It needs the program no-such-program-1, which is not on this machine."]);
  assert.deepEqual(of("any"), []);
  assert.match(of("long").join(), /longer than 12,000 characters/);
  assert.deepEqual(of("weather"), []);
  assert.equal(answer.problems.length, 2, answer.problems.join("\n"));
  assert.match(answer.problems.join("\n"), /huge.*larger than 1 MB/);
  assert.match(answer.problems.join("\n"), /gh.* has the same name/);
});

test("what was uploaded is installed under the name that its owner gave it", async () => {
  await using t = await start();
  const upload = async (name: string, body: string | Buffer): Promise<string> => {
    const response = await fetch(`${t.url}/api/upload`, {
      method: "POST",
      headers: { "x-filename": name },
      body: typeof body === "string" ? body : new Uint8Array(body),
    });
    return Object(await response.json()).path;
  };
  const loose = await upload("coffee.md", "Grind the beans.");
  const zip = await upload("cocoa.zip", zipOf([{ name: "SKILL.md", content: "Melt the chocolate." }]));
  for (const [source, called] of [
    [loose, "coffee.md"],
    [zip, "cocoa.zip"],
  ]) {
    const { status, answer } = await t.call("POST", "/install", { source, called });
    assert.equal(status, 200, JSON.stringify(answer));
  }
  assert.deepEqual((await readdir(t.skills)).sort(), ["cocoa", "coffee.md"]);
  const again = await t.call("POST", "/install", { source: loose, called: "coffee.md" });
  assert.deepEqual([again.status, again.answer.code], [409, "already_exists"]);
  const out = await t.call("POST", "/install", { source: loose, called: "../../evil.md" });
  assert.equal(out.status, 200);
  assert.deepEqual((await readdir(t.skills)).sort(), ["cocoa", "coffee.md", "evil.md"]);
});
