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
  [
    ...["api", "api/page", "api/sessions", "channels", "channels/answers", "cli/replay", "features", "live", "people"],
    ...["people/questions", "turn", "turn/models", "turn/retry"],
    ...["web", "web/answers", "web/installed", "web/keyboard", "web/panes"],
  ].map((folder) => join("dist", "test", "e2e", folder)),
);

/** Of these folders, what takes as long as a whole group. */
const longAlone = new Set(
  ["channels/channel-faults", "features/mcp-conformance", "people/owner-memory", "people/provenance"].map((name) =>
    join("dist", "test", "e2e", `${name}.test.js`),
  ),
);

/** So many of them share a process: a group that runs long leaves a core idle at the end. */
const mostGateways = 6;

/** The name of the group of a file, if it may be in one. */
function groupOf(root, file) {
  const unit = ofUnits.exec(file)?.[1];
  const name = ofGateways.has(dirname(file)) ? relative(join("dist", "test"), dirname(file)) : unit;
  if (name === undefined || longAlone.has(file)) return undefined;
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
  const made = [...groups].flatMap(([name, members]) =>
    partsOf(members, name.startsWith("e2e-") ? mostGateways : members.length).map((part, n) => {
      const path = join(folder, `${name}${n === 0 ? "" : `-${n + 1}`}.test.js`);
      const imports = part.map((file) => relative(dirname(path), join(root, file)).replaceAll("\\", "/"));
      writeFileSync(path, imports.map((file) => `import ${JSON.stringify(file)};\n`).join(""));
      return relative(root, path);
    }),
  );
  return [...made, ...others];
}

/** Cut into parts of the same length, none longer than `most`. */
function partsOf(all, most) {
  const count = Math.ceil(all.length / most);
  const length = Math.ceil(all.length / count);
  return Array.from({ length: count }, (_, n) => all.slice(n * length, (n + 1) * length));
}
