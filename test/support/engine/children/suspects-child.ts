import { writeSync } from "node:fs";
import { openEmbeddedEngine } from "../../../../src/engine/embedded/open.js";
import { silentLog } from "../../../../src/log.js";
import { answered, consuming, inbound, logPath, queued, titled } from "../engine-kit.js";

// A process with a message for each name it is given, all of them in work at once. What the names say happens: `kills`
// ends the process, `later` does so after a while, `slow` takes long, all others take a moment.
const [home = "", suspectMs = "50", ...names] = process.argv.slice(2);

const engine = await openEmbeddedEngine({
  home,
  logs: { pathOf: (key) => logPath(home, key) },
  publish: () => {},
  instanceId: "gw_child",
  log: silentLog,
  limits: { suspectMs: Number(suspectMs) },
});

const passes = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const end = (): true => process.kill(process.pid, "SIGKILL");

for (const name of names) await engine.accept(inbound(name, `telegram:${name}`), { events: [queued(name)] });
writeSync(1, "ready\n");

const handling = consuming(
  engine,
  "inbound",
  async (delivery) => {
    const { id } = delivery.work;
    writeSync(1, `begun ${id}\n`);
    if (delivery.exhausted) {
      await delivery.bury({ events: [], emit: [], reason: "it ends the process" });
      return void writeSync(1, `buried ${id}\n`);
    }
    if (id.startsWith("kills")) end();
    await passes(id.startsWith("slow") ? 300 : 5);
    if (id.startsWith("later")) await passes(80).then(end);
    await delivery.commit({ events: [titled(`end ${id}`), answered([id])], emit: [] });
  },
  { parallel: 64, maxAttempts: 3 },
);
while (engine.status().inboundWaiting > 0) await passes(2);
await handling.stop();
await engine[Symbol.asyncDispose]();
