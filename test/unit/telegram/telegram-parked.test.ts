import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChannelContext, PublishOutcome, ReceivedMessage } from "../../../src/channels/channel.js";
import { createTelegramChannel } from "../../../src/channels/telegram/telegram.js";
import { EngineError } from "../../../src/errors.js";
import { gate, until } from "../../support/engine/engine-kit.js";
import { type FakeTelegram, startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { keepLog } from "../../support/log.js";
import { accepted, recordPublish, startChannel } from "../../support/worlds/channels/channel-kit.js";

const token = "4242:parked-secret";

/** What a gateway keeps over a kill: records, positions, and which messages it has taken, each once. */
class Disk {
  readonly records = new Map<string, unknown>();
  readonly taken: ReceivedMessage[] = [];
  cursor: string | undefined;
  isFull = false;

  texts(chatId?: string): readonly string[] {
    return this.taken.filter((one) => chatId === undefined || one.chatId === chatId).map(({ content }) => content);
  }

  take(message: ReceivedMessage): PublishOutcome {
    if (this.taken.some(({ dedupId }) => dedupId === message.dedupId)) return { status: "duplicate" };
    this.taken.push(message);
    this.cursor = message.cursor?.value ?? this.cursor;
    return accepted;
  }
}

/** One process on a disk. From its `diesAt`th write on nothing that it does has an effect. */
class Process {
  readonly #disk: Disk;
  readonly #diesAt: number;
  #writes = 0;

  constructor(disk: Disk, diesAt = Number.POSITIVE_INFINITY) {
    this.#disk = disk;
    this.#diesAt = diesAt;
  }

  get isDead(): boolean {
    return this.#writes > this.#diesAt;
  }

  get writes(): number {
    return this.#writes;
  }

  /** Dies before a write, or behind it without having heard about it. */
  async write<T>(work: () => T): Promise<T> {
    if (this.#writes++ >= this.#diesAt) return await new Promise<never>(() => {});
    const result = work();
    if (this.#writes++ >= this.#diesAt) return await new Promise<never>(() => {});
    return result;
  }

  readonly context: ChannelContext = {
    cursor: async () => this.#disk.cursor,
    actsAtOnce: ({ content }) => content === "/stop",
    records: {
      get: (id) => this.#disk.records.get(id),
      put: (id, value) =>
        this.write(() => {
          if (this.#disk.isFull) throw new EngineError("The disk is full", { kind: "persistence" });
          this.#disk.records.set(id, JSON.parse(JSON.stringify(value)));
        }),
      delete: (id) => this.write(() => void this.#disk.records.delete(id)),
      list: () => [...this.#disk.records].map(([id, value]) => ({ id, value })),
    },
  };
}

function open(telegram: FakeTelegram, process: Process) {
  const log = keepLog();
  const options = { token, apiRoot: telegram.url, pollTimeoutSeconds: 0.1, busyRetryMs: 10, parkAfterMs: 20, log };
  return createTelegramChannel(options, process.context);
}

const say = (telegram: FakeTelegram, chatId: number, text: string) =>
  telegram.pushText({ chatId, userId: chatId, text });

test("a message that takes long holds up no other chat, however many updates come behind it", async () => {
  await using telegram = await startFakeTelegram({ token });
  const disk = new Disk();
  const slow = gate();
  const gateway = recordPublish(async (message) => {
    if (message.content === "slow") await slow.opened;
    return disk.take(message);
  });
  say(telegram, 1, "slow");
  for (let n = 0; n < 250; n++) say(telegram, 2 + (n % 7), `other ${n}`);
  const last = say(telegram, 1, "behind it");
  await using _running = startChannel(open(telegram, new Process(disk)), gateway.publish);
  using _freed = { [Symbol.dispose]: slow.open };
  await until("the others are taken", () => disk.taken.length === 250);
  await telegram.waitForConfirmed(last.updateId + 1);
  assert.deepEqual([disk.texts("1"), disk.records.size], [[], 2]);
  say(telegram, 1, "/stop");
  await until("a stop acts at once", () => disk.texts("1").length === 1);
  slow.open();
  await until("all are taken", () => disk.taken.length === 253);
  assert.deepEqual(disk.texts("1"), ["/stop", "slow", "behind it"]);
  await until("nothing is parked", () => disk.records.size === 0);
});

test("what somebody sends who is not listened to is never parked", async () => {
  await using telegram = await startFakeTelegram({ token });
  const disk = new Disk();
  const process = new Process(disk);
  const slow = gate();
  const gateway = recordPublish(async (message) => {
    if (message.senderId === "66") return { status: "refused" };
    await slow.opened;
    return disk.take(message);
  });
  const context = { ...process.context, actsAtOnce: ({ senderId }: ReceivedMessage) => senderId === "66" };
  const options = { token, apiRoot: telegram.url, pollTimeoutSeconds: 0.1, parkAfterMs: 20, log: keepLog() };
  telegram.pushText({ chatId: -5, userId: 1, text: "slow" });
  await using _running = startChannel(createTelegramChannel(options, context), gateway.publish);
  using _freed = { [Symbol.dispose]: slow.open };
  await until("it is parked", () => disk.records.size === 1);
  const stranger = telegram.pushText({ chatId: -5, userId: 66, text: "private words" });
  await telegram.waitForConfirmed(stranger.updateId + 1);
  assert.equal(disk.records.size, 1);
  assert.doesNotMatch(JSON.stringify([...disk.records]), /private words/);
});

for (const isTaken of [false, true])
  test(`what a node parks while it loses the bot to another one, which ${isTaken ? "has taken" : "takes"} it, is not left there`, async () => {
    await using telegram = await startFakeTelegram({ token });
    const disk = new Disk();
    const begun = gate();
    const late = gate();
    const parked = gate();
    const slow = gate();
    const { context } = new Process(disk);
    const put = async (id: string, value: unknown): Promise<void> => {
      begun.open();
      await late.opened;
      disk.records.set(id, JSON.parse(JSON.stringify(value)));
      parked.open();
    };
    const options = { token, apiRoot: telegram.url, pollTimeoutSeconds: 0.1, parkAfterMs: 20, log: keepLog() };
    const records = context.records && { ...context.records, put };
    say(telegram, 1, "hello");
    const losing = createTelegramChannel(options, { ...context, records });
    await using before = startChannel(losing, async () => {
      await slow.opened;
      return { status: "busy", reply: "" };
    });
    await begun.opened;
    void before.stop();
    // The other one cannot park it by itself.
    disk.isFull = true;
    const come = gate();
    await using _after = startChannel(open(telegram, new Process(disk)), async (message) => {
      come.open();
      if (!isTaken) await slow.opened;
      return disk.take(message);
    });
    using _freed = { [Symbol.dispose]: slow.open };
    await come.opened;
    if (isTaken) await until("it is taken and confirmed", () => disk.taken.length === 1 && telegram.pending === 0);
    late.open();
    await parked.opened;
    await until("Telegram may forget it", () => telegram.pending === 0);
    slow.open();
    await until("nothing is parked", () => disk.records.size === 0);
    assert.deepEqual(disk.texts(), ["hello"]);
  });

function sendAlbum(telegram: FakeTelegram): void {
  for (const name of ["a", "b"])
    telegram.pushMessage({
      chat: { id: 3, type: "private" },
      from: { id: 3, is_bot: false, first_name: "Cy" },
      media_group_id: "9",
      document: { file_id: name, file_name: name },
    });
}

test("while an album out of the parking is put together, Telegram is asked for more of it a few times a second", async () => {
  await using telegram = await startFakeTelegram({ token });
  const disk = new Disk();
  sendAlbum(telegram);
  await using first = startChannel(open(telegram, new Process(disk)), () => new Promise(() => {}));
  await until("it is parked", () => disk.records.size === 2 && telegram.pending === 0);
  void first.stop();
  const asked = telegram.calls("getUpdates");
  await using _second = startChannel(open(telegram, new Process(disk)), async (message) => disk.take(message));
  await until("it is taken", () => disk.taken.length === 1);
  const polls = telegram.calls("getUpdates") - asked;
  assert.ok(polls >= 3 && polls <= 8, `${polls} polls`);
});

/** What is sent while nothing is taken for the moment: a slow file, an album with one, and what is behind them. */
function sendAll(telegram: FakeTelegram): void {
  say(telegram, 1, "slow");
  say(telegram, 2, "elsewhere");
  sendAlbum(telegram);
  say(telegram, 1, "second");
  say(telegram, 3, "after the album");
}

async function killAt(diesAt: number): Promise<boolean> {
  await using telegram = await startFakeTelegram({ token });
  const disk = new Disk();
  const first = new Process(disk, diesAt);
  const slow = gate();
  sendAll(telegram);
  const before = startChannel(open(telegram, first), async (message) => {
    if (message.chatId !== "2") await slow.opened;
    return await first.write(() => disk.take(message));
  });
  await until("it is parked, or has died", () => first.isDead || disk.records.size === 5);
  slow.open();
  await until("it is done, or has died", () => first.isDead || (disk.records.size === 0 && disk.taken.length === 5));
  const { isDead } = first;
  // An abort is the end of the dead process's polls; its writes have no effect any more.
  void before.stop();
  await using _second = startChannel(open(telegram, new Process(disk)), async (message) => disk.take(message));
  const what = `killed at write ${diesAt}: `;
  await until(`${what}all are taken`, () => disk.taken.length === 5);
  await until(`${what}nothing is parked or pending`, () => disk.records.size === 0 && telegram.pending === 0);
  assert.deepEqual(disk.texts("1"), ["slow", "second"], what);
  assert.deepEqual(disk.texts("2"), ["elsewhere"], what);
  const [album, ...others] = disk.taken.filter(({ chatId }) => chatId === "3");
  assert.deepEqual(
    album?.files?.map(({ filename }) => filename),
    ["a", "b"],
    what,
  );
  assert.deepEqual(
    others.map(({ content }) => content),
    ["after the album"],
    what,
  );
  return isDead;
}

test("a kill at any write loses nothing, takes nothing twice and keeps the order of each chat", async () => {
  let kills = 0;
  // Most of each is waiting for an album: several at once.
  for (let died = true; died; ) {
    const deaths = await Promise.all(Array.from({ length: 8 }, (_, n) => killAt(kills + n)));
    died = deaths.every((one) => one);
    kills += died ? deaths.length : deaths.indexOf(false);
  }
  // Five messages in six updates: each is parked, taken and removed, with a kill before and behind each write.
  assert.ok(kills >= 28, `${kills} kills`);
});

test("a chat that has no room in the parking is told once, others are heard, and what it was told about is never taken", async () => {
  await using telegram = await startFakeTelegram({ token });
  const disk = new Disk();
  const slow = gate();
  const leftOut: string[] = [];
  const gateway = recordPublish(async (message) => {
    if (message.isLeftOut === true)
      return { status: "refused", ...(leftOut.push(message.content) === 1 ? { reply: "Too many." } : {}) };
    if (message.chatId === "1") await slow.opened;
    return disk.take(message);
  });
  for (let n = 0; n < 520; n++) say(telegram, 1, `m${n}`);
  say(telegram, 2, "elsewhere");
  await using _running = startChannel(open(telegram, new Process(disk)), gateway.publish);
  using _freed = { [Symbol.dispose]: slow.open };
  await until("the other is heard", () => disk.texts().includes("elsewhere"), 20_000);
  await until("the rest is left out", () => leftOut.length === 20);
  assert.deepEqual(
    leftOut,
    Array.from({ length: 20 }, (_, n) => `m${500 + n}`),
  );
  assert.equal(disk.records.size, 500);
  slow.open();
  await until("what was parked is taken", () => disk.texts("1").length === 500, 20_000);
  assert.deepEqual(
    telegram.sent.map(({ text }) => text),
    ["Too many."],
  );
  assert.deepEqual(
    disk.texts("1"),
    Array.from({ length: 500 }, (_, n) => `m${n}`),
  );
});

test("on a full disk nothing is confirmed that is not taken", async () => {
  await using telegram = await startFakeTelegram({ token });
  const disk = new Disk();
  disk.isFull = true;
  const slow = gate();
  const { updateId } = say(telegram, 1, "slow");
  await using _running = startChannel(open(telegram, new Process(disk)), async (message) => {
    await slow.opened;
    return disk.take(message);
  });
  using _freed = { [Symbol.dispose]: slow.open };
  await until("several polls went by", () => telegram.calls("getUpdates") >= 5);
  assert.deepEqual([telegram.confirmedOffset <= updateId, telegram.pending], [true, 1]);
  disk.isFull = false;
  await until("it is parked", () => disk.records.size === 1 && telegram.pending === 0);
});
