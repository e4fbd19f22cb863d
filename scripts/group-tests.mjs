// Tests of one folder run in one process: to start one, to import the program and to have it compiled takes longer than most of them do.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** What one file could notice of another in its process: hooks of each test, clocks that are set, what a process uses, its end. */
const shared =
  /\bprocess\.(?!pid\b|execPath\b|getuid\b|env\.(?:PATH|CI|SHOTS|\w*SEED)\b)|\bmock\.|\bglobalThis\.|\bperformance\.|^(?:before|beforeEach|afterEach)\(|\/(?:cost|live-bytes|watch-reads|failing-sync|power-cut)\.js"/m;

/** What a unit test could notice besides: it is quick enough to start alone. */
const measured = /\bprocess\.|\bDate\.now\(\) -|^after\(/m;

/** Unit tests, with the folders in a folder. Torture changes how files are written, for its whole process. */
const ofUnits = /^dist[\\/]test[\\/](unit[\\/](?!torture)[^\\/]+)[\\/]/;

/** Folders of tests that open whole gateways in their own process. */
const ofGateways = new Set(
  ["api", "api/sessions", "channels/answers", "people/questions", "turn", "turn/retry", "web/answers"].map((folder) =>
    join("dist", "test", "e2e", folder),
  ),
);

/** The name of the group of a file, if it may be in one. */
function groupOf(root, file) {
  const unit = ofUnits.exec(file)?.[1];
  const name = ofGateways.has(dirname(file)) ? relative(join("dist", "test"), dirname(file)) : unit;
  if (name === undefined) return undefined;
  const text = readFileSync(join(root, file), "utf8");
  if (shared.test(text) || (unit !== undefined && measured.test(text))) return undefined;
  return name.replaceAll(/[\\/]/g, "-");
}

/** The same files, those that share nothing replaced by one file for each of these folders, which imports them. */
export function groupTests(root, files, alone) {
  const folder = join(root, "dist", "test-groups");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const groups = new Map();
  const others = files.filter((file) => {
    const name = alone.includes(file) ? undefined : groupOf(root, file);
    if (name === undefined) return true;
    groups.set(name, [...(groups.get(name) ?? []), file]);
    return false;
  });
  const made = [...groups].map(([name, members]) => {
    const path = join(folder, `${name}.test.js`);
    const imports = members.map((file) => relative(dirname(path), join(root, file)).replaceAll("\\", "/"));
    writeFileSync(path, imports.map((file) => `import ${JSON.stringify(file)};\n`).join(""));
    return relative(root, path);
  });
  return [...made, ...others];
}
