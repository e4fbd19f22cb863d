import assert from "node:assert/strict";
import { test } from "node:test";
import { compareVersions, isVersion } from "../../../src/update/version-order.js";

test("versions are in the order of semver, and what is not a version comes before all of them", () => {
  // https://semver.org, rule 11
  const inOrder = [
    ...["latest", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11"],
    ...["1.0.0-rc.1", "1.0.0", "1.0.9", "1.0.10", "1.9.0", "1.10.0", "2.0.0", "10.0.0"],
  ];
  for (const [at, a] of inOrder.entries())
    for (const [other, b] of inOrder.entries())
      assert.equal(Math.sign(compareVersions(a, b)), Math.sign(at - other), `${a} and ${b}`);
  assert.equal(compareVersions("1.0.0+one", "1.0.0+two"), 0);
});

test("only what cannot lead out of a folder is a version", () => {
  for (const text of ["1.2.3", "0.1.0-beta.1", "1.0.0+build.5"]) assert.ok(isVersion(text), text);
  for (const text of [
    "",
    "1.2",
    "v1.2.3",
    "1.2.3/..",
    "../1.2.3",
    "latest",
    "1.2.3-",
    "1.2.3 ",
    "current",
    "1.2.3-a/b",
  ])
    assert.ok(!isVersion(text), text);
});
