// Compiles src, test and scripts into dist, the types of what the package exports beside them, and the web page into
// dist/web. Does nothing when nothing changed. `build.mjs program` makes only what runs, `build.mjs package` also the types: both with what
// `npm ci` has installed. The compiler checks nothing then: some types that src uses come with the packages of the tests.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { installTestPackages } from "./test-packages.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, "dist");

/** Every file below a folder, as paths relative to the root. */
function filesBelow(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return entry.name === "node_modules" ? [] : filesBelow(path);
      return entry.isFile() ? [path] : [];
    })
    .sort();
}

/** Changes when a file is added, removed, renamed or written; reads no contents. */
function fingerprint(files) {
  const hash = createHash("sha256").update(process.version);
  for (const file of files) {
    const stat = statSync(join(root, file), { throwIfNoEntry: false });
    if (stat) hash.update(`${file}\0${stat.mtimeMs}\0${stat.size}\n`);
  }
  return hash.digest("hex");
}

function isStamped(name, stamp) {
  const file = join(dist, name);
  return existsSync(file) && readFileSync(file, "utf8") === stamp;
}

function run(program, args) {
  const command = join(root, "node_modules", ".bin", program);
  if (!existsSync(command)) {
    console.error(`Cannot build: ${program} is not installed. Run "npm ci" first.`);
    process.exit(1);
  }
  const result = spawnSync(command, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
  if (result.error) console.error(`Cannot build: ${program} did not start: ${result.error.message}`);
  if (result.status !== 0) process.exit(result.status || 1);
}

function isOfPage(file) {
  return file.startsWith(join("src", "web", ""));
}

/** Removes what was compiled from a file that is gone. Resolves with whether an output is missing. */
function settleOutputs(folders, sources) {
  const expected = new Set();
  for (const file of sources) {
    if (file.endsWith(".ts") && !file.endsWith(".d.ts")) expected.add(`${file.slice(0, -3)}.js`);
  }
  for (const folder of folders) {
    for (const file of filesBelow(join("dist", folder))) {
      const output = relative("dist", file)
        .replace(/\.map$/, "")
        .replace(/\.d\.ts$/, ".js");
      const isStale = output.endsWith(".json") ? !sources.includes(output) : !expected.has(output);
      if (isStale) rmSync(join(root, file));
    }
  }
  // Of the page only what tests import is compiled here.
  return [...expected].some((output) => !isOfPage(output) && !existsSync(join(dist, output)));
}

const programStamp = () =>
  fingerprint([...filesBelow("src"), "tsconfig.json", "tsconfig.program.json", "package-lock.json"]);

/** Compiles what runs, and checks nothing of it. */
function buildProgram() {
  const stamp = programStamp();
  if (isStamped(".program-stamp", stamp)) return;
  rmSync(join(dist, ".program-stamp"), { force: true });
  settleOutputs(["src"], filesBelow("src"));
  run("tsc", ["-p", "tsconfig.program.json"]);
  writeFileSync(join(dist, ".program-stamp"), stamp);
}

/** Compiles and checks the program, its tests and its scripts. */
function buildAll() {
  const folders = ["src", "test", "scripts", join("bridges", "whatsapp", "src")];
  const sources = folders.flatMap(filesBelow);
  const locks = [".", "test", join("bridges", "whatsapp")].map((folder) => join(folder, "package-lock.json"));
  const stamp = fingerprint([...sources, "tsconfig.json", ...locks]);
  if (isStamped(".all-stamp", stamp)) return;
  for (const name of [".all-stamp", ".program-stamp"]) rmSync(join(dist, name), { force: true });
  if (settleOutputs(folders, sources)) rmSync(join(dist, ".tsbuildinfo"), { force: true });
  run("tsc", ["-p", "tsconfig.json"]);
  writeFileSync(join(dist, ".all-stamp"), stamp);
  writeFileSync(join(dist, ".program-stamp"), programStamp());
}

/** What the package exports. */
const exported = ["index", "client/client", "client/node"];

/** The compiler writes the types of all that these files import. Kept are those that the types themselves mention. */
function removeUnseenTypes() {
  const seen = new Set();
  const waiting = exported.map((name) => join(dist, "src", `${name}.d.ts`));
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    const mentioned = readFileSync(file, "utf8").matchAll(/(?:\bfrom |\bimport\(|\bimport )"(\.[^"]+)\.js"/g);
    for (const [, specifier] of mentioned) waiting.push(join(dirname(file), `${specifier}.d.ts`));
  }
  for (const file of filesBelow(join("dist", "src")))
    if (file.endsWith(".d.ts") && !seen.has(join(root, file))) rmSync(join(root, file));
}

function buildTypes() {
  const sources = filesBelow("src").filter((file) => !isOfPage(file));
  const stamp = fingerprint([...sources, "tsconfig.types.json", "tsconfig.json", "package-lock.json"]);
  const isThere = exported.every((name) => existsSync(join(dist, "src", `${name}.d.ts`)));
  if (isStamped(".types-stamp", stamp) && isThere) return;
  rmSync(join(dist, ".types-stamp"), { force: true });
  run("tsc", ["-p", "tsconfig.types.json"]);
  removeUnseenTypes();
  writeFileSync(join(dist, ".types-stamp"), stamp);
}

function buildPage() {
  const config = join("src", "web", "vite.config.ts");
  if (!existsSync(join(root, config))) {
    console.log(`No web page: ${config} does not exist.`);
    return;
  }
  const stamp = fingerprint([...filesBelow("src/web"), ...filesBelow("src/client"), "package-lock.json"]);
  if (isStamped(".page-stamp", stamp) && existsSync(join(dist, "web", "index.html"))) return;
  rmSync(join(dist, ".page-stamp"), { force: true });
  run("vite", ["build", "--config", config, "--logLevel", "warn"]);
  writeFileSync(join(dist, ".page-stamp"), stamp);
}

const wanted = process.argv[2] ?? "all";
if (!["all", "program", "package"].includes(wanted)) throw new Error(`build.mjs does not know "${wanted}"`);
mkdirSync(dist, { recursive: true });
if (wanted === "all") installTestPackages();
// The first time it takes long enough to wonder.
if (!existsSync(join(dist, ".page-stamp")))
  console.error("Building maxclaw, which takes some seconds the first time …");
if (wanted === "all") buildAll();
else buildProgram();
if (wanted !== "program") buildTypes();
buildPage();
