import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { projectFile } from "../../support/project.js";

const source = `
const last = {};
const make = [
  (n) => { const one = { role: "user", text: String(n), at: n }; return { ...one, more: n }; },
  (n) => { const [one, two] = [{ role: n, b: n, c: n }, { more: n }]; return { ...one, ...two }; },
  (n) => { const { a, ...rest } = { a: n, b: n }; return { ...rest, e: { ...rest, f: n } }; },
];
export const made = make.map((one) => Array.from({ length: 5000 }, (_, n) => one(n)));
export const values = made.map((objects) => objects[7]);
export const alone = { ...last };
`;

test("objects that are made in one way have one hidden class in the bundle, and the same content", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "maxclaw-shapes-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "input.js"), source);
  const [library, plugins] = ["node_modules/rolldown/dist/index.mjs", "scripts/bundle/plugins.mjs"].map(
    (path) => pathToFileURL(projectFile(path)).href,
  );
  const script = `
    import { rolldown } from "${library}";
    import { sharedShapes } from "${plugins}";
    const bundle = await rolldown({ input: "input.js", plugins: [sharedShapes()] });
    await bundle.write({ file: "made.mjs", minify: { compress: false, mangle: false } });
    const { made, values } = await import("./made.mjs");
    const shared = made.map((all) => all.slice(4000, 4999).every((one, n) => %HaveSameMap(one, all[4001 + n])));
    console.log(JSON.stringify({ shared, values }));`;
  writeFileSync(join(folder, "script.mjs"), script);
  const said = execFileSync(process.execPath, ["--allow-natives-syntax", "script.mjs"], {
    cwd: folder,
    encoding: "utf8",
  });
  assert.deepEqual(JSON.parse(said), {
    shared: [true, true, true],
    values: [
      { role: "user", text: "7", at: 7, more: 7 },
      { role: 7, b: 7, c: 7, more: 7 },
      { b: 7, e: { b: 7, f: 7 } },
    ],
  });
});
