import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { z } from "zod";
import type { LogFields } from "../../../src/log.js";
import { keptFolderOf } from "../../../src/policy/locations/zones.js";
import { builtinTools } from "../../../src/tools/builtin.js";
import { createToolRegistry } from "../../../src/tools/registry.js";
import { readSkillTool } from "../../../src/tools/skills/read-skill.js";
import { defineTool, type Tool, type ToolResult } from "../../../src/tools/tool.js";
import { createToolPlace } from "../../support/worlds/tools/tool-context.js";

function toolThat(run: Tool["run"], input: z.ZodType = z.object({ n: z.int().optional() }), name = "probe"): Tool {
  return defineTool({ name, description: "", input, effect: "read", risk: "none", origin: "builtin", run });
}

function ok(text: string): ToolResult {
  return { text, isError: false, summary: "" };
}

test("the declarations are sorted, always the same, and cost little", () => {
  const registry = createToolRegistry(builtinTools);
  const declarations = registry.declarations();
  assert.deepEqual(
    declarations.map(({ name }) => name),
    [
      ...["ask_human", "edit_file", "glob", "grep", "list_dir", "plan", "read_file", "read_skill"],
      ...["send_file", "spawn", "write_file"],
    ],
  );
  const json = JSON.stringify(declarations);
  assert.ok(json.length <= 4700, `${json.length} characters`);
  assert.equal(JSON.stringify(createToolRegistry([...builtinTools].reverse()).declarations()), json);
  assert.equal(registry.declarations(), declarations);
  for (const noise of ["$schema", "additionalProperties", "9007199254740991"]) assert.ok(!json.includes(noise), noise);
  for (const { inputSchema } of declarations) assert.equal(inputSchema.type, "object");
});

test("the schema of a tool is made once, also where its gateway has other tools beside it later", () => {
  const schemaIn = (tools: readonly Tool[]) =>
    createToolRegistry(tools)
      .declarations()
      .find(({ name }) => name === "plan")?.inputSchema;
  const first = schemaIn(builtinTools);
  assert.ok(first !== undefined);
  assert.equal(schemaIn([toolThat(async () => ok("")), ...builtinTools]), first);
});

test("a field may be called like a keyword, and a record keeps the schema of its values", () => {
  const input = z.object({
    $schema: z.string(),
    additionalProperties: z.string(),
    map: z.record(z.string(), z.number()),
  });
  const [declaration] = createToolRegistry([toolThat(async () => ok(""), input)]).declarations();
  assert.deepEqual(Object.keys(declaration?.inputSchema.properties ?? {}), ["$schema", "additionalProperties", "map"]);
  assert.match(JSON.stringify(declaration), /"additionalProperties":\{"type":"number"\}/);
});

test("tools that no provider would accept are left out and logged; of two with one name the first stays", () => {
  const logged: LogFields[] = [];
  const log = {
    debug() {},
    info() {},
    warn() {},
    error: (_: string, fields: LogFields = {}) => void logged.push(fields),
  };
  const first = toolThat(async () => ok("first"));
  const registry = createToolRegistry(
    [
      first,
      toolThat(async () => ok("second")),
      toolThat(async () => ok(""), z.string(), "not_an_object"),
      toolThat(async () => ok(""), z.object({}), "bad name"),
    ],
    { log },
  );
  assert.deepEqual(
    registry.declarations().map(({ name }) => name),
    ["probe"],
  );
  assert.equal(registry.find("probe"), first);
  assert.equal(logged.length, 3);
});

test("an unknown tool is answered with the nearest one and the list", async () => {
  using place = createToolPlace();
  const registry = createToolRegistry(builtinTools);
  const names =
    "Tools: ask_human, edit_file, glob, grep, list_dir, plan, read_file, read_skill, send_file, spawn, write_file.";
  for (const [wrong, right] of [
    ["ReadFile", "read_file"],
    ["list_dirs", "list_dir"],
    ["write-file", "write_file"],
  ] as const) {
    assert.deepEqual(registry.check(wrong, {}), {
      ok: false,
      text: `There is no tool "${wrong}". Did you mean ${right}? ${names}`,
    });
  }
  assert.deepEqual(registry.check("teleport", {}), { ok: false, text: `There is no tool "teleport". ${names}` });
  assert.equal(registry.find("constructor"), undefined);
  const result = await registry.run("teleport", {}, place.context(readSkillTool));
  assert.equal(result.isError, true);
});

test("wrong input is answered with one sentence that names the fields", () => {
  const registry = createToolRegistry(builtinTools);
  const text = (name: string, input: unknown): string => {
    const checked = registry.check(name, input);
    return checked.ok ? "ok" : checked.text;
  };
  assert.equal(
    text("read_file", { file_path: "a", offset: "two" }),
    "Wrong input for read_file: `file_path` is not a field (did you mean `path`?); `path` is missing; `offset` must be a number. Fields: path, offset, limit.",
  );
  assert.match(text("read_file", { path: "a", offset: 0 }), /`offset`: too small/);
  assert.match(text("read_file", "a.txt"), /the input must be an object/);
  assert.match(text("read_file", undefined), /`path` is missing/);
  assert.equal(text("list_dir", undefined), "ok");
});

test("a field that a tool does not know is an error that names it and those that it knows, also in lists and below", () => {
  const registry = createToolRegistry([...builtinTools, toolThat(async () => ok(""), z.looseObject({ n: z.int() }))]);
  const text = (name: string, input: unknown): string => {
    const checked = registry.check(name, input);
    return checked.ok ? "ok" : checked.text;
  };
  assert.equal(
    text("read_file", { path: "a", zebra: 1 }),
    "Wrong input for read_file: `zebra` is not a field. Fields: path, offset, limit.",
  );
  assert.equal(
    text("write_file", { path: "a", content: "b", __proto__x: 1, toString: "x" }).replace(
      / \(did you mean[^)]*\)/g,
      "",
    ),
    "Wrong input for write_file: `__proto__x` is not a field; `toString` is not a field. Fields: path, content.",
  );
  assert.match(
    text("plan", { action: "reflect", adjust: [{ step: "1" }, { stop: "2" }] }),
    /`adjust\.1\.stop` is not a field \(did you mean `step`\?\); there are step, text\./,
  );
  assert.equal(text("probe", { n: 1, any: "thing" }), "ok");
});

test("a bug of a tool is logged and becomes a result; the next call works", async () => {
  using place = createToolPlace();
  const logged: LogFields[] = [];
  const log = {
    debug() {},
    info() {},
    warn() {},
    error: (_: string, fields: LogFields = {}) => void logged.push(fields),
  };
  const bug = new Error("cannot read properties of undefined");
  const tool = toolThat((input) => {
    if (z.object({ n: z.number() }).safeParse(input).success) throw bug;
    return Promise.reject(bug);
  });
  const registry = createToolRegistry([tool], { log });
  for (const input of [{}, { n: 1 }]) {
    const result = await registry.run("probe", input, place.context(tool));
    assert.equal(result.text, "probe failed unexpectedly: cannot read properties of undefined");
    assert.equal(result.isError, true);
  }
  assert.deepEqual(
    logged.map(({ error }) => error),
    [bug, bug],
  );
});

test("an abort ends the call at once, also when the tool does not listen", async () => {
  using place = createToolPlace();
  const controller = new AbortController();
  const tool = toolThat(() => new Promise(() => {}));
  const registry = createToolRegistry([tool]);
  const reason = new Error("stopped by the person");
  const call = registry.run("probe", {}, place.context(tool, { signal: controller.signal }));
  setImmediate(() => controller.abort(reason));
  await assert.rejects(call, reason);
  await assert.rejects(registry.run("probe", {}, place.context(tool, { signal: controller.signal })), reason);
});

test("a tool's own AbortError is a failure of the tool, not a stop", async () => {
  using place = createToolPlace();
  const tool = toolThat(() => Promise.reject(new DOMException("inner", "AbortError")));
  assert.equal((await createToolRegistry([tool]).run("probe", {}, place.context(tool))).isError, true);
});

test("a result over 16,000 characters is cut, and the model can read all of it", async () => {
  using place = createToolPlace();
  const whole = "😀".repeat(12_345);
  const tool = toolThat(async () => ok(whole));
  const registry = createToolRegistry([tool, ...builtinTools]);
  const result = await registry.run("probe", {}, place.context(tool, { toolCallId: "../../call/1" }));
  assert.ok(result.text.length <= 16_000);
  assert.match(
    result.text,
    /24690 characters in all\. The whole text is in \S+\/\.kept\/telegram_42\/tool-results\/probe-______call_1\.txt;/,
  );
  assert.ok(!/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/.test(result.text));
  assert.equal(
    readFileSync(path.join(keptFolderOf(place.folder), "tool-results/probe-______call_1.txt"), "utf8"),
    whole,
  );
  const read = await registry.run("read_file", { path: "tool-results/probe-______call_1.txt" }, place.context(tool));
  assert.equal(read.isError, false);
  const short = toolThat(async () => ok("x".repeat(16_000)));
  assert.equal((await createToolRegistry([short]).run("probe", {}, place.context(short))).text.length, 16_000);
});

test("the rest of a result is kept also where the workspace is reached over a link", async () => {
  using place = createToolPlace();
  const linked = path.join(place.root, "linked");
  symlinkSync(place.workspace, linked);
  const tool = toolThat(async () => ok("x".repeat(20_000)));
  const result = await createToolRegistry([tool]).run("probe", {}, place.context(tool, { workspace: linked }));
  assert.match(result.text, /The whole text is in \S+\/tool-results\/probe-call_1\.txt;/);
  assert.equal(
    readFileSync(path.join(keptFolderOf(place.folder), "tool-results/probe-call_1.txt"), "utf8").length,
    20_000,
  );
});

test("the rest of a result is not written where commands can make a link, nor through one", async () => {
  using place = createToolPlace();
  const kept = keptFolderOf(place.folder);
  for (const folder of [place.folder, kept, path.join(place.root, "outside")]) mkdirSync(folder, { recursive: true });
  symlinkSync(path.join(place.root, "outside"), path.join(place.folder, "tool-results"));
  symlinkSync(path.join(place.root, "outside"), path.join(kept, "tool-results"));
  const tool = toolThat(async () => ok("x".repeat(20_000)));
  const result = await createToolRegistry([tool]).run("probe", {}, place.context(tool));
  assert.match(result.text, /20000 characters in all\. The rest could not be kept/);
  assert.deepEqual(readdirSync(path.join(place.root, "outside")), []);
});

test("read_skill gives a skill's text, and says when there is none", async () => {
  using place = createToolPlace();
  const readSkill = async (name: string) => (name === "pdf" ? "how to" : undefined);
  for (const name of ["pdf", "$pdf", "@skill:pdf", " pdf "]) {
    assert.equal((await place.run(readSkillTool, { name }, { readSkill })).text, "how to");
  }
  const missing = await place.run(readSkillTool, { name: "x" }, { readSkill });
  assert.deepEqual([missing.isError, missing.text], [true, 'There is no skill "x".']);
});
