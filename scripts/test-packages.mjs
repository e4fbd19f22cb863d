// What only checks and tests need lies in a package of its own, test/package.json, so that `npm ci && npm start` is without it.
// This installs it where it is missing or its lock has changed, and lets what was compiled into dist find it.
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
/** Written when all is installed: by which lock. */
const stampFile = join(installed, ".maxclaw-lock");
const linked = join(root, "dist", "node_modules");

/** A program of these packages. */
export const testTool = (name) => join(installed, ".bin", name);

function read(name) {
  return readFileSync(join(folder, name), "utf8");
}

/** Installs the packages unless they are there as the lock has them. Ends the process where that fails. */
export function installTestPackages() {
  const stamp = createHash("sha256").update(read("package.json")).update(read("package-lock.json")).digest("hex");
  if (!existsSync(stampFile) || readFileSync(stampFile, "utf8") !== stamp) {
    console.error("Installing what the tests need into test/node_modules …");
    const { status, error } = spawnSync("npm", ["ci", "--prefix", folder, "--ignore-scripts", "--loglevel=error"], {
      cwd: root,
      stdio: ["ignore", "ignore", "inherit"],
    });
    if (error || status !== 0) {
      const why = error ? `npm did not start: ${error.message}` : `npm ended with ${status}`;
      console.error(`The packages of the tests were not installed: ${why}. Run "npm ci --prefix test".`);
      process.exit(1);
    }
    writeFileSync(stampFile, stamp);
  }
  linkPackages(Object.keys(JSON.parse(read("package.json")).devDependencies));
}

/**
 * Node looks for the packages of dist/src and dist/test in dist/node_modules first, then in the main ones. Only what test/package.json
 * names is linked there: what came along with it may be of other versions than the program is made with.
 */
function linkPackages(names) {
  for (const name of names) linkTo(join(installed, name), join(linked, name));
  removeOtherLinks(new Set(names));
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
