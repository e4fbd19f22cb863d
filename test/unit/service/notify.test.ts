import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "../../../src/log.js";
import { Notifier, watchdogOf } from "../../../src/service/notify.js";
import { createRunProgram } from "../../../src/service/programs.js";
import { until } from "../../support/engine/engine-kit.js";
import { makeFakePrograms } from "../../support/fakes/fake-programs.js";

test("signs of life stop while only a new start can help, and go on afterwards", async () => {
  const programs = makeFakePrograms();
  programs.add("systemd-notify");
  const said = (): readonly string[] => programs.calls().map((call) => call.replace("systemd-notify ", ""));
  const run = createRunProgram({ PATH: `${programs.folder}:/usr/bin:/bin` }, new AbortController().signal);
  let stuck: string | undefined;
  const signs = { status: async () => "ready", stuck: () => stuck };
  const notifier = new Notifier({ signs, run, watchdogMs: 90, log: silentLog });
  await until("it lives", () => said().filter((line) => line === "WATCHDOG=1").length > 1, 20_000);
  assert.deepEqual(said().slice(0, 2), ["READY=1", "WATCHDOG=1 STATUS=ready"]);
  stuck = "The file system\ndoes not answer";
  await until("it says why", () => said().includes("STATUS=The file system does not answer"), 20_000);
  const from = said().length;
  stuck = undefined;
  await until("it lives again", () => said().length > from, 20_000);
  assert.equal(said()[from], "WATCHDOG=1 STATUS=ready");
  await notifier.stopping();
  await notifier[Symbol.asyncDispose]();
  assert.ok(said().some((line) => line.startsWith("STOPPING=1")));
});

test("no message is lost where the program is not there: it is said once", async () => {
  const warned: string[] = [];
  const run = createRunProgram({ PATH: "/nowhere" }, new AbortController().signal);
  const log = { ...silentLog, warn: (message: string) => void warned.push(message) };
  const notifier = new Notifier({
    signs: { status: async () => "ready", stuck: () => undefined },
    run,
    watchdogMs: undefined,
    log,
  });
  await notifier.stopping();
  await notifier[Symbol.asyncDispose]();
  assert.equal(warned.length, 1);
});

test("a watchdog of another process is not ours", () => {
  assert.equal(watchdogOf({ WATCHDOG_USEC: "90000000", WATCHDOG_PID: "7" }, 7), 90_000);
  assert.equal(watchdogOf({ WATCHDOG_USEC: "90000000", WATCHDOG_PID: "8" }, 7), undefined);
  assert.equal(watchdogOf({ WATCHDOG_USEC: "90000000" }, 7), 90_000);
  for (const usec of [undefined, "0", "", "soon"]) assert.equal(watchdogOf({ WATCHDOG_USEC: usec }, 7), undefined);
});
