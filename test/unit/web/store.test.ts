import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Store } from "../../../src/web/store.js";

const status = { model: "m", isStandIn: false, needsModel: false, platforms: [], problems: [], modelProblems: [] };

describe("what the page knows", () => {
  test("is drawn by what shows a part that changed, and by nobody else", () => {
    const store = new Store();
    const drawn: string[] = [];
    store.watch(["current"], ({ current }) => drawn.push(`current ${current}`));
    store.watch(["status"], (known) => drawn.push(`model ${known.status?.model}`));
    store.watch(["current", "status"], ({ current }) => drawn.push(`both ${current}`));
    store.put({ status });
    store.put({ current: "webui:1" });
    assert.deepEqual(drawn, ["model m", "both undefined", "current webui:1", "both webui:1"]);
  });

  test("is drawn once for a change of several parts, and not at all when nothing is another", () => {
    const store = new Store();
    let draws = 0;
    store.watch(["current", "status"], () => {
      draws += 1;
    });
    store.put({ current: "webui:1", status });
    store.put({ current: "webui:1", status });
    assert.equal(draws, 1);
    assert.equal(store.known.current, "webui:1");
    assert.equal(store.known.status, status, "the other parts stay as they are");
  });

  test("is whole while it is drawn, whatever a watcher before has put", () => {
    const store = new Store();
    const seen: unknown[] = [];
    store.watch(["current"], ({ current }) => {
      if (current === "webui:1") store.put({ nextAttemptAt: 5 });
    });
    store.watch(["current", "nextAttemptAt"], ({ current, nextAttemptAt }) => seen.push([current, nextAttemptAt]));
    store.put({ current: "webui:1" });
    assert.deepEqual(seen.at(-1), ["webui:1", 5]);
  });
});
