import { setTimeout as delay } from "node:timers/promises";
import type { Delivery } from "../../../../src/engine/engine.js";
import { EngineError } from "../../../../src/errors.js";
import { openNode } from "../../postgres/postgres-kit.js";
import { answered, outbound, titled } from "../engine-kit.js";

/** A node of its own process. It tells each step in a line, and works on each message for as long as its text says. */
const [url = "", schema = "", timing = "{}"] = process.argv.slice(2);
const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

const { engine } = await openNode(url, schema, {
  timing: JSON.parse(timing),
  publish: ({ session_key: session, seq, type }) => say({ published: [session, seq, type] }),
});
const stop = new AbortController();
process.on("SIGTERM", () => stop.abort());
const lease = engine.lease("poller", stop.signal).then((held) => {
  say({ leased: held.epoch });
  held.lost.addEventListener("abort", () => say({ lostLease: held.epoch }), { once: true });
});
lease.catch(() => undefined);
say({ opened: engine.nodeId });

await engine.consume(
  "inbound",
  { parallel: 4 },
  async (delivery: Delivery<"inbound">, signal) => {
    const { id, body } = delivery.work;
    say({ begun: id, attempt: delivery.attempt });
    try {
      await delivery.append([titled(`${id} ${delivery.attempt}`)], { durable: true });
      const ms = Number(/\d+ ms/.exec(body.content)?.[0].slice(0, -3) ?? 0);
      // Also when it is told to stop: what a zombie stores is what this is about.
      await delay(ms);
      if (stop.signal.aborted) return;
      await delivery.commit({ events: [answered([id])], emit: [outbound(`reply ${id}`, delivery.work.sessionKey)] });
      say({ done: id, aborted: signal.aborted });
    } catch (error) {
      say({ failed: id, kind: error instanceof EngineError ? error.kind : String(error) });
      throw error;
    }
  },
  stop.signal,
);
await engine[Symbol.asyncDispose]();
say({ closed: true });
