import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { test } from "node:test";
import { projectFile } from "../../support/project.js";

test("docs/cli.md names every command", () => {
  const text = readFileSync(projectFile("docs/cli.md"), "utf8");
  const commands = readdirSync(projectFile("src/cli/commands"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => basename(file, ".ts").replaceAll("-", " "));
  assert.ok(commands.length > 10);
  assert.deepEqual(
    commands.filter((name) => !new RegExp(`\`(?:maxclaw )?${name}\\b`).test(text)),
    [],
  );
});
