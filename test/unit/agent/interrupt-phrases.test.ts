import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { asksToStop, isStopPhrase, stopPhrases } from "../../../src/agent/questions/interrupt-phrases.js";
import { projectFile } from "../../support/project.js";

test("each phrase of the table in the docs stops, and no other one is known", async () => {
  const docs = await readFile(projectFile("docs/interrupts.md"), "utf8");
  const table = /<!-- phrases: begin -->([\s\S]*)<!-- phrases: end -->/.exec(docs)?.[1] ?? "";
  const rows = table.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| English"));
  const documented = rows
    .flatMap((row) => row.split("|").flatMap((cell) => cell.split(",")))
    .map((cell) => cell.trim());
  assert.deepEqual(documented.filter((cell) => cell !== "").sort(), [...stopPhrases].sort());
  for (const phrase of stopPhrases) assert.ok(isStopPhrase(phrase), phrase);
});

test("case, width, blanks and punctuation around a phrase do not matter", () => {
  for (const text of [
    "STOP",
    " stop \n",
    "Stop!!!",
    "…stop…",
    "ｓｔｏｐ",
    "please  stop.",
    "停！",
    "「停止」",
    "停一下。",
    "🛑 stop 🛑",
    "Never mind :)",
  ])
    assert.ok(isStopPhrase(text), text);
});

test("no word or sentence that only contains a phrase stops", () => {
  for (const text of [
    "now",
    "no",
    "use",
    "user",
    "停车",
    "停车场在哪里",
    "不要停",
    "取消订单",
    "don't stop",
    "stop sign",
    "stopwatch",
    "nonstop",
    "cancel my order",
    "how do I cancel",
    "stop stop stop it all",
    "",
    "!",
    `stop${" ".repeat(100)}and more`,
    "s t o p",
    "st op",
  ])
    assert.ok(!isStopPhrase(text), text);
});

test("the command stops, also as Telegram writes it in groups", () => {
  for (const text of ["/stop", "/STOP", "/stop@my_bot", " /stop please"]) assert.ok(asksToStop(text), text);
  for (const text of ["/stopp", "/new", "stop/"]) assert.equal(asksToStop(text), text === "stop/", text);
});
