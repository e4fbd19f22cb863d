import { writeSync } from "node:fs";
import { openEmbeddedEngine } from "../../../../src/engine/embedded/open.js";
import { silentLog } from "../../../../src/log.js";
import { answered, consuming, counted, inbound, logPath, outbound, queued, titled } from "../engine-kit.js";

// A process that works on some chats until it kills itself at a boundary or is killed. It says what was promised to it.
const [home = "", killAt = "", nth = "1", messages = "400"] = process.argv.slice(2);
let passed = 0;

const engine = await openEmbeddedEngine({
  home,
  logs: { pathOf: (key) => logPath(home, key) },
  publish: () => {},
  instanceId: "gw_child",
  log: silentLog,
  journal: { segmentBytes: 30_000, sealAtLeast: 10 },
  quietMs: 3,
  limits: { suspectMs: 50 },
  onBoundary: (name) => {
    if (name !== killAt) return;
    passed += 1;
    if (passed === Number(nth)) process.kill(process.pid, "SIGKILL");
  },
});

function say(what: string, id: string): void {
  writeSync(1, `${what} ${id}\n`);
}

const handling = consuming(engine, "inbound", async (delivery) => {
  const { id } = delivery.work;
  await delivery.append([titled(`start ${id}`)], { durable: false });
  await delivery.append([titled(`tool ${id}`)], { durable: true, counts: counted("tool") });
  await delivery.commit({
    events: [titled(`end ${id}`), answered([id])],
    emit: [outbound(`${id}#1`, delivery.work.sessionKey)],
    counts: counted("end"),
  });
  say("committed", id);
});
const sending = consuming(engine, "outbound", async (delivery) => {
  await delivery.commit({ events: [titled(`sent ${delivery.work.id}`)], emit: [], counts: counted("sent") });
});

const run = process.pid;
const accepts: Promise<void>[] = [];
for (let n = 0; n < Number(messages); n += 1) {
  const id = `msg_${run}_${n}`;
  accepts.push(
    engine
      .accept(inbound(id, `telegram:${n % 4}`), { events: [queued(id)], cursor: { name: "offset", value: id } })
      .then(() => say("accepted", id)),
  );
  if (n % 10 === 9) await Promise.all(accepts.splice(0));
}
await Promise.all(accepts);
while (engine.status().inboundWaiting + engine.status().outboundWaiting > 0)
  await new Promise((resolve) => setTimeout(resolve, 2));
await handling.stop();
await sending.stop();
await engine[Symbol.asyncDispose]();
