// Adds to package-lock.json the optional packages for other platforms that it lacks. A registry that serves only some
// platforms makes `npm install` leave them out, and `npm ci` then refuses its own lock (https://github.com/npm/cli/issues/9846).
// Run it after each `npm install`; `complete-lock.mjs test` and `complete-lock.mjs site` are for the locks of the tests and of the site.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const path = join(dirname(dirname(fileURLToPath(import.meta.url))), process.argv[2] ?? ".", "package-lock.json");
const lock = JSON.parse(readFileSync(path, "utf8"));

const systems = ["android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32", "aix"];
const processors = ["arm64", "arm", "x64", "ia32", "ppc64", "riscv64", "s390x", "loong64", "mips64el", "wasm32"];

/** Where the package may be installed, as its name says: `@biomejs/cli-linux-x64-musl`. */
function platformOf(name) {
  const words = name.split("/").at(-1).split("-");
  const os = systems.filter((system) => words.includes(system));
  const cpu = processors.filter((processor) => words.includes(processor));
  const libc =
    words.includes("musl") || words.includes("musleabihf") ? ["musl"] : words.includes("gnu") ? ["glibc"] : [];
  return { os, cpu, libc };
}

const exactVersion = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/;
const added = [];
for (const [parent, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const places = [`${parent}/node_modules/${name}`, `node_modules/${name}`];
    if (places.some((place) => lock.packages[place] !== undefined)) continue;
    const { os, cpu, libc } = platformOf(name);
    // Without an exact version and a platform nobody can tell what to install where.
    if (!exactVersion.test(version) || os.length === 0 || cpu.length === 0) {
      console.error(
        `Cannot complete the lock: ${name}@${version}, wanted by ${parent}, does not tell its version and platform.`,
      );
      process.exitCode = 1;
      continue;
    }
    lock.packages[`node_modules/${name}`] = {
      version,
      cpu,
      ...(entry.dev === true ? { dev: true } : {}),
      ...(libc.length > 0 ? { libc } : {}),
      optional: true,
      os,
    };
    added.push(name);
  }
}

if (added.length > 0) {
  lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, "en")));
  writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
  console.log(`Completed package-lock.json: ${added.join(", ")}`);
}
