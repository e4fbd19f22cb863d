import assert from "node:assert/strict";
import { test } from "node:test";
import { fallbackTitle } from "../../../src/agent/model/titles.js";

test("a conversation is called after the first line that says something", () => {
  assert.equal(fallbackTitle("\n  \n  What   is\tthis?  \nMore below."), "What is this?");
  assert.equal(fallbackTitle(" \n"), undefined);
  assert.equal(fallbackTitle(""), undefined);
});

test("a long line is cut between words, one without spaces between characters", () => {
  assert.equal(fallbackTitle(`${"word ".repeat(11)}and more`), `${"word ".repeat(10)}word and …`);
  assert.equal(fallbackTitle("a ".repeat(30)), "a ".repeat(30).trim());
  assert.equal(fallbackTitle("😀".repeat(61)), `${"😀".repeat(60)} …`);
  assert.equal(fallbackTitle(`no ${"你".repeat(80)}`), `no ${"你".repeat(57)} …`);
});
