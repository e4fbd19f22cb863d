// Loaded into each process of tests by scripts/run-tests.mjs. To know which test an error comes from that nobody catches, Node's runner follows all
// promises and timers, which takes much of the CPU time of most test files. Here it follows the tests alone: such an error is of the test that runs.
import { AsyncResource, executionAsyncId } from "node:async_hooks";
import { createRequire } from "node:module";

const hooks = createRequire(import.meta.url)("node:async_hooks");
const { createHook } = hooks;

hooks.createHook = function createHookOfTests(told) {
  const { init, destroy } = told;
  if (init === undefined || destroy === undefined) return createHook(told);
  const begun = followTests(init);
  const nameTest = (error) => {
    const running = runningOf(begun);
    if (running.length !== 1)
      return void console.error(
        `Nobody caught this, while ${running.map(({ name }) => `"${name}"`).join(", ")} ran:`,
        error,
      );
    // The runner, which is told next, asks where it is.
    const id = executionAsyncId();
    init(id, "Test", 0, running[0]);
    process.nextTick(() => destroy(id));
  };
  process.on("uncaughtExceptionMonitor", (error, origin) => origin === "uncaughtException" && nameTest(error));
  process.on("unhandledRejection", nameTest);
  return { enable: () => {}, disable: () => {} };
};

/** The tests, suites and hooks that have begun, each of which the runner is told: what is tested in it is called from there. */
function followTests(init) {
  const begun = new Set();
  const { runInAsyncScope } = AsyncResource.prototype;
  AsyncResource.prototype.runInAsyncScope = function runInScope(...given) {
    if (typeof this.createSubtest === "function") {
      begun.add(this);
      init(this.asyncId(), "Test", 0, this);
    }
    return runInAsyncScope.apply(this, given);
  };
  return begun;
}

/** The tests that run, and in which no other one runs. */
function runningOf(begun) {
  for (const test of begun) if (test.finished) begun.delete(test);
  const tests = [...begun].filter(({ reportedType, hookType }) => reportedType !== "suite" && hookType === undefined);
  const around = new Set(tests.map(({ parent }) => parent));
  return tests.filter((test) => !around.has(test));
}
