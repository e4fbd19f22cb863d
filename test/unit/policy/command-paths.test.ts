import assert from "node:assert/strict";
import { test } from "node:test";
import { pathsOfCommand } from "../../../src/policy/commands/command-paths.js";
import { assertSoon } from "../../support/cost.js";

const ground = { cwd: "/ws/own", workspace: "/ws", home: "/ws/own" };

test("a command's words name files, folders and the folders of patterns, from every folder that it may be in", () => {
  for (const [command, places] of [
    ["cat a.txt", ["/ws/own/a.txt"]],
    ["cat ../b/*.txt", ["/ws/b"]],
    ["cat *", ["/ws/own"]],
    ["ls", ["/ws/own"]],
    ["grep -r x", ["/ws/own", "/ws/own/x"]],
    ["sort --key=1 < ~/c.txt", ["/ws/own/c.txt"]],
    ["(cd ../b); cat a.txt", ["/ws/b/a.txt", "/ws/own/a.txt"]],
    ["grep -f../list x", ["/ws/list"]],
  ] as const) {
    const named = pathsOfCommand(command, ground);
    assert.equal(named.isClear, true, command);
    for (const place of places) assert.ok(named.paths.includes(place), `${command}: ${named.paths.join(" ")}`);
  }
});

test("of what runs other programs or files the words do not tell what it reads", () => {
  for (const command of [
    "sh run.sh",
    "./run.sh",
    "make",
    "python3 x.py",
    "find . -exec cat a ;",
    "cat $X",
    "cat list | xargs cat",
    "wc --files0-from=list",
    "cd - && cat a",
    "cat link/../a",
    "sed -f x y",
    "git log",
  ])
    assert.equal(pathsOfCommand(command, ground).isClear, false, command);
  for (const command of ["cat */*", "grep -R x links", "find -L ."])
    assert.equal(pathsOfCommand(command, ground).followsLinks, true, command);
});

test("a command of any length is looked through soon", () => {
  for (const command of [
    `cat ${"a".repeat(100_000)}`,
    `cat ${"*".repeat(100_000)}`,
    `cat ${"a/".repeat(50_000)}`,
    `${Array.from({ length: 200 }, (_, n) => `cd d${n}`).join(";")}; cat ${"x y z ".repeat(15_000)}`,
  ])
    assertSoon(() => pathsOfCommand(command, ground), 1500, command.slice(0, 10));
  assert.equal(pathsOfCommand(`cat ${Array.from({ length: 3000 }, (_, n) => n).join(" ")}`, ground).isTooMuch, true);
});
