import assert from "node:assert/strict";
import { test } from "node:test";
import { SessionLives } from "../../../src/events/session-lives.js";
import { silentLog } from "../../../src/log.js";
import { gate } from "../../support/engine/engine-kit.js";

const key = "telegram:7";
const child = `${key}:spawn:1`;

test("a deletion ends what goes on for the session and those below it, and waits for it; others go on", async () => {
  const lives = new SessionLives(silentLog);
  const told: string[] = [];
  const work = (name: string) => async (signal: AbortSignal) => {
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    told.push(name);
  };
  const stop = new AbortController();
  const other = lives.run("telegram:70", work("other"), stop.signal);
  const both = [lives.run(key, work("session")), lives.run(child, work("child"))];
  await lives.end(key, 5000, async (late) => {
    assert.equal(late, undefined);
    told.push("removed");
  });
  await Promise.all(both);
  assert.deepEqual(told, ["session", "child", "removed"]);
  stop.abort();
  await other;
});

test("nothing begins for a session, or below it, while it is deleted; what a person sends waits for the new life", async () => {
  const lives = new SessionLives(silentLog);
  const removing = gate();
  const ending = lives.end(key, 5000, () => removing.opened);
  for (const each of [key, child])
    await assert.rejects(
      lives.run(each, async () => "never"),
      { kind: "fenced" },
    );
  let isTaken = false;
  const sent = lives.runOrAgain(key, async () => {
    isTaken = true;
  });
  assert.equal(await lives.run("telegram:70", async () => "goes on"), "goes on");
  assert.equal(isTaken, false);
  removing.open();
  await ending;
  await sent;
  assert.equal(isTaken, true);
});

test("what a deletion has ended of a person's message is done again for the new life", async () => {
  const lives = new SessionLives(silentLog);
  const begun = gate();
  let tries = 0;
  const sent = lives.runOrAgain(key, async (signal) => {
    tries += 1;
    if (tries > 1) return "taken";
    begun.open();
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    throw signal.reason;
  });
  await begun.opened;
  await lives.end(key, 5000, async () => undefined);
  assert.equal(await sent, "taken");
  assert.equal(tries, 2);
});

test("what does not let go holds up nobody for longer than the limit, stays ended for good, and is told late", async () => {
  const lives = new SessionLives(silentLog);
  const held = gate();
  const seen: boolean[] = [];
  const stuck = lives.run(key, async (signal) => {
    await held.opened;
    seen.push(signal.aborted);
  });
  const late = await lives.end(key, 10, async (ends) => ({ ends }));
  assert.notEqual(late.ends, undefined);
  assert.equal(await lives.run(key, async () => "a new life"), "a new life");
  held.open();
  await Promise.all([stuck, late.ends]);
  assert.deepEqual(seen, [true]);
});

test("each part takes away what it keeps, also when another one fails or never ends", async () => {
  const lives = new SessionLives(silentLog);
  const left: string[] = [];
  lives.onLeave("broken", () => Promise.reject(new Error("no")));
  lives.onLeave("stuck", () => new Promise(() => {}));
  lives.onLeave("whole", async (each) => void left.push(each));
  await lives.leave(key, 10);
  assert.deepEqual(left, [key]);
});
