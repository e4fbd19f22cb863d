import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { hashOfPlace, placeOf } from "../../../src/web/frame/places/place.js";

describe("the address of the page", () => {
  test("names a chat, or a pane with what of it is open, and comes back the same", () => {
    for (const place of [
      { kind: "chat", key: "webui:1234abcd" },
      { kind: "chat", key: "telegram:42/7 ü" },
      { kind: "pane", id: "jobs", argument: "" },
      { kind: "pane", id: "timeline", argument: "telegram:42/turn_1 ü%" },
    ] as const)
      assert.deepEqual(placeOf(hashOfPlace(place)), place);
  });

  test("is nothing where it makes no sense", () => {
    for (const hash of ["", "#", "#x", "#/", "#/../api", "#/Jobs", "#system:x", "#%"])
      assert.equal(placeOf(hash), undefined, hash);
    assert.deepEqual(placeOf("#/jobs/%"), { kind: "pane", id: "jobs", argument: "" });
  });
});
