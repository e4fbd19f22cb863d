import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { keepLogSmall } from "../../../../src/engine/embedded/logs/small-log.js";
import { openEmbeddedEngine } from "../../../../src/engine/embedded/open.js";
import { draft } from "../../../../src/events/event.js";
import { silentLog } from "../../../../src/log.js";

const key = "system:local";
const event = () =>
  draft("gateway_state_changed", { from: "starting", to: "ready", version: "0" }, { source: "gateway" });

test("a full gateway log is kept beside the new one, which goes on with the next sequence number", async () => {
  const home = await mkdtemp(join(tmpdir(), "maxclaw-log-"));
  const path = join(home, "gateway.events.jsonl");
  const engine = await openEmbeddedEngine({
    home,
    logs: { pathOf: () => path },
    publish: () => undefined,
    instanceId: "gw",
    log: silentLog,
  });
  const options = { engine, key, path, log: silentLog, maxBytes: 500 };
  await engine.append(key, [event()], { durable: true });
  await engine.flush();
  using _small = await keepLogSmall(options);
  assert.equal(existsSync(`${path}.1`), false, "a small log stays");
  await engine.append(key, [event(), event()], { durable: true });
  await engine.flush();
  using _full = await keepLogSmall(options);
  assert.equal((await readFile(`${path}.1`, "utf8")).trimEnd().split("\n").length, 3);
  const [next] = await engine.append(key, [event()], { durable: true });
  assert.equal(next?.seq, 4);
  assert.equal((await engine.events(key, { afterSeq: 0, limit: 10 })).events.length, 1);
  await engine[Symbol.asyncDispose]();
});
