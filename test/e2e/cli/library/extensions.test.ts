import assert from "node:assert/strict";
import { chmod, chown, cp, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { until } from "../../../support/engine/engine-kit.js";
import { projectFile } from "../../../support/project.js";
import { startGateway, startWithModel, tempHome } from "../../../support/worlds/gateway.js";
import type { AnswerScript } from "../../../support/worlds/model-script.js";

interface Wanted {
  readonly module: string;
  readonly options?: object;
}

/** A gateway whose home holds the examples, and more files by their name. */
async function start(
  extensions: readonly Wanted[],
  answer: AnswerScript,
  files: Readonly<Record<string, string>> = {},
  more = {},
) {
  const home = await tempHome();
  await cp(projectFile("examples/extensions"), home, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(home, name, ".."), { recursive: true });
    await writeFile(join(home, name), content);
  }
  const scripted = await startWithModel(answer, { extensions, ...more }, { home });
  return { ...scripted, home, problems: async () => (await scripted.api.status()).problems };
}

const rolls: AnswerScript = ({ bodyText, index }) =>
  bodyText.includes('"role":"tool"')
    ? { text: "Rolled." }
    : { toolCalls: [{ id: `call_${index}`, name: "roll_dice", input: { count: 3 } }] };

test("there is one example of each kind, and this file runs each of them", async () => {
  assert.deepEqual((await readdir(projectFile("examples/extensions"))).sort(), [
    "dice.mjs",
    "one-file.mjs",
    "parrot.mjs",
    "step-watch.mjs",
    "tcp-chat.mjs",
  ]);
});

test("the tool rolls dice, and the machine says when there were many tools", async () => {
  await using t = await start(
    [
      { module: "./dice.mjs", options: { sides: 1 } },
      { module: "step-watch.mjs", options: { tools: 1 } },
    ],
    rolls,
  );
  assert.deepEqual(await t.problems(), []);
  assert.equal((await t.gateway.ask("roll three dice")).response, "Rolled.");
  assert.match(t.model.requests.at(-1)?.bodyText ?? "", /1, 1, 1 \(1 sides each\)/);
  const events = await t.gateway.events();
  const told = events.flatMap((event) => (event.type === "error_occurred" ? [event.payload.code] : []));
  assert.deepEqual(told, ["MANY_TOOLS"]);
});

test("the provider answers with the model's name before a slash", async () => {
  await using t = await start([{ module: "./parrot.mjs" }], { text: "from the config's own" });
  const { api } = t;
  await api.createSession({ key: "webui:bird", model: "parrot/grey" });
  assert.equal((await t.gateway.ask("hello there", { key: "webui:bird" })).response, "Squawk! hello there ");
  assert.equal((await t.gateway.ask("hello")).response, "from the config's own");
});

test("the channel takes lines and answers them, for people who may talk", async () => {
  await using t = await start(
    [{ module: "./tcp-chat.mjs", options: { port: 0 } }],
    { text: "Hello Ann." },
    {},
    { owners: ["tcp-chat:ann"] },
  );
  const portOf = () =>
    t.gateway.log.lines
      .map(({ message }) => /tcp-chat listens on port (\d+)/.exec(message)?.[1])
      .find((port) => port !== undefined);
  await until("it listens", () => portOf() !== undefined);
  const talk = async (name: string) => {
    const socket = connect(Number(portOf()), "127.0.0.1");
    let text = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    socket.write(`${name}\nhello\n`);
    await until(`${name} is answered`, () => text.includes("\n"));
    socket.destroy();
    return text;
  };
  assert.equal(await talk("Ann"), "Hello Ann.\n");
  assert.match(await talk("Bob"), /maxclaw pair approve/);
  const channel = (await t.api.status()).channels.find(({ name }) => name === "tcp-chat");
  assert.equal(channel?.state, "connected");
});

test("the storage keeps the documents in one file, over restarts", async () => {
  await using t = await start([{ module: "./one-file.mjs", options: { file: "all.json" } }], { text: "Noted." });
  await t.gateway.ask("remember the milk");
  await using again = await t.gateway.restart();
  const stored = JSON.parse(await readFile(join(t.home, "all.json"), "utf8"));
  assert.ok(JSON.stringify(stored).includes("remember the milk"));
  assert.ok(
    (await again.gateway.api.listSessions({ limit: 5, offset: 0 })).sessions.some(({ key }) => key === "webui:test"),
  );
  await assert.rejects(readFile(join(again.workspace, ".sessions/webui_test.json")), { code: "ENOENT" });
});

test("what cannot be used is left out and told, and keeps nothing from starting", async () => {
  const broken: Readonly<Record<string, readonly [content: string, why: RegExp]>> = {
    "throws.mjs": ["export default () => { throw new Error('no luck') }", /no luck/],
    "syntax.mjs": ["export default {", /Unexpected/],
    "nothing.mjs": ["export const x = 1", /no default export/],
    "number.mjs": ["export default 7", /wrong: expected/],
    "unknown.mjs": ["export default { tolls: [] }", /wrong/],
    "tool.mjs": ["export default { tools: [{ name: 'x' }] }", /tools\.0 is wrong: expected a tool with name/],
    "schema.mjs": [
      "export default { tools: [{ name: 'x', description: '', input: { safeParse() {}, parse() {} }, run() {} }] }",
      /tools\.0 is wrong/,
    ],
    "risk.mjs": [
      "export default ({ z }) => ({ tools: [{ name: 'x', description: '', input: z.object({}), risk: 'high', run() {} }] })",
      /tools\.0 is wrong/,
    ],
    "storage.mjs": ["export default { storage: { name: 'x' } }", /storage is wrong/],
    "channel.mjs": [
      "export default { channels: () => [{ name: 'webui', run() {}, split() {}, send() {} }] }",
      /"webui" cannot be the name/,
    ],
    "channels.mjs": ["export default { channels: () => { throw new Error('no port') } }", /no port/],
    "reactor.mjs": [
      "export default { reactors: [{ name: 'r', start() { throw new Error('deaf') }, stop() {} }] }",
      /deaf/,
    ],
    "options.mjs": [
      "export default ({ z, options }) => { z.object({ port: z.int() }).parse(options); return {}; }",
      /left out: port: Invalid input: expected \w+, received undefined$/,
    ],
    "workspace/skills/evil.mjs": ["export default { tools: [] }", /is in the workspace/],
    "stop.mjs": ["export default { dispose: () => Promise.reject(new Error('x')) }", /^$/],
  };
  const files = Object.fromEntries(Object.entries(broken).map(([name, [content]]) => [name, content]));
  const modules = [...Object.keys(broken), "missing.mjs"].map((module) => ({ module }));
  await using t = await start([...modules, { module: "dice.mjs", options: { sides: 1 } }], rolls, files);
  assert.equal((await t.gateway.ask("roll three dice")).response, "Rolled.");
  const told = async (module: string): Promise<readonly string[]> =>
    (await t.problems()).filter((problem) => problem.startsWith(`The extension ${module} is left out: `));
  for (const [module, [, why]] of Object.entries(broken)) {
    if (module === "stop.mjs") assert.deepEqual(await told(module), []);
    else assert.match((await told(module)).join("\n"), why, module);
  }
  assert.match((await told("missing.mjs")).join(), /ENOENT/);
  assert.deepEqual(await told("dice.mjs"), []);
});

test("what somebody else or the assistant could change is not loaded, also over links", async () => {
  const marks = (name: string): string => `import { writeFileSync } from "node:fs";
    export default ({ home }) => { writeFileSync(home + "/${name}.ran", ""); return {}; }`;
  const modules: Readonly<Record<string, readonly [file: string, why: RegExp]>> = {
    "shared.mjs": ["shared.mjs", /shared\.mjs can be changed by others .*chmod go-w/],
    "all.mjs": ["all.mjs", /all\.mjs can be changed by others/],
    "open/one.mjs": ["open/one.mjs", /open can be changed by others/],
    "workspace/out.mjs": ["fine.mjs", /is in the workspace/],
    "in.mjs": ["workspace/in.mjs", /is in the workspace/],
    "way/three.mjs": ["workspace/folder/three.mjs", /is in the workspace/],
    "open/link.mjs": ["fine.mjs", /open can be changed by others/],
    "round.mjs": ["none.mjs", /too many links/],
    ...(process.getuid?.() === 0
      ? { "foreign.mjs": ["foreign.mjs", /foreign\.mjs belongs to another user/] as const }
      : {}),
  };
  const home = await tempHome();
  for (const [module, [file]] of Object.entries(modules)) {
    await mkdir(dirname(join(home, file)), { recursive: true });
    if (file !== "none.mjs") await writeFile(join(home, file), marks(basename(file)));
    await mkdir(dirname(join(home, module)), { recursive: true }).catch(() => undefined);
  }
  await rm(join(home, "way"), { recursive: true });
  const links = {
    "workspace/out.mjs": "fine.mjs",
    "in.mjs": "workspace/in.mjs",
    way: "workspace/folder",
    "open/link.mjs": "fine.mjs",
  };
  for (const [from, to] of Object.entries(links)) await symlink(join(home, to), join(home, from));
  await symlink(join(home, "round.mjs"), join(home, "round.mjs"));
  await chmod(join(home, "shared.mjs"), 0o664);
  await chmod(join(home, "all.mjs"), 0o666);
  await chmod(join(home, "open"), 0o777);
  if (process.getuid?.() === 0) await chown(join(home, "foreign.mjs"), 12_345, 12_345);
  await writeFile(join(home, "fine.mjs"), marks("fine.mjs"));
  await symlink(join(home, "fine.mjs"), join(home, "good.mjs"));
  const extensions = [...Object.keys(modules), "good.mjs"].map((module) => ({ module }));
  await using gateway = await startGateway({ home, config: { extensions } });
  const { problems } = await gateway.gateway.api.status();
  const told = (module: string): string =>
    problems.filter((problem) => problem.startsWith(`The extension ${module} is left out: `)).join("\n");
  for (const [module, [, why]] of Object.entries(modules)) assert.match(told(module), why, module);
  assert.equal(told("good.mjs"), "");
  assert.deepEqual(
    (await readdir(home)).filter((name) => name.endsWith(".ran")),
    ["fine.mjs.ran"],
  );
});

test("a storage that fails is told, and costs no message", async () => {
  const content = `const no = async () => { throw new Error("no disk") };
    export default { storage: { name: "sad", get: no, getMany: no, set: no, delete: no, keys: no, change: no } }`;
  await using t = await start([{ module: "sad.mjs" }], { text: "Here." }, { "sad.mjs": content });
  assert.equal((await t.gateway.ask("hello")).response, "Here.");
  await until("it is told", async () => (await t.problems()).some((problem) => problem.includes("no disk")));
});

test("what a tool gives that is not a result fails that call and nothing after it", async () => {
  const content = `export default ({ z }) => ({ tools: [{ name: "roll_dice", description: "x", input: z.object({ count: z.int() }),
    risk: "none", run: async () => ({ text: 42 }) }] })`;
  await using t = await start([{ module: "odd.mjs" }], rolls, { "odd.mjs": content });
  assert.equal((await t.gateway.ask("roll")).response, "Rolled.");
  assert.match(t.model.requests.at(-1)?.bodyText ?? "", /roll_dice failed unexpectedly: its result is not of the form/);
  const short = content.replace("{ text: 42 }", '{ text: "a six" }').replace("roll_dice", "throw_dice");
  await using u = await start(
    [{ module: "short.mjs" }],
    ({ bodyText }) =>
      bodyText.includes('"role":"tool"')
        ? { text: "Rolled." }
        : { toolCalls: [{ id: "call_1", name: "throw_dice", input: { count: 1 } }] },
    { "short.mjs": short },
  );
  await u.gateway.ask("roll");
  const done = (await u.gateway.events()).find(({ type }) => type === "tool_execution_complete");
  assert.ok(done?.type === "tool_execution_complete");
  assert.deepEqual([done.payload.output, done.payload.is_error, done.payload.summary], ["a six", false, ""]);
});

test("a tool that says nothing of itself asks before each call", async () => {
  const content =
    "export default ({ z }) => ({ tools: [{ name: 'roll_dice', description: 'x', input: z.object({ count: z.int() }), risk: undefined, run: async () => ({ text: 'ran', isError: false, summary: 'ran' }) }] })";
  await using t = await start([{ module: "mine.mjs" }], rolls, { "mine.mjs": content });
  await t.gateway.post("roll");
  const asked = await t.gateway.waitForEvent((event) => event.type === "human_input_asked");
  assert.ok(asked.type === "human_input_asked" && asked.payload.kind === "permission");
  await t.api.stopTurn("webui:test");
});
