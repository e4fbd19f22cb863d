// Small unit tests of one folder run in one process: to start one and to import the program takes longer than most of them do.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** What one file could notice of another in its process: hooks of all tests, clocks that are set, what a process uses, its end. */
const shared =
  /\bprocess\.|\bmock\.|\bglobalThis\.|\bperformance\.|\bDate\.now\(\) -|^\s*(?:before|after|beforeEach|afterEach)\(|\/cost\.js"/m;

/** The folders whose files are put together. Torture changes how files are written, for its whole process. */
const grouped = /^dist[\\/]test[\\/](unit[\\/](?!torture)[^\\/]+)[\\/]/;

/** The same files, those that share nothing replaced by one file for each of these folders, which imports them. */
export function groupTests(root, files, alone) {
  const folder = join(root, "dist", "test-groups");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const groups = new Map();
  const others = files.filter((file) => {
    const name = grouped.exec(file)?.[1].replace(/[\\/]/, "-");
    if (name === undefined || alone.includes(file) || shared.test(readFileSync(join(root, file), "utf8"))) return true;
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
