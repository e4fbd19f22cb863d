import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { projectFile } from "../../support/project.js";

test("README says how to start for who has the package, and keeps what needs the sources to a part of its own", async () => {
  const readme = await readFile(projectFile("README.md"), "utf8");
  const sections = readme.split(/^(?=#{2,3} )/m);
  const [start = ""] = sections.filter((section) => section.startsWith("## Start\n"));
  assert.match(start, /npm install --global maxclaw[\s\S]*maxclaw gateway/);
  const [sources = "", ...more] = sections.filter((section) => /npm (ci|start)\b|node bin\/maxclaw\.js/.test(section));
  assert.deepEqual(more, [], "one part alone is for a clone");
  assert.match(sources, /^### From the sources\n/);
  const { files } = JSON.parse(await readFile(projectFile("package.json"), "utf8"));
  assert.ok(!files.includes("src"), "the package has no sources to build");
});
