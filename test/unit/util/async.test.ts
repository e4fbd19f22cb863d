import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { backoffMs } from "../../../src/util/async/backoff.js";
import { createGate } from "../../../src/util/async/gate.js";
import { InOrder } from "../../../src/util/async/in-order.js";
import { linked } from "../../../src/util/async/linked.js";
import { onAbort } from "../../../src/util/async/on-abort.js";
import { settledWithin, within } from "../../../src/util/async/within.js";

const never = new Promise<never>(() => undefined);

test("jobs of one key run one after the other, in the order in which they were given", async () => {
  const inOrder = new InOrder<string>();
  const first = createGate();
  const told: string[] = [];
  const jobs = [
    inOrder.run(async () => {
      told.push("a begins");
      await first.opened;
      told.push("a ends");
      return 1;
    }, "chat"),
    inOrder.run(() => {
      told.push("b");
      return 2;
    }, "chat"),
  ];
  assert.equal(await inOrder.run(() => 3, "other chat"), 3);
  assert.deepEqual(told, ["a begins"]);
  assert.equal(inOrder.isBusy("chat"), true);
  await inOrder.endOf("nobody's");
  first.open();
  assert.deepEqual(await Promise.all(jobs), [1, 2]);
  await inOrder.endOf("chat");
  assert.deepEqual(told, ["a begins", "a ends", "b"]);
  assert.equal(inOrder.isBusy("chat"), false);
});

test("a job that fails is its caller's matter, and the next one runs all the same", async () => {
  const inOrder = new InOrder();
  const failed = inOrder.run(() => {
    throw new Error("broken");
  });
  const next = inOrder.run(() => "fine");
  await assert.rejects(failed, /broken/);
  assert.equal(await next, "fine");
});

test("nothing is kept of a key whose jobs have ended, and settled waits also for what was given meanwhile", async () => {
  const inOrder = new InOrder<number>();
  const told: string[] = [];
  void inOrder.run(() => {
    void inOrder.run(() => told.push("second"), 1);
  }, 1);
  await inOrder.settled();
  assert.deepEqual(told, ["second"]);
  assert.equal(inOrder.isBusy(1), false);
});

test("within gives what the work gives, and lets go of the signal", async () => {
  const { signal } = new AbortController();
  assert.equal(await within(Promise.resolve(1), { ms: 10_000, signal }), 1);
  assert.equal(await within(2, { signal }), 2);
  await assert.rejects(within(Promise.reject(new Error("broken")), { signal }), /broken/);
  for (let n = 0; n < 100; n++) await within(n, { signal });
  assert.equal(getEventListeners(signal, "abort").length, 1);
});

test("what is to happen at an abort happens once, in its order, and not where it was let go", () => {
  const foreign = new AbortController();
  using scope = linked(foreign.signal);
  using inner = linked(scope.signal);
  const told: string[] = [];
  for (const [name, signal] of Object.entries({ foreign: foreign.signal, scope: scope.signal, inner: inner.signal })) {
    onAbort(signal, () => told.push(name));
    onAbort(signal, () => told.push("never"))();
  }
  assert.deepEqual(
    [foreign.signal, scope.signal, inner.signal].map((signal) => getEventListeners(signal, "abort").length),
    [1, 0, 0],
  );
  const why = new Error("over");
  foreign.abort(why);
  scope.abort();
  assert.deepEqual(told, ["inner", "scope", "foreign"]);
  assert.deepEqual([scope.signal.reason, inner.signal.reason], [why, why]);
  onAbort(inner.signal, () => told.push("late"));
  assert.equal(told.at(-1), "late");
});

test("a scope ends before what it is in, by its time or by itself, and ends nothing else", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { signal } = new AbortController();
  using late = linked(signal, 500);
  using other = linked(signal, 500);
  using ended = linked(signal);
  const disposed = linked(signal, 100);
  disposed[Symbol.dispose]();
  ended.abort();
  other.abort(new RangeError("enough"));
  t.mock.timers.tick(500);
  assert.equal(late.signal.reason.name, "TimeoutError");
  assert.equal(other.signal.reason.name, "RangeError");
  assert.equal(ended.signal.reason.name, "AbortError");
  assert.deepEqual([disposed.signal.aborted, signal.aborted], [false, false]);
});

test("within rejects with the signal's reason as soon as it aborts, also when it has before", async () => {
  const abort = new AbortController();
  const waiting = within(never, { signal: abort.signal });
  abort.abort(new Error("stopped"));
  await assert.rejects(waiting, /stopped/);
  await assert.rejects(within(never, { signal: abort.signal }), /stopped/);
});

test("within rejects with the caller's own error when the time is over", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const late = within(never, { ms: 500, late: () => new RangeError("too late") });
  const unnamed = within(never, { ms: 500 });
  t.mock.timers.tick(500);
  await assert.rejects(late, RangeError);
  await assert.rejects(unnamed, { name: "TimeoutError", message: "It took longer than 500 ms" });
});

test("settledWithin tells whether the work has settled in time, however it ended", async (t) => {
  assert.equal(await settledWithin(Promise.resolve(), {}), true);
  assert.equal(await settledWithin(Promise.reject(new Error("broken")), {}), true);
  assert.equal(await settledWithin(never, { signal: AbortSignal.abort() }), false);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const late = settledWithin(never, { ms: 20 });
  t.mock.timers.tick(20);
  assert.equal(await late, false);
});

test("waits grow with each failure in a row, up to the longest", () => {
  const timing = { firstMs: 100, longestMs: 1000 };
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5, 5000].map((failures) => backoffMs(failures, timing)),
    [100, 100, 200, 400, 800, 1000, 1000],
  );
  assert.equal(backoffMs(3, { firstMs: 100, growth: 4 }), 1600);
});
