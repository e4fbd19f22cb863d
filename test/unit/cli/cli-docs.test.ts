import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
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

test("docs/cli.md lists no command twice, and names the long forms of the options that people type most", () => {
  const text = readFileSync(projectFile("docs/cli.md"), "utf8");
  const table = text.slice(0, text.indexOf("\n\nIn a clone"));
  assert.equal(table.split("`maxclaw version`").length, 2);
  for (const option of ["--message", "--session", "--follow", "--lines", "--port"])
    assert.ok(text.includes(`\`${option}\``), option);
});

test("examples name one model of each maker", () => {
  const pages = ["README.md", "config.example.json", "docs", "src/cli"].flatMap((name) => {
    const path = projectFile(name);
    if (!statSync(path).isDirectory()) return [path];
    const files = readdirSync(path, { recursive: true, encoding: "utf8" }).map((file) => join(path, file));
    return files.filter((file) => /\.(md|ts)$/.test(file) && basename(file) !== "decisions.md");
  });
  const named = pages.flatMap((page) =>
    [...readFileSync(page, "utf8").matchAll(/\b(?:claude-(?:fable|opus|sonnet|haiku)|gpt)-\d[\w.-]*\w/g)].map(
      ([name]) => name,
    ),
  );
  // OpenRouter has a dot where Anthropic has a hyphen.
  assert.deepEqual([...new Set(named)].sort(), ["claude-sonnet-5-5", "claude-sonnet-5.5", "gpt-5.6"]);
});
