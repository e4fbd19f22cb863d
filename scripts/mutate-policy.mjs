// `npm run mutate`: breaks the policy in one place after the other, in a copy of the compiled program, and looks whether
// the tests notice. `--only <text>`: those of one file. `--list`: only looks whether each can be applied. `--groups 1`: by
// the quickest tests alone. `--named`: those alone that name the test which has to notice them, and by that one.
import { spawn } from "node:child_process";
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { transformWithOxc } from "vite";
import { mutations } from "./policy-mutations.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
// Below node_modules nobody looks for sources, and packages are still found from there.
const copy = join(root, "node_modules", ".cache", "mutate");
/** The quickest first: a mutation is noticed by the first of them that fails. */
const tests = [
  named("unit", /^(policy-|permit|audience|owner-memory)/),
  named("unit", /^(tools-(files|chat|web-fetch)|exec-attacks|memory|audience|question)/),
  named("e2e", /^(approvals|questions|mcp|plan|.*memory.*|skills|policy.*)\.test/),
  named("e2e", /^attack\.test/),
];

function named(folder, pattern) {
  const files = readdirSync(join(root, "dist", "test", folder), { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => file.endsWith(".test.js") && pattern.test(basename(file)))
    .map((file) => join(folder, file));
}

/** Of one mutation: the source with it, or why it cannot be applied. */
function mutated([file, from, to]) {
  const source = readFileSync(join(root, file), "utf8");
  const parts = source.split(from);
  if (parts.length !== 2) return { problem: `"${from}" stands ${parts.length - 1} times in ${file}` };
  return { source: parts.join(to) };
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
    const child = spawn(process.execPath, [...args, ...paths], { cwd: root, stdio: "ignore" });
    child.once("close", (code) => resolve(code === 0));
  });
}

/** The first group of tests that fails. */
async function noticedBy(test) {
  if (test !== undefined) {
    const group = [`${test}.test.js`];
    if (!(await passes(group))) return group;
  }
  if (values.named) return undefined;
  for (const group of tests.slice(0, Number(values.groups))) if (!(await passes(group))) return group;
  return undefined;
}

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    list: { type: "boolean", default: false },
    groups: { type: "string", default: String(tests.length) },
    named: { type: "boolean", default: false },
  },
});
const chosen = mutations.filter(
  ([file, , , test]) =>
    (values.only === undefined || file.includes(values.only)) && !(values.named && test === undefined),
);
const problems = chosen.flatMap((one) => mutated(one).problem ?? []);
for (const problem of problems) console.log(`cannot be applied: ${problem}`);
if (values.list || problems.length > 0) process.exit(problems.length > 0 ? 1 : 0);

rmSync(copy, { recursive: true, force: true });
for (const folder of ["src", "test", "scripts", "web"])
  cpSync(join(root, "dist", folder), join(copy, "dist", folder), { recursive: true });
// They lie beside the program.
cpSync(join(root, "skills"), join(copy, "skills"), { recursive: true });
try {
  const all = new Set(values.named ? chosen.map(([, , , test]) => `${test}.test.js`) : []);
  if ((await noticedBy()) !== undefined || (all.size > 0 && !(await passes([...all])))) {
    console.log("The tests fail without any mutation. Mend that first.");
    process.exit(1);
  }
  let unnoticed = 0;
  for (const one of chosen) {
    const [file, from, to, test] = one;
    const target = join(copy, "dist", file.replace(/\.ts$/, ".js"));
    const before = readFileSync(target, "utf8");
    writeFileSync(target, await compiled(file, mutated(one).source));
    const group = await noticedBy(test);
    writeFileSync(target, before);
    if (group === undefined) unnoticed += 1;
    console.log(
      `${group === undefined ? "UNNOTICED" : "noticed  "} ${file}: ${from.trim()} -> ${to.trim() || "nothing"}`,
    );
  }
  console.log(`${chosen.length - unnoticed} of ${chosen.length} are noticed`);
  process.exitCode = unnoticed === 0 ? 0 : 1;
} finally {
  rmSync(copy, { recursive: true, force: true });
}
