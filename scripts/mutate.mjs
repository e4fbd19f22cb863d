// `npm run mutate`: breaks the program in one place after the other, in a copy of what is compiled, and looks whether the
// tests notice. What it breaks is in `scripts/mutations`. Without options: a sample of 60 over all areas, each by the
// one test file that has to notice it. `--area <name>`: of one area. `--only <text>`: of files whose path has this text.
// `--list`: looks only whether each can be applied, and whether its test is there. `--all`: also those that name no test, by
// groups of tests, and `--groups 1` by the first group alone.
import { spawn } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { transformWithOxc } from "vite";
import * as agent from "./mutations/agent.mjs";
import * as channels from "./mutations/channels.mjs";
import * as engine from "./mutations/engine.mjs";
import * as policy from "./mutations/policy.mjs";

/** Each mutation: the file, what is there exactly once, what is there instead, the test that has to notice it. */
const areas = { engine, agent, channels, policy };
const root = dirname(dirname(fileURLToPath(import.meta.url)));
// Below node_modules nobody looks for sources, and packages are still found from there.
const copy = join(root, "node_modules", ".cache", "mutate");
/** As wide as the other answers, so that the list reads well. */
const noticed = "noticed  ";
/** Another program than the broken copy would notice nothing. */
const { MAXCLAW_TEST_PROGRAM: _program, MAXCLAW_TEST_CHILDREN: _children, ...ofCopy } = process.env;
/** A mutation may make a test wait for ever. */
const longestRunMs = 300_000;

/** The compiled test files of a group, by their names. */
function filesOf([folder, pattern]) {
  const files = readdirSync(join(root, "dist", "test", folder), { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => file.endsWith(".test.js") && pattern.test(basename(file)))
    .map((file) => join(folder, file));
}

/** The source with a mutation in it, or why it cannot be applied. */
function mutated([file, from, to]) {
  const source = readFileSync(join(root, file), "utf8");
  const parts = source.split(from);
  if (parts.length !== 2) return { problem: `"${from}" is ${parts.length - 1} times in ${file}` };
  return { source: parts.join(to) };
}

function isThere(test) {
  return test === undefined || existsSync(join(root, "test", `${test}.test.ts`));
}

async function compiled(file, source) {
  const { code } = await transformWithOxc(source, join(root, file), { lang: "ts", target: "es2022", sourcemap: false });
  return code;
}

/** Resolves with whether all tests of these files pass. */
function passes(files) {
  return new Promise((resolve) => {
    const paths = files.map((file) => join(copy, "dist", "test", file));
    const args = ["--disable-warning=ExperimentalWarning", "--test", "--test-concurrency=2", "--test-timeout=240000"];
    const child = spawn(process.execPath, [...args, ...paths], { cwd: root, env: ofCopy, stdio: "ignore" });
    const timer = setTimeout(() => child.kill(), longestRunMs);
    child.once("close", (code) => {
      clearTimeout(timer);
      resolve(code === 0);
    });
  });
}

/** The groups of tests that look at a mutation, the quickest first. */
function groupsFor({ area, mutation }) {
  const [, , , test] = mutation;
  const own = test === undefined ? [] : [[`${test}.test.js`]];
  const others = values.all ? (areas[area].groups ?? []).slice(0, Number(values.groups)).map(filesOf) : [];
  return [...own, ...others];
}

/** By the names of its files: whether a group passes without any mutation. */
const baselines = new Map();

async function holds(group) {
  const name = group.join();
  const known = baselines.get(name) ?? (await passes(group));
  baselines.set(name, known);
  return known;
}

/** Applies a mutation, and takes it back. Says what the tests have shown. */
async function judge({ area, mutation }) {
  const groups = groupsFor({ area, mutation });
  for (const group of groups) if (!(await holds(group))) return `FAILS WITHOUT IT (${group.join(", ")})`;
  const [file] = mutation;
  const target = join(copy, "dist", file.replace(/\.ts$/, ".js"));
  const before = readFileSync(target, "utf8");
  writeFileSync(target, await compiled(file, mutated(mutation).source));
  try {
    for (const group of groups) if (!(await passes(group))) return noticed;
    return "UNNOTICED";
  } finally {
    writeFileSync(target, before);
  }
}

/** A sample has only what a single test file has to notice; of the policy those that a unit test notices. */
function isInSample(area, [, , , test]) {
  return area === "policy" ? test?.startsWith("unit/") === true : test !== undefined;
}

const { values } = parseArgs({
  options: {
    area: { type: "string" },
    only: { type: "string" },
    list: { type: "boolean", default: false },
    all: { type: "boolean", default: false },
    groups: { type: "string", default: "100" },
  },
});
const chosen = Object.entries(areas)
  .filter(([area]) => values.area === undefined || values.area === area)
  .flatMap(([area, { mutations }]) => mutations.map((mutation) => ({ area, mutation })))
  .filter(({ area, mutation }) => values.all || isInSample(area, mutation))
  .filter(({ mutation: [file] }) => values.only === undefined || file.includes(values.only));
const missing = new Set(chosen.map(({ mutation: [, , , test] }) => test).filter((test) => !isThere(test)));
const problems = [
  ...chosen.flatMap(({ mutation }) => mutated(mutation).problem ?? []),
  ...[...missing].map((test) => `there is no test ${test}`),
];
for (const problem of problems) console.log(`cannot be applied: ${problem}`);
if (values.list) {
  const counts = Object.keys(areas).map((name) => `${name} ${chosen.filter(({ area }) => area === name).length}`);
  console.log(`${chosen.length} mutations: ${counts.join(", ")}`);
}
if (values.list || problems.length > 0) process.exit(problems.length > 0 ? 1 : 0);

rmSync(copy, { recursive: true, force: true });
for (const folder of ["src", "test", "scripts", "web", "node_modules"])
  cpSync(join(root, "dist", folder), join(copy, "dist", folder), { recursive: true });
// They lie beside the program.
cpSync(join(root, "skills"), join(copy, "skills"), { recursive: true });
try {
  let count = 0;
  for (const one of chosen) {
    const [file, from, to] = one.mutation;
    const shown = await judge(one);
    if (shown === noticed) count += 1;
    console.log(`${shown} ${file}: ${from.trim()} -> ${to.trim() || "nothing"}`);
  }
  console.log(`${count} of ${chosen.length} are noticed`);
  process.exitCode = count === chosen.length ? 0 : 1;
} finally {
  rmSync(copy, { recursive: true, force: true });
}
