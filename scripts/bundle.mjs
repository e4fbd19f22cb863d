// Makes dist/bundle, which is what an installed package runs, out of what the compiler has written to dist/src: the program with its
// everyday libraries, in pieces that are loaded when they are needed. Does nothing when nothing changed.
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { bundledPackages } from "./bundle/bundled-packages.mjs";
import { cycloneDx } from "./bundle/cyclonedx.mjs";
import { licenceTexts } from "./bundle/licences.mjs";
import { piecesOf } from "./bundle/pieces.mjs";
import { filesByUrl, importsOfNode, oneLanguage, ourMaps, ownPlaces, sharedShapes, tried } from "./bundle/plugins.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const compiled = join(root, "dist", "src");
const target = join(root, "dist", "bundle");
const about = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** CommonJS, of which V8 can keep what it has compiled. One folder, without others in it. */
const program = { main: join(compiled, "cli", "main.js"), index: join(compiled, "index.js") };
const around = {
  start: join(compiled, "cli", "start", "from-bundle.js"),
  "client-node": join(compiled, "client", "node.js"),
};

/** What the bundle is made of: the compiled program, the lock and these scripts. By content: a compiler writes the same files again. */
function fingerprint() {
  const hash = createHash("sha256").update(process.version);
  const files = ["dist/src", "scripts/bundle"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.[cm]?js$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  for (const file of [
    ...files.sort(),
    ...[
      "package.json",
      "package-lock.json",
      "test/package-lock.json",
      "scripts/bundle.mjs",
      "dist/web/licences.md",
    ].map((name) => join(root, name)),
  ])
    hash.update(`${file}\0`).update(readFileSync(file));
  return hash.digest("hex");
}

/** Everything else that is imported and found nowhere is a mistake. */
function warn(warning, report) {
  if (warning.code === "UNRESOLVED_IMPORT" || warning.code === "MISSING_EXPORT") throw new Error(warning.message);
  if (!["EVAL", "CIRCULAR_DEPENDENCY", "INEFFECTIVE_DYNAMIC_IMPORT"].includes(warning.code)) report("warn", warning);
}

async function write(input, dir, { output: moreOutput, plugins = [], ...more } = {}) {
  const bundle = await rolldown({
    cwd: root,
    // How long plugins take on a slow machine is no news to who installs.
    checks: { pluginTimings: false },
    input,
    platform: "node",
    external: [/^node:/, ...tried],
    onLog: (level, log, report) => (level === "warn" ? warn(log, report) : undefined),
    resolve: { alias: { "whatwg-url": join(root, "scripts/bundle/system-url.mjs") } },
    plugins: [
      filesByUrl(compiled),
      ownPlaces(),
      oneLanguage(join(root, "scripts/bundle/zod-locales.mjs")),
      ourMaps(compiled),
      sharedShapes(),
      ...plugins,
    ],
    ...more,
  });
  const { output } = await bundle.write({
    dir,
    format: "esm",
    sourcemap: true,
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    // Names stay as they are, for stack traces.
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
    keepNames: true,
    // V8 keeps a source with one letter beyond Latin-1 in two bytes for each letter.
    charset: "ascii",
    ...moreOutput,
  });
  await bundle.close();
  return output;
}

async function writeProgram(dir) {
  const output = await write(program, dir, {
    plugins: [importsOfNode(join(root, "scripts/bundle/to-esm.cjs"))],
    output: {
      format: "cjs",
      // As the sources were, being ESM.
      strict: true,
      exports: "named",
      entryFileNames: "[name].cjs",
      chunkFileNames: "[name]-[hash].cjs",
      codeSplitting: { groups: piecesOf(compiled) },
    },
  });
  copyFileSync(join(root, "scripts/bundle/to-esm.cjs"), join(dir, "to-esm.cjs"));
  return output;
}

/** What programs import, as ESM: the names of a script of the program. */
function writeLibrary(dir, output) {
  const { exports } = output.find(({ fileName }) => fileName === "index.cjs");
  writeFileSync(
    join(dir, "index.js"),
    `import library from "./program/index.cjs";\n\nexport const { ${exports.join(", ")} } = library;\n`,
  );
}

async function make(dir) {
  const output = [
    ...(await writeProgram(join(dir, "program"))),
    ...(await write(around, dir)),
    ...(await write({ client: join(compiled, "client", "client.js") }, dir, { platform: "browser" })),
  ];
  writeLibrary(dir, output);
  const packages = bundledPackages(root, output);
  writeFileSync(join(dir, "THIRD-PARTY-LICENCES.txt"), licenceTexts(packages));
  writeFileSync(join(dir, "sbom.cdx.json"), `${JSON.stringify(cycloneDx(root, about, packages), null, 2)}\n`);
  await writeOptionalLock(join(dir, "optional-lock.json"));
  return output;
}

/** What `maxclaw add` can install, by the lock that the tests ran with. */
async function writeOptionalLock(path) {
  const from = (file) => import(pathToFileURL(join(compiled, file)).href);
  const [{ packageOptions }, { lockFor, readLock }] = await Promise.all([
    from("util/packages/options.js"),
    from("packages/lock.js"),
  ]);
  const roots = [...new Set(Object.values(packageOptions).flatMap(({ packages }) => packages))].sort();
  writeFileSync(path, `${JSON.stringify(lockFor(roots, readLock()).lock)}\n`);
}

const stamp = fingerprint();
const stampFile = join(root, "dist", ".bundle-stamp");
if (!existsSync(join(target, "start.js")) || !existsSync(stampFile) || readFileSync(stampFile, "utf8") !== stamp) {
  const made = `${target}.${process.pid}`;
  rmSync(made, { recursive: true, force: true });
  mkdirSync(made, { recursive: true });
  const output = await make(made);
  rmSync(target, { recursive: true, force: true });
  renameSync(made, target);
  writeFileSync(stampFile, stamp);
  const bytes = output.reduce((sum, { code = "" }) => sum + code.length, 0);
  console.log(
    `Bundled ${output.filter(({ type }) => type === "chunk").length} files, ${(bytes / 1e6).toFixed(1)} MB, in ${relative(root, target)}.`,
  );
}
