import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { projectFile } from "../../support/project.js";

const web = projectFile("dist/web");
/** Far below the 100 kB that a start may load: each kB is waited for on a slow link. */
const mostStartBytes = 66_000;

/** The script of the page and everything that it imports before it runs. */
function startFiles(): readonly string[] {
  const page = readFileSync(join(web, "index.html"), "utf8");
  const found = new Set([...page.matchAll(/src="\.\/assets\/([^"]+\.js)"/g)].map(([, name = ""]) => name));
  for (const name of found) {
    const code = readFileSync(join(web, "assets", name), "utf8");
    for (const [, path = ""] of code.matchAll(/(?:\bfrom|\bimport)\s*["'](\.\/[^"']+\.js)["']/g))
      found.add(basename(path));
  }
  return [...found];
}

describe("the size of the web page", () => {
  test("what a start loads of JavaScript is at most 66 kB, and holds nothing that only some answers need", () => {
    const files = startFiles();
    assert.ok(files.length > 0);
    const code = files.map((name) => readFileSync(join(web, "assets", name)));
    const bytes = code.reduce((sum, each) => sum + gzipSync(each).length, 0);
    assert.ok(bytes > 20_000 && bytes <= mostStartBytes, `${bytes} bytes`);
    assert.doesNotMatch(code.join(""), /KaTeX parse error|tokenizeTimeLimit/);
    // What draws answers.
    assert.doesNotMatch(code.join(""), /DOMPurify|lexer/);
    // What failures mean, and what a notification says.
    assert.doesNotMatch(code.join(""), /RATE_LIMIT|notice_stranger/);
  });

  test("the licences of the libraries in it go with it", () => {
    const text = readFileSync(join(web, "licences.md"), "utf8");
    for (const name of ["katex", "core", "dompurify", "marked", "preact", "idb", "mermaid"])
      assert.match(text, new RegExp(`\\b${name}\\b`));
  });

  test("formulas, colours of code and each language are files of their own", () => {
    const names = readdirSync(join(web, "assets")).join(" ");
    for (const name of ["maths", "colours", "python", "rust", "tsx", "sql"])
      assert.match(names, new RegExp(`\\b${name}-`));
    const maths = readdirSync(join(web, "assets")).find((name) => name.startsWith("maths-"));
    assert.match(readFileSync(join(web, "assets", maths ?? ""), "utf8"), /KaTeX parse error/);
  });
});
