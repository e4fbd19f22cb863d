import assert from "node:assert/strict";
import { cp } from "node:fs/promises";
import { type TestContext, test } from "node:test";
import { type DeliveryOptions, deliverOutbound, type Sender } from "../../../src/bus/delivery.js";
import { createMessageBus } from "../../../src/bus/message-bus.js";
import type { OutboundMessage } from "../../../src/bus/messages.js";
import type { EmbeddedEngineOptions } from "../../../src/engine/embedded/options.js";
import type { Engine } from "../../../src/engine/engine.js";
import { ChannelError } from "../../../src/errors.js";
import { gate, openIn, tempFolder, titled, until } from "../../support/engine/engine-kit.js";
import { keepLog } from "../../support/log.js";
import { reply } from "../../support/worlds/channels/channel-kit.js";

type Send = (message: OutboundMessage, signal: AbortSignal, nth: number) => Promise<void>;

const refused = (more: { readonly retryable?: boolean; readonly retryAfterMs?: number } = {}) =>
  new ChannelError("Refused.", { outcome: "refused", ...more });
const unknown = () => new ChannelError("Cut.", { outcome: "unknown", retryable: true });
const outage = refused({ retryable: true });

/** A channel that keeps what it has shown and fails as told. */
function platform(send: Send = async () => {}) {
  const shown: string[] = [];
  const attempts: { readonly text: string; readonly at: number }[] = [];
  const sender: Sender = {
    async send(message, signal) {
      attempts.push({ text: message.content, at: performance.now() });
      const nth = attempts.filter(({ text }) => text === message.content).length;
      await send(message, signal, nth);
      shown.push(message.content);
      return { platformMessageId: String(shown.length) };
    },
  };
  return { shown, attempts, sender, ofText: (text: string) => attempts.filter((attempt) => attempt.text === text) };
}

async function open(t: TestContext, home = tempFolder(t), options: Partial<EmbeddedEngineOptions> = {}) {
  const { engine } = await openIn(home, options);
  t.after(() => engine[Symbol.asyncDispose]());
  const bus = createMessageBus(engine);
  let count = 0;
  return {
    home,
    engine,
    /** Queues a reply, as a message outside of any turn. */
    queue: async (chat: string, content: string, channel = "telegram"): Promise<string> => {
      count += 1;
      const id = `out_${content}_${count}#1`;
      await bus.publishOutbound({ ...reply(chat, content), id, channel, sessionKey: `${channel}:${chat}` });
      return id;
    },
  };
}

function deliver(engine: Engine, senders: Readonly<Record<string, Sender>>, more: Partial<DeliveryOptions> = {}) {
  const controller = new AbortController();
  const log = keepLog();
  const options = { engine, channels: new Map(Object.entries(senders)), log, retryDelayMs: 1, ...more };
  const done = deliverOutbound(options, controller.signal);
  return {
    log,
    stop: () => {
      controller.abort();
      return done;
    },
  };
}

async function changesOf(engine: Engine, id: string, key = "telegram:42") {
  const { events } = await engine.events(key, { afterSeq: 0, limit: 1000 });
  return events.flatMap(({ type, payload }) =>
    type === "outbound_delivery_changed" && payload.outbound_id === id ? [payload] : [],
  );
}

async function statuses(engine: Engine, id: string, key?: string): Promise<readonly string[]> {
  return (await changesOf(engine, id, key)).map(
    ({ status, attempt, maybe_duplicate }) => `${status} ${attempt}${maybe_duplicate === true ? " maybe twice" : ""}`,
  );
}

const isEmpty = (engine: Engine) => () => engine.status().outboundWaiting === 0;

test("a reply that is sent says so, with its platform's id and the attempt that caused it", async (t) => {
  const { engine, queue } = await open(t);
  const there = platform();
  const work = deliver(engine, { telegram: there.sender });
  const id = await queue("42", "hello");
  await until("it is sent", isEmpty(engine));
  assert.deepEqual(await statuses(engine, id), ["queued 0", "sending 1", "sent 1"]);
  const { events } = await engine.events("telegram:42", { afterSeq: 0, limit: 10 });
  const [, sending, sent] = events;
  assert.equal(sent?.causation_id, sending?.event_id);
  assert.ok(sent?.type === "outbound_delivery_changed" && sent.payload.platform_message_id === "1");
  await work.stop();
});

test("replies of one chat go out in order, also when one fails for a while and one for good", async (t) => {
  const { engine, queue } = await open(t);
  const there = platform(async ({ content }, _signal, nth) => {
    if (content === "b" && nth <= 3) throw outage;
    if (content === "c") throw refused();
  });
  const ids: string[] = [];
  for (const text of ["a", "b", "c", "d"]) ids.push(await queue("42", text));
  const work = deliver(engine, { telegram: there.sender });
  await until("all are done", isEmpty(engine));
  assert.deepEqual(there.shown, ["a", "b", "d"]);
  assert.deepEqual(
    there.attempts.map(({ text }) => text),
    ["a", "b", "b", "b", "b", "c", "d"],
  );
  const ends = await Promise.all(ids.map(async (id) => (await statuses(engine, id)).at(-1)));
  assert.deepEqual(ends, ["sent 1", "sent 4", "refused 1", "sent 1"]);
  assert.deepEqual(
    (await engine.dead.list()).map(({ work, reason }) => [work.id, reason]),
    [[ids[2], "Refused."]],
  );
  await work.stop();
});

test("a stuck chat holds up no other chat, and a stuck channel no other channel", async (t) => {
  const { engine, queue } = await open(t);
  const hold = gate();
  const stuckChat = platform(async ({ chatId }) => {
    if (chatId === "42") await hold.opened;
  });
  const stuckChannel = platform(() => hold.opened);
  for (let n = 0; n < 5; n += 1) await queue(`${n}`, `stuck ${n}`, "discord");
  await queue("42", "stuck");
  await queue("42", "behind it");
  await queue("43", "free");
  const work = deliver(engine, { telegram: stuckChat.sender, discord: stuckChannel.sender }, { parallel: 2 });
  await until("the other chat is served", () => stuckChat.shown.includes("free"));
  assert.deepEqual(stuckChat.shown, ["free"]);
  assert.equal(stuckChannel.attempts.length, 2, "no more at once than allowed");
  hold.open();
  await until("all are sent", isEmpty(engine));
  assert.deepEqual(stuckChat.shown, ["free", "stuck", "behind it"]);
  await work.stop();
});

test("nothing of the chat is sent before the wait that the platform named is over, also after a restart", async (t) => {
  const { home, engine, queue } = await open(t);
  const there = platform(async (_message, _signal, nth) => {
    if (nth === 1) throw refused({ retryable: true, retryAfterMs: 400 });
  });
  const id = await queue("42", "limited");
  await queue("42", "next");
  await queue("43", "elsewhere");
  const first = deliver(engine, { telegram: there.sender });
  await until("the wait is stored", async () => (await statuses(engine, id)).includes("retrying 1"));
  const told = performance.now();
  await until("the other chat is not limited", () => there.ofText("elsewhere").length === 1);
  await first.stop();
  await engine[Symbol.asyncDispose]();
  const again = await open(t, home);
  const second = deliver(again.engine, { telegram: there.sender });
  await until("all are sent", isEmpty(again.engine));
  const [, retried] = there.ofText("limited");
  assert.ok(retried !== undefined && retried.at - told > 350, `${(retried?.at ?? 0) - told} ms`);
  assert.deepEqual(await statuses(again.engine, id), ["queued 0", "sending 1", "retrying 1", "sending 2", "sent 2"]);
  assert.ok((there.ofText("next")[0]?.at ?? 0) > retried.at);
  await second.stop();
});

test("what may have arrived is marked from then on, and buried when it stays unclear", async (t) => {
  const { engine, queue } = await open(t);
  const there = platform(async ({ content }, _signal, nth) => {
    if (content === "once" && nth === 2) throw unknown();
    if (content === "once" && nth <= 3) throw outage;
    if (content === "always") throw unknown();
  });
  const once = await queue("42", "once");
  const always = await queue("42", "always");
  await queue("42", "after");
  const work = deliver(engine, { telegram: there.sender }, { maxAttempts: 3 });
  await until("all are done", isEmpty(engine));
  assert.deepEqual(await statuses(engine, once), [
    "queued 0",
    "sending 1",
    "retrying 1",
    "sending 2",
    "unknown 2 maybe twice",
    "sending 3 maybe twice",
    "retrying 3 maybe twice",
    "sending 4 maybe twice",
    "sent 4 maybe twice",
  ]);
  assert.equal(there.ofText("always").length, 3);
  assert.deepEqual((await statuses(engine, always)).slice(-2), ["unknown 3 maybe twice", "dead_letter 3 maybe twice"]);
  assert.deepEqual(there.shown, ["once", "after"], "a dead letter never blocks its chat");
  assert.deepEqual(
    (await engine.dead.list()).map(({ work: { id }, reason }) => [id, reason]),
    [[always, "Cut."]],
  );
  await work.stop();
});

test("a file that the platform refuses is told by name and reason, to people in its place and to the model", async (t) => {
  const { engine } = await open(t);
  const there = platform(async ({ attachments }) => {
    if (attachments.length > 0) throw new ChannelError("Telegram refused the message (413: too large).");
  });
  const bus = createMessageBus(engine);
  const file = { path: "/x/report.pdf", filename: "report.pdf", mimeType: "application/pdf", sizeBytes: 9 };
  const works = {
    ...reply("42", "", { attachments: [file] }),
    id: "out_file#1",
    channel: "telegram",
    sessionKey: "telegram:42",
  };
  await bus.publishOutbound(works);
  await bus.publishOutbound({
    ...reply("42", "after it"),
    id: "out_after#1",
    channel: "telegram",
    sessionKey: "telegram:42",
  });
  const work = deliver(engine, { telegram: there.sender });
  await until("all are done", isEmpty(engine));
  await work.stop();
  assert.deepEqual(there.shown.length, 2);
  const notice = there.shown.find((text) => text !== "after it") ?? "";
  assert.match(notice, /report\.pdf could not be sent here\. .*413: too large.*smaller file/);
  const { events } = await engine.events("telegram:42", { afterSeq: 0, limit: 100 });
  const said = events.flatMap((event) =>
    event.type === "session_history_changed" ? (event.payload.messages ?? []) : [],
  );
  assert.match(said[0]?.content ?? "", /^\[Note: report\.pdf did not reach this chat\. .*413/);
  assert.deepEqual(
    (await engine.dead.list()).map(({ work: { id } }) => id),
    ["out_file#1"],
  );
});

test("where the chat takes nothing any more nobody is written to about a file, and the model knows", async (t) => {
  const { engine } = await open(t);
  const there = platform(async () => {
    throw new ChannelError("Telegram refused the message (403: blocked).", { isChatClosed: true });
  });
  const file = { path: "/x/a.png", filename: "a.png", mimeType: "image/png", sizeBytes: 9 };
  const message = {
    ...reply("42", "", { attachments: [file] }),
    id: "out_file#1",
    channel: "telegram",
    sessionKey: "telegram:42",
  };
  await createMessageBus(engine).publishOutbound(message);
  const work = deliver(engine, { telegram: there.sender });
  await until("it is done", isEmpty(engine));
  await work.stop();
  assert.equal(there.attempts.length, 1);
  const { events } = await engine.events("telegram:42", { afterSeq: 0, limit: 100 });
  assert.equal(events.filter(({ type }) => type === "session_history_changed").length, 1);
});

test("a dead letter that is sent for again has all its attempts again", async (t) => {
  const { engine, queue } = await open(t);
  let isCut = true;
  const there = platform(async (_message, _signal, nth) => {
    if (isCut) throw unknown();
    if (nth === 3) throw outage;
  });
  const id = await queue("42", "again");
  const work = deliver(engine, { telegram: there.sender }, { maxAttempts: 2 });
  await until("it is buried", () => engine.status().deadLetters === 1);
  isCut = false;
  assert.ok(await engine.dead.redrive(id));
  await until("it is done", isEmpty(engine));
  assert.equal(engine.status().deadLetters, 0);
  assert.deepEqual(there.shown, ["again"]);
  await work.stop();
});

test("an outage is outlasted: attempts that showed nothing are given up only when the reply is old", async (t) => {
  const { engine, queue } = await open(t);
  const there = platform(async ({ content }, _signal, nth) => {
    if (content === "long outage" && nth <= 6) throw outage;
  });
  const id = await queue("42", "long outage");
  const work = deliver(engine, { telegram: there.sender }, { maxAttempts: 3, retryDelayMs: 0 });
  await until("it is sent", isEmpty(engine));
  assert.equal((await statuses(engine, id)).at(-1), "sent 7");
  await work.stop();

  const gone = platform(async () => {
    throw outage;
  });
  const dead = await queue("42", "for ever");
  const giveUp = deliver(engine, { telegram: gone.sender }, { maxAttempts: 3, keepTryingMs: 0 });
  await until("it is buried", () => engine.status().deadLetters === 1);
  assert.deepEqual((await statuses(engine, dead)).slice(-2), ["retrying 3", "dead_letter 3"]);
  await giveUp.stop();
});

test("the waits between attempts grow", async (t) => {
  const { engine, queue } = await open(t);
  const there = platform(async (_message, _signal, nth) => {
    if (nth <= 4) throw outage;
  });
  await queue("42", "x");
  const work = deliver(engine, { telegram: there.sender }, { retryDelayMs: 20 });
  await until("it is sent", isEmpty(engine));
  const waits = there.attempts.slice(1).map(({ at }, index) => at - (there.attempts[index]?.at ?? 0));
  for (const [index, wait] of waits.entries()) assert.ok(wait >= 19 * 2 ** index, `${index + 1}: ${wait} ms`);
  await work.stop();
});

test("a bug in a channel counts as an attempt that may have shown the message, and is tried again", async (t) => {
  const { engine, queue } = await open(t);
  const there = platform(async (_message, _signal, nth) => {
    if (nth === 1) throw new TypeError("x is undefined");
  });
  const id = await queue("42", "x");
  const work = deliver(engine, { telegram: there.sender });
  await until("it is sent", isEmpty(engine));
  assert.deepEqual(await statuses(engine, id), [
    "queued 0",
    "sending 1",
    "sending 2 maybe twice",
    "sent 2 maybe twice",
  ]);
  await work.stop();
});

test("a reply that was under way when the gateway died is sent again and marked; one that waited is not", async (t) => {
  const { home, engine, queue } = await open(t);
  const hold = gate();
  const dying = platform(() => hold.opened);
  const first = await queue("42", "under way");
  const second = await queue("42", "waiting");
  const work = deliver(engine, { telegram: dying.sender });
  await until("it is under way", () => dying.attempts.length === 1);
  // What a kill would leave behind at this moment.
  const left = tempFolder(t);
  await cp(home, left, { recursive: true });
  hold.open();
  await work.stop();
  const again = await open(t, left);
  const there = platform();
  const next = deliver(again.engine, { telegram: there.sender });
  await until("both are sent", isEmpty(again.engine));
  assert.deepEqual(await statuses(again.engine, first), [
    "queued 0",
    "sending 1",
    "sending 2 maybe twice",
    "sent 2 maybe twice",
  ]);
  assert.deepEqual(await statuses(again.engine, second), ["queued 0", "sending 1", "sent 1"]);
  await next.stop();
});

test("a stop lets a send that is under way finish, begins no other, and cuts one that takes too long", async (t) => {
  const { engine, queue } = await open(t);
  const hold = gate();
  const there = platform(() => hold.opened);
  const first = await queue("42", "first");
  const second = await queue("42", "second");
  const elsewhere = await queue("43", "elsewhere");
  const work = deliver(engine, { telegram: there.sender }, { parallel: 1 });
  await until("one is under way", () => there.attempts.length === 1);
  const stopped = work.stop();
  hold.open();
  await stopped;
  assert.equal((await statuses(engine, first)).at(-1), "sent 1");
  assert.deepEqual(await statuses(engine, second), ["queued 0"]);
  assert.deepEqual(await statuses(engine, elsewhere, "telegram:43"), ["queued 0"]);
  assert.equal(engine.status().outboundWaiting, 2);

  const slow = platform(
    (_message, signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(unknown()))),
  );
  const cut = deliver(engine, { telegram: slow.sender }, { graceMs: () => 30 });
  await until("both are under way", () => slow.attempts.length === 2);
  await cut.stop();
  assert.equal((await statuses(engine, second)).at(-1), "unknown 1 maybe twice");
  assert.equal(engine.status().outboundWaiting, 2, "they are not given up");
});

test("replies of a channel that is off wait without counting as tried, and go out as soon as it is back", async (t) => {
  const { home, engine, queue } = await open(t);
  const id = await queue("42", "kept");
  const other = platform();
  await queue("7", "elsewhere", "discord");
  const off = deliver(engine, { discord: other.sender });
  await until("other channels go on", () => other.shown.length === 1);
  await off.stop();
  assert.equal(engine.status().outboundWaiting, 1);
  await engine[Symbol.asyncDispose]();
  const again = await open(t, home);
  const there = platform();
  const on = deliver(again.engine, { telegram: there.sender });
  await until("it is sent", isEmpty(again.engine));
  assert.deepEqual(await statuses(again.engine, id), ["queued 0", "sending 1", "sent 1"]);
  await on.stop();
});

test("after a week without its channel a reply becomes a dead letter, which never went anywhere", async (t) => {
  const { engine, queue } = await open(t, tempFolder(t), { now: () => Date.now() - 8 * 24 * 3600 * 1000 });
  const id = await queue("42", "old");
  const off = deliver(engine, {});
  await until("it is buried", () => engine.status().deadLetters === 1);
  assert.deepEqual(await statuses(engine, id), ["queued 0", "dead_letter 1"]);
  assert.match((await engine.dead.list())[0]?.reason ?? "", /telegram is not configured any more, or is off/);
  await off.stop();
});

test("a long log between the attempts does not hide that an earlier one may have arrived", async (t) => {
  const { engine, queue } = await open(t);
  const cut = gate();
  const there = platform(async (_message, _signal, nth) => {
    if (nth > 1) return;
    await cut.opened;
    throw unknown();
  });
  const id = await queue("42", "x");
  const work = deliver(engine, { telegram: there.sender }, { retryDelayMs: 200 });
  await until("it is under way", () => there.attempts.length === 1);
  cut.open();
  await until("its end is unknown", async () => (await statuses(engine, id)).includes("unknown 1 maybe twice"));
  const filler = Array.from({ length: 450 }, (_, n) => titled(`title ${n}`));
  await engine.append("telegram:42", filler, { durable: false });
  await until("it is sent", isEmpty(engine));
  assert.equal((await changesOf(engine, id)).at(-1)?.maybe_duplicate, true);
  await work.stop();
});
