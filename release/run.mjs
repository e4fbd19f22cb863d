// `npm run release`: bundles and packs the program, looks at the package as npm and TypeScript will, and publishes it with a
// statement of provenance. `--check` stops before that. Leaves the file and the list of its parts in dist/release.
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tools = join(root, "release", "node_modules", ".bin");
const target = join(root, "dist", "release");

function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: "inherit", ...options });
  if (error) console.error(`${command} did not start: ${error.message}`);
  if (status !== 0) process.exit(status || 1);
}

function assertReady() {
  if (!existsSync(join(tools, "publint"))) {
    console.error('The tools are not installed. Run "npm ci --prefix release" first.');
    process.exit(1);
  }
}

/** The packed file, made again. */
function pack() {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  run("npm", ["pack", "--silent", "--pack-destination", target], { stdio: ["ignore", "ignore", "inherit"] });
  const file = readdirSync(target).find((name) => name.endsWith(".tgz"));
  if (file === undefined) throw new Error(`npm has packed nothing into ${target}`);
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  copyFileSync(join(root, "dist", "bundle", "sbom.cdx.json"), join(target, `maxclaw-${version}.cdx.json`));
  return join(target, file);
}

assertReady();
const file = pack();
run(join(tools, "publint"), ["run", file, "--strict"]);
// The package is for `import` alone: a program that can only `require` is told so by Node.
run(join(tools, "attw"), [file, "--profile", "esm-only"]);
console.log(`Packed ${relative(root, file)}.`);
if (!process.argv.includes("--check")) run("npm", ["publish", file, "--provenance", "--access", "public"]);
