import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Channel } from "../../../src/channels/channel.js";
import { type ConnectionDetail, superviseChannel } from "../../../src/channels/supervisor.js";
import { ChannelError } from "../../../src/errors.js";
import { keepLog } from "../../support/log.js";
import { accepted } from "../../support/worlds/channels/channel-kit.js";

type Run = (onConnected: () => void, signal: AbortSignal) => Promise<void>;

const lost = (more: { readonly retryAfterMs?: number } = {}) =>
  new ChannelError("The line is dead.", { retryable: true, ...more });

/** A channel whose runs go as told, one after the other; the last one for ever. */
function supervise(t: TestContext, runs: readonly Run[], longestSilenceMs?: number) {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  let used = 0;
  const channel: Channel = {
    name: "test",
    run: async (_publish, onConnected, signal) => {
      const run = runs[Math.min(used, runs.length - 1)];
      used += 1;
      await run?.(onConnected, signal);
    },
    ...(longestSilenceMs === undefined ? {} : { longestSilenceMs }),
    split: (content) => [content],
    send: async () => ({ platformMessageId: "1" }),
  };
  const states: [state: string, detail: ConnectionDetail][] = [];
  const log = keepLog();
  const controller = new AbortController();
  const done = superviseChannel(
    channel,
    async () => accepted,
    { log, onState: (state, detail) => void states.push([state, detail]) },
    controller.signal,
  );
  return {
    states,
    log,
    controller,
    done,
    runs: () => used,
    /** Lets what is due happen, without time going on. */
    settle: async () => {
      for (let round = 0; round < 20; round += 1) await Promise.resolve();
    },
  };
}

const untilAborted: Run = (onConnected, signal) => {
  onConnected();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
};

test("a lost connection is tried again later each time, up to a minute, with the number of the try", async (t) => {
  const s = supervise(t, [() => Promise.reject(lost())]);
  for (let attempt = 1; attempt <= 12; attempt += 1) {
    await s.settle();
    const [state, { attempt: told, delayMs = 0, reason }] = s.states.at(-1) ?? ["", {}];
    // Truthful: nobody is about to reconnect who has failed ten times in a row.
    assert.deepEqual(
      [state, told, reason],
      [attempt < 10 ? "reconnecting" : "disconnected", attempt, "The line is dead."],
    );
    const longest = Math.min(1000 * 2 ** (attempt - 1), 60_000);
    assert.ok(delayMs >= longest * 0.75 && delayMs <= longest, `${delayMs} ms at try ${attempt}`);
    assert.equal(s.runs(), attempt);
    t.mock.timers.tick(delayMs - 1);
    await s.settle();
    assert.equal(s.runs(), attempt, "not a moment earlier");
    t.mock.timers.tick(1);
  }
  s.controller.abort();
  await s.done;
});

test("a wait that the platform names is kept", async (t) => {
  const s = supervise(t, [() => Promise.reject(lost({ retryAfterMs: 30_000 })), untilAborted]);
  await s.settle();
  assert.equal(s.states.at(-1)?.[1].delayMs, 30_000);
  t.mock.timers.tick(29_999);
  await s.settle();
  assert.equal(s.runs(), 1);
  t.mock.timers.tick(1);
  await s.settle();
  assert.equal(s.runs(), 2);
  s.controller.abort();
  await s.done;
});

const wrongToken = () => new ChannelError("Wrong token.");

test("a refusal at the start is told at once, and tried again, slowly once it has lasted for minutes", async (t) => {
  const s = supervise(t, [() => Promise.reject(wrongToken())]);
  const began = Date.now();
  for (;;) {
    await s.settle();
    const [state, { delayMs = 0, reason }] = s.states.at(-1) ?? ["", {}];
    assert.deepEqual([state, reason], ["disconnected", "Wrong token."]);
    const lasted = Date.now() - began;
    if (lasted >= 180_000) assert.equal(delayMs, 300_000, `after ${lasted} ms`);
    else assert.ok(delayMs <= 60_000, `${delayMs} after ${lasted} ms`);
    if (lasted > 600_000) break;
    t.mock.timers.tick(delayMs);
  }
  assert.deepEqual(
    s.log.lines.filter(({ level }) => level === "error").map(({ message }) => message),
    ["test is refused: Wrong token."],
  );
  s.controller.abort();
  await s.done;
});

test("one refusal amid a connection that works is a lost connection, and is over with the next try", async (t) => {
  const connectedThenRefused: Run = async (onConnected) => {
    onConnected();
    throw wrongToken();
  };
  const s = supervise(t, [connectedThenRefused, untilAborted]);
  await s.settle();
  const [state, { delayMs = 0, reason }] = s.states.at(-1) ?? ["", {}];
  assert.deepEqual([state, reason], ["reconnecting", "Wrong token."]);
  assert.ok(delayMs <= 1000, `${delayMs}`);
  t.mock.timers.tick(delayMs);
  await s.settle();
  assert.equal(s.states.at(-1)?.[0], "connected");
  s.controller.abort();
  await s.done;
});

test("a channel whose token is refused for minutes is off, and works again once the token is taken again", async (t) => {
  let isRefused = true;
  const s = supervise(t, [
    async (onConnected) => onConnected(),
    async (onConnected, signal) => {
      if (isRefused) throw wrongToken();
      await untilAborted(onConnected, signal);
    },
  ]);
  const seen: string[] = [];
  for (let tries = 0; tries < 12; tries += 1) {
    await s.settle();
    const [state, { delayMs = 0 }] = s.states.at(-1) ?? ["", {}];
    if (seen.at(-1) !== state) seen.push(state);
    t.mock.timers.tick(delayMs);
  }
  assert.deepEqual(seen, ["reconnecting", "disconnected"]);
  isRefused = false;
  t.mock.timers.tick(300_000);
  await s.settle();
  assert.equal(s.states.at(-1)?.[0], "connected");
  s.controller.abort();
  await s.done;
});

test("a connection that held ends the row of failures, one that broke at once does not", async (t) => {
  const holdFor =
    (ms: number): Run =>
    async (onConnected) => {
      onConnected();
      t.mock.timers.tick(ms);
      throw lost();
    };
  const s = supervise(t, [() => Promise.reject(lost()), holdFor(9_000), holdFor(10_000), untilAborted]);
  for (const expected of [1, 2, 1]) {
    await s.settle();
    const [state, { attempt, delayMs = 0 }] = s.states.at(-1) ?? ["", {}];
    assert.deepEqual([state, attempt], ["reconnecting", expected]);
    t.mock.timers.tick(delayMs);
  }
  s.controller.abort();
  await s.done;
});

test("a bug in a channel, and a run that ends by itself, are lost connections and harm nobody else", async (t) => {
  const s = supervise(t, [() => Promise.reject(new TypeError("x is not a function")), async () => {}, untilAborted]);
  await s.settle();
  assert.equal(s.states.at(-1)?.[1].reason, "x is not a function");
  t.mock.timers.tick(1000);
  await s.settle();
  assert.match(s.states.at(-1)?.[1].reason ?? "", /stopped receiving/);
  t.mock.timers.tick(2000);
  await s.settle();
  assert.equal(s.states.at(-1)?.[0], "connected");
  s.controller.abort();
  await s.done;
});

test("a channel that falls silent is run again, also if its run does not end, and one that gives signs of life is not", async (t) => {
  const heard: (() => void)[] = [];
  const deaf: Run = (onConnected) => {
    heard.push(onConnected);
    onConnected();
    return new Promise(() => {});
  };
  const s = supervise(t, [deaf, untilAborted], 60_000);
  await s.settle();
  for (let minute = 0; minute < 5; minute += 1) {
    t.mock.timers.tick(59_000);
    heard[0]?.();
  }
  assert.equal(s.runs(), 1);
  t.mock.timers.tick(60_000);
  await s.settle();
  t.mock.timers.tick(10_000);
  await s.settle();
  assert.deepEqual(s.states.at(-1)?.[0], "reconnecting");
  assert.match(s.states.at(-1)?.[1].reason ?? "", /Nothing was heard for 60 s/);
  heard[0]?.();
  assert.equal(s.states.at(-1)?.[0], "reconnecting", "what was left behind has no say any more");
  t.mock.timers.tick(1000);
  await s.settle();
  assert.equal(s.runs(), 2);
  s.controller.abort();
  await s.done;
});

test("an abort ends it at once: while connected, while waiting, and before it began", async (t) => {
  const connected = supervise(t, [untilAborted]);
  await connected.settle();
  connected.controller.abort();
  await connected.done;
  assert.deepEqual(
    connected.states.map(([state]) => state),
    ["connecting", "connected", "disconnected"],
  );
  assert.deepEqual(connected.log.lines, [], "a stop is not a failure");
  t.mock.timers.reset();
  const waiting = supervise(t, [() => Promise.reject(lost())]);
  await waiting.settle();
  waiting.controller.abort();
  await waiting.done;
  assert.equal(waiting.states.at(-1)?.[0], "disconnected");
  assert.equal(waiting.runs(), 1);
});
