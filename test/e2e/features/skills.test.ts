import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { validateSkill } from "../../../src/skills/validate.js";
import { visit } from "../../../src/tools/web/web-fetch.js";
import { tempFolder, until } from "../../support/engine/engine-kit.js";
import { projectFile } from "../../support/project.js";
import { startWithModel } from "../../support/worlds/gateway.js";
import type { RecordedRequest, ScriptedAnswer } from "../../support/worlds/model-script.js";

const folder = projectFile("skills");
const bundled = ["calendar", "shell", "summarize", "weather", "write-skill"];
const bodyOf = async (name: string): Promise<string> =>
  (await readFile(join(folder, `${name}.md`), "utf8")).replace(/^---\n[\s\S]*?\n---\n/, "");

/** Does what the person wrote behind `do`: `do write_file {…}`. */
function answer(request: RecordedRequest): ScriptedAnswer {
  const asked = /do (\w+) (\{[\s\S]*\})$/.exec(request.userText);
  const isDone = request.bodyText.lastIndexOf('"role":"tool"') > request.bodyText.lastIndexOf('"role":"user"');
  if (asked === null || isDone) return { text: "ok" };
  return { toolCalls: [{ id: `call_${request.index}`, name: asked[1] ?? "", input: JSON.parse(asked[2] ?? "") }] };
}

async function start() {
  const scripted = await startWithModel(answer);
  return {
    ...scripted,
    last: (): string => scripted.model.requests.at(-1)?.userText ?? "",
    call: async (method: string, path: string, body?: object) => {
      const response = await fetch(`${scripted.url}/api/skills${path}`, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }),
      });
      return { status: response.status, answer: Object(await response.json()) };
    },
  };
}

test("each bundled skill is without fault, is in the list, and comes when it is named, also in Chinese", async () => {
  assert.deepEqual(
    (await readdir(folder)).sort(),
    bundled.map((name) => `${name}.md`),
  );
  await using t = await start();
  await t.gateway.ask("hello");
  const system = JSON.stringify(t.model.requests[0]?.body);
  for (const name of bundled) {
    assert.deepEqual(await validateSkill(join(folder, `${name}.md`)), { errors: [], warnings: [] }, name);
    assert.ok(system.includes(`- ${name}: `), `${name} is listed`);
    const body = (await bodyOf(name)).trim();
    assert.ok(!system.includes(JSON.stringify(body.slice(0, 60)).slice(1, -1)), `${name} is not sent unasked`);
    await t.gateway.ask(`@skill:${name} 请帮我`, { key: `webui:${name}` });
    assert.ok(t.last().includes(body), `@skill:${name} brings its text`);
    await t.gateway.ask(`$${name}帮我一下`, { key: `webui:${name}-zh` });
    assert.ok(t.last().includes(body), `$${name} brings its text`);
    const matched = (await t.gateway.events(`webui:${name}`)).find(({ type }) => type === "skill_matched");
    assert.ok(matched?.type === "skill_matched" && matched.payload.skills[0]?.name === name);
  }
});

test("what the calendar skill asks for is a calendar file", async () => {
  const template = /```\n([\s\S]*?)\n```/.exec(await bodyOf("calendar"))?.[1] ?? "";
  const event = template
    .replace("<random>", "7f3a")
    .replace(/<now in UTC, (\w+)>/, "$1")
    .replace(/<UTC as above[^>]*>/, "20260201T140000Z")
    .replace("<same form>", "20260201T150000Z")
    .replace("<title>", "Tea\\, with Ann")
    .replace("<place>", "上海");
  assert.doesNotMatch(event, /[<>]/, "nothing is left to be filled in");
  const alarm = ["BEGIN:VALARM", "ACTION:DISPLAY", "DESCRIPTION:Tea", "TRIGGER:-PT15M", "END:VALARM"].join("\n");
  await using t = await start();
  const input = {
    path: "tea.ics",
    content: event.replace("END:VEVENT", `RRULE:FREQ=WEEKLY;COUNT=10\n${alarm}\nEND:VEVENT`),
  };
  await t.gateway.ask(`@skill:calendar do write_file ${JSON.stringify(input)}`);
  const file = await readFile(join(t.gateway.workspace, ".sessions", "webui_test", "tea.ics"), "utf8");
  const { VEVENT, VCALENDAR } = parseCalendar(file);
  assert.deepEqual(
    [VCALENDAR?.VERSION, VEVENT?.UID, VEVENT?.DTSTART, VEVENT?.SUMMARY, VEVENT?.LOCATION],
    ["2.0", "7f3a@maxclaw", "20260201T140000Z", "Tea\\, with Ann", "上海"],
  );
  assert.throws(() => parseCalendar(file.replace("END:VEVENT\n", "")), /VEVENT is not closed/);
});

test("the commands of the shell skill run", async (context) => {
  const place = await tempFolder(context);
  await mkdir(join(place, "folder"));
  for (const [name, text] of [
    ["data.csv", "a,2\nb,3\na,1\n"],
    ["one.txt", "some text\n"],
    ["my report.txt", "x\n"],
  ] as const)
    await writeFile(join(place, name), text);
  const commands = [...(await bodyOf("shell")).matchAll(/`([^`\n]+)`/g)]
    .map(([, command = ""]) => command)
    .filter((command) => command.includes(" "));
  assert.ok(commands.length >= 10, commands.join(" | "));
  const run = (command: string): string => execFileSync("sh", ["-c", command], { cwd: place, encoding: "utf8" });
  const outputs = new Map(commands.map((command) => [command, run(command)]));
  const of = (start: string) => [...outputs].find(([command]) => command.startsWith(start))?.[1] ?? "";
  assert.match(of("grep"), /one\.txt:1:some text/);
  assert.match(of("find . -iname"), /my report\.txt/);
  assert.match(of("for f"), /^mv my report\.txt notes-my report\.txt$/m);
  assert.match(of("sort -t,"), /^b,3\na,2\na,1\n$/);
  assert.match(of("cut"), /2 a\n +1 b/);
  assert.match(of("tar -tzf"), /^folder\//);
});

test("the addresses of the weather skill are whole, for places in any writing", async () => {
  const addresses = [...(await bodyOf("weather")).matchAll(/https:\/\/\S+(?: to \d+>\S*)?(?:[^\S\n]zh, …>)?/g)].map(
    ([all]) => all,
  );
  assert.equal(addresses.length, 2, addresses.join("\n"));
  const [search = "", forecast = ""] = addresses;
  const place = new URL(search.replace("<place>", encodeURIComponent("上海")).replace(/<en,.*/, "zh"));
  assert.deepEqual(Object.fromEntries(place.searchParams), { name: "上海", count: "5", language: "zh" });
  const weather = new URL(
    forecast
      .replace("<lat>", "31.2")
      .replace("<lon>", "121.5")
      .replace(/<1 to 16>/, "3"),
  );
  assert.equal(weather.pathname, "/v1/forecast");
  assert.deepEqual(
    ["latitude", "longitude", "timezone", "forecast_days"].map((name) => weather.searchParams.get(name)),
    ["31.2", "121.5", "auto", "3"],
  );
  assert.doesNotMatch(weather.href, /%3C|%3E/, "nothing is left to be filled in");
  const sends = (url: string): boolean => visit(url, { knowsAddress: () => false }).sends;
  for (const { href } of [place, weather])
    assert.equal(sends(href), false, "nobody has to allow each of its questions");
  for (const other of [
    "http://api.open-meteo.com/",
    "https://api.open-meteo.com.evil.org/",
    "https://evil.org/api.open-meteo.com/",
  ])
    assert.equal(sends(other), true, other);
  assert.equal(sends(new URL("https://api.open-meteo.com@evil.org/x").href), true);
});

test("a skill of the form that write-skill gives is one", async () => {
  const form = /```\n([\s\S]*?)\n```/.exec(await bodyOf("write-skill"))?.[1] ?? "";
  await using t = await start();
  const home = join(t.gateway.workspace, "skills", "invoice");
  await mkdir(home, { recursive: true });
  const text = form
    .replace("<short-name>", "invoice")
    .replace(/<what it does[^>]*>/, "Use when: an invoice is wanted")
    .replace("<the steps>", "Read the hours, then write it.");
  await writeFile(join(home, "SKILL.md"), text);
  assert.deepEqual(await validateSkill(join(home, "SKILL.md")), { errors: [], warnings: [] });
  await t.gateway.ask("$invoice for May");
  assert.ok(t.last().includes("Read the hours, then write it."));
});

test("edits, switches and removals count from the next message on", async () => {
  await using t = await start();
  const file = join(t.gateway.workspace, "skills", "tea.md");
  await mkdir(join(t.gateway.workspace, "skills"), { recursive: true });
  await writeFile(file, "Boil water.");
  await t.gateway.ask("$tea please", { key: "webui:1" });
  assert.ok(t.last().includes("Boil water."));
  await writeFile(file, "Boil no water.");
  const seen = async () => (await t.gateway.gateway.api.listSkills()).find(({ name }) => name === "tea")?.description;
  // The folders are looked at twenty times a second at most.
  await until("it is seen", async () => (await seen()) === "Boil no water.");
  await t.gateway.ask("$tea please", { key: "webui:1" });
  assert.ok(t.last().includes("Boil no water."));

  assert.deepEqual((await t.call("POST", "/TEA/disable")).answer, { ok: true, name: "tea", enabled: false });
  await t.gateway.ask("$tea please", { key: "webui:2" });
  assert.ok(!t.last().includes("Boil"));
  const state = JSON.parse(await readFile(join(t.gateway.workspace, ".skills_state.json"), "utf8"));
  assert.deepEqual(state, { tea: false });
  const listed = (await t.call("GET", "")).answer.skills.find(({ name }: { readonly name: string }) => name === "tea");
  assert.deepEqual([listed.enabled, listed.displayName, listed.source], [false, "tea", "workspace"]);
  await t.call("POST", "/tea/enable");
  await t.gateway.ask("$tea please", { key: "webui:3" });
  assert.ok(t.last().includes("Boil no water."));
  assert.equal((await t.call("POST", "/coffee/enable")).status, 404);

  await rm(file);
  await until("it is not seen any more", async () => (await seen()) === undefined);
  await t.gateway.ask("$tea please", { key: "webui:4" });
  assert.ok(!t.last().includes("Boil"));
});

test("skills are installed over HTTP and are there for the next message", async (context) => {
  await using t = await start();
  const source = join(await tempFolder(context), "tea");
  await mkdir(source);
  await writeFile(join(source, "SKILL.md"), "---\nname: tea\ndescription: Make tea.\n---\nBoil water.");
  const { answer } = await t.call("POST", "/install", { type: "folder", source });
  assert.deepEqual(answer.skills, [{ name: "tea", path: join(t.gateway.workspace, "skills/tea"), warnings: [] }]);
  await t.gateway.ask("$tea please");
  assert.ok(t.last().includes("Boil water."));
  assert.equal((await t.call("POST", "/install", { source })).status, 409);
  assert.equal((await t.call("POST", "/install", { source, replace: true })).status, 200);
  assert.equal((await t.call("POST", "/install", { type: "clawhub", source: "x" })).status, 400);
  assert.equal((await t.call("POST", "/install", { source: "/nowhere/at/all" })).status, 400);
});

/** The parts of a calendar file by name. @throws what breaks RFC 5545's rules for lines, nesting and what must be there */
function parseCalendar(text: string): Record<string, Record<string, string> | undefined> {
  const parts: Record<string, Record<string, string>> = {};
  const open: string[] = [];
  for (const line of text.trimEnd().split(/\r?\n/)) {
    const [, name = "", value = ""] = /^([A-Z-]+)(?:;[^:]*)?:(.*)$/.exec(line) ?? [];
    assert.notEqual(name, "", `"${line}" is not a line of a calendar`);
    if (name === "BEGIN") {
      open.push(value);
      parts[value] = {};
    } else if (name === "END") {
      const part = open.pop();
      assert.equal(part, value, `${part} is not closed`);
    } else Object.assign(parts[open.at(-1) ?? ""] ?? {}, { [name]: value });
  }
  assert.deepEqual(open, []);
  for (const [part, names] of [
    ["VCALENDAR", ["VERSION", "PRODID"]],
    ["VEVENT", ["UID", "DTSTAMP", "DTSTART", "SUMMARY"]],
    ["VALARM", ["ACTION", "TRIGGER", "DESCRIPTION"]],
  ] as const)
    for (const name of names) assert.ok(parts[part]?.[name], `${part} has no ${name}`);
  for (const name of ["DTSTAMP", "DTSTART", "DTEND"]) assert.match(parts.VEVENT?.[name] ?? "", /^\d{8}T\d{6}Z?$/);
  return parts;
}

test("a skill that was bad is not a problem any more once it is deleted or mended", async () => {
  await using t = await start();
  const bad = join(t.gateway.workspace, "skills", "bad.md");
  const worse = join(t.gateway.workspace, "skills", "worse.md");
  await mkdir(join(t.gateway.workspace, "skills"), { recursive: true });
  await writeFile(bad, "---\n{: nothing\n---\nx");
  await writeFile(worse, "---\n{: nothing\n---\nx");
  await t.gateway.ask("hello");
  const problems = async () =>
    (await t.gateway.gateway.api.status()).problems.filter((one) => /front matter/.test(one));
  assert.equal((await problems()).length, 2);
  await rm(bad);
  await writeFile(worse, "---\ndescription: y\n---\nx");
  assert.deepEqual(await problems(), []);
  await t.gateway.ask("hello");
  assert.deepEqual(await problems(), []);
});
