import { openEmbeddedEngine } from "../../../../src/engine/embedded/open.js";
import { silentLog } from "../../../../src/log.js";
import { logPath, sessionOf } from "../engine-kit.js";
import { turnDrafts } from "../old-turns.js";

// A process that leaves old details out of a log, until it kills itself at a boundary.
const [home = "", killAt = "", before = "0"] = process.argv.slice(2);

const engine = await openEmbeddedEngine({
  home,
  logs: { pathOf: (key) => logPath(home, key), all: () => [logPath(home, sessionOf)] },
  publish: () => {},
  instanceId: "gw_child",
  log: silentLog,
  onBoundary: (name) => {
    if (name === killAt) process.kill(process.pid, "SIGKILL");
  },
});
// The journal holds a turn that no log has yet.
await engine.append(sessionOf, turnDrafts("msg_new"), { durable: true });
await engine.thinLogs({ sinceMs: 0, beforeMs: Number(before) }, new AbortController().signal);
await engine[Symbol.asyncDispose]();
