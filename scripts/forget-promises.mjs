// Loaded into each process of tests by scripts/run-tests.mjs. To know which test an error comes from, Node's runner follows all promises, and asks
// to be told when each is freed. To be told takes a tenth of the CPU time of most test files; here it forgets the oldest ones instead.
import { AsyncResource } from "node:async_hooks";
import { createRequire } from "node:module";

/** How many it knows. A test that waits while more are made still fails its file when an error comes from it, without its name. */
const known = 200_000;
const hooks = createRequire(import.meta.url)("node:async_hooks");
const { createHook } = hooks;

hooks.createHook = function createHookThatForgets(told) {
  const { init, destroy, ...rest } = told;
  if (init === undefined || destroy === undefined) return createHook(told);
  /** Tests, suites and their hooks: they are few, and each names what is made in it. */
  const tests = new Set();
  let oldest;
  return createHook({
    ...rest,
    init(id, type, trigger, resource) {
      init(id, type, trigger, resource);
      if (type === "Test" && resource instanceof AsyncResource) tests.add(id);
      for (oldest ??= id; oldest < id - known; oldest += 1) if (!tests.has(oldest)) destroy(oldest);
    },
  });
};
