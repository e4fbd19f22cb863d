import assert from "node:assert/strict";
import { test } from "node:test";
import { piecesOf } from "../../../src/web/chat/actions/spoken-pieces.js";

test("what is read aloud comes in whole sentences of at most 220 characters, and nothing is lost", () => {
  const sentence = "This is a sentence of some length. ";
  const long = `${"word ".repeat(80)}end.`;
  const text = `${sentence.repeat(10)}${long}\n你好。${"字".repeat(500)}`;
  const pieces = piecesOf(text);
  for (const piece of pieces) assert.ok(piece.length <= 220, piece);
  assert.equal(pieces.join("").replace(/\s/g, ""), text.replace(/\s/g, ""));
  assert.ok(pieces[0]?.endsWith("length."));
  assert.deepEqual(piecesOf(" \n "), []);
});
