import assert from "node:assert/strict";
import { test } from "node:test";
import { failureDetail, failureText, modelSentence, sentenceFor } from "../../../src/agent/model/sentences.js";
import { type ErrorCode, ProviderError, type ProviderErrorKind } from "../../../src/errors.js";

const codes: Readonly<Record<ErrorCode, true>> = {
  RATE_LIMIT: true,
  CONTEXT_OVERFLOW: true,
  TOOL_ERROR: true,
  AUTH_FAILED: true,
  TIMEOUT: true,
  CIRCUIT_OPEN: true,
  PERSISTENCE_FAILED: true,
  BUFFER_FULL: true,
  VALIDATION_ERROR: true,
  BUDGET_EXCEEDED: true,
  INTERRUPTED_BY_RESTART: true,
  STORED_DATA_DAMAGED: true,
  UNKNOWN: true,
};

test("each error code has a plain sentence of its own, and the failure an id to find it by", () => {
  const sentences = Object.keys(codes).map((code) => sentenceFor(code as ErrorCode));
  assert.equal(new Set(sentences).size, sentences.length);
  for (const sentence of sentences) assert.match(sentence, /^[A-Z][^_{}]{15,}\.$/);
  assert.match(failureText(sentenceFor("TIMEOUT"), "turn_1", false), /\. \(turn_1\)$/);
});

test("an owner who reads a failure is spoken to, others are told who can help, and nothing is said twice", () => {
  for (const sentence of Object.keys(codes).map((code) => sentenceFor(code as ErrorCode))) {
    assert.doesNotMatch(failureText(sentence, "turn_1", true), /owner/, sentence);
    assert.ok(failureText(sentence, "turn_1", false).startsWith(sentence));
  }
  const unreached = new ProviderError("connect ECONNREFUSED", {
    kind: "network",
    provider: "openai",
    unreached: "silent",
  });
  const [mine, theirs] = [true, false].map((isOwner) => failureText(modelSentence(unreached), "turn_1", isOwner));
  assert.match(mine ?? "", /If it happens again, check the network/);
  assert.match(theirs ?? "", /If it happens again, the owner needs to check the network/);
  assert.equal(failureDetail("The disk is full.", "The disk is full"), "The disk is full.");
  assert.equal(failureDetail("It failed.", "429 slow down"), "It failed. [429 slow down]");
});

test("no failure of a model call has a code that belongs to tools", () => {
  const kinds: Readonly<Record<ProviderErrorKind, true>> = {
    auth: true,
    billing: true,
    rate_limit: true,
    overloaded: true,
    timeout: true,
    context_overflow: true,
    bad_request: true,
    not_found: true,
    network: true,
    garbage: true,
    circuit_open: true,
  };
  for (const kind of Object.keys(kinds))
    assert.notEqual(new ProviderError("", { kind: kind as ProviderErrorKind }).code, "TOOL_ERROR");
});
