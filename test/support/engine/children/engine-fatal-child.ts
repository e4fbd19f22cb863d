import { failSyncs } from "../failing-sync.js";

// A process whose disk stops syncing after its first message, with nobody who would look after that.
const [home = ""] = process.argv.slice(2);
const failures = await failSyncs();
const { openEmbeddedEngine } = await import("../../../../src/engine/embedded/open.js");
const { inbound, logPath, queued } = await import("../engine-kit.js");
const { createLog } = await import("../../../../src/pino-log.js");

const engine = await openEmbeddedEngine({
  home,
  logs: { pathOf: (key) => logPath(home, key) },
  publish: () => {},
  instanceId: "gw_child",
  log: createLog({ level: "info", stderr: true }),
});
await engine.accept(inbound("msg_1"), { events: [queued("msg_1")] });
failures.failsOn = () => true;
await engine.accept(inbound("msg_2"), { events: [queued("msg_2")] });
console.log("msg_2 was promised");
