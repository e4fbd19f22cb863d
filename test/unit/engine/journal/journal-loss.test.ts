import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { queuedEvent } from "../../../../src/bus/message-bus.js";
import { markName } from "../../../../src/engine/embedded/damage/journal-mark.js";
import { completeFromLogs, takeOverFromLogs } from "../../../../src/engine/embedded/damage/take-over.js";
import { encodeLine } from "../../../../src/engine/embedded/journal/line.js";
import { repairJournal } from "../../../../src/engine/embedded/journal/repair.js";
import { EngineError } from "../../../../src/errors.js";
import { draft, type EventDraft } from "../../../../src/events/event.js";
import { silentLog } from "../../../../src/log.js";
import {
  answered,
  consuming,
  gate,
  inbound,
  logPath,
  openIn,
  outbound,
  tempFolder,
  titled,
  until,
} from "../../../support/engine/engine-kit.js";

const logsOf = (home: string) => (): readonly string[] =>
  fs.existsSync(join(home, "sessions"))
    ? fs
        .readdirSync(join(home, "sessions"))
        .filter((name) => name.endsWith(".jsonl"))
        .map((name) => join(home, "sessions", name))
    : [];

const logsMarkOf = (home: string): string => join(home, "sessions", "logs.mark");

function openWithLogs(home: string) {
  fs.mkdirSync(join(home, "sessions"), { recursive: true });
  return openIn(home, { quietMs: 60_000, logs: { all: logsOf(home), mark: logsMarkOf(home) } });
}

function delivered(id: string): EventDraft {
  const about = { outbound_id: id, channel: "telegram", chat_id: "42", attempt: 1 };
  return draft(
    "outbound_delivery_changed",
    { ...about, status: "sent", platform_message_id: "9" },
    { source: "gateway" },
  );
}

interface Lived {
  readonly home: string;
  /** The journal and its mark as they were before the last messages. */
  readonly older: string;
  readonly olderMark: string;
  readonly answeredId: string;
  readonly waitingId: string;
}

/** A home as a kill leaves it: a message that was answered and its reply sent, one that waits, and an older journal. */
async function lived(t: TestContext): Promise<Lived> {
  const home = tempFolder(t);
  const { engine } = await openWithLogs(home);
  const accept = async (id: string) => {
    const work = inbound(id);
    await engine.accept(work, { events: [queuedEvent(work.body, 0)] });
  };
  await accept("msg_answered");
  const older = join(tempFolder(t), "journal");
  const olderMark = join(older, "..", markName);
  fs.cpSync(join(home, "journal"), older, { recursive: true });
  fs.copyFileSync(join(home, markName), olderMark);
  const handling = consuming(engine, "inbound", async (delivery) => {
    const { id } = delivery.work;
    await delivery.commit({ events: [answered([id])], emit: [outbound(`${id}#1`)] });
  });
  const sending = consuming(engine, "outbound", async (delivery) => {
    await delivery.commit({ events: [delivered(delivery.work.id)], emit: [] });
  });
  await until("the reply is sent", () => engine.status().outboundWaiting + engine.status().inboundWaiting === 0);
  await handling.stop();
  await sending.stop();
  await accept("msg_waiting");
  await engine.flush();
  const killed = tempFolder(t);
  fs.cpSync(home, killed, { recursive: true });
  await engine[Symbol.asyncDispose]();
  return { home: killed, older, olderMark, answeredId: "msg_answered", waitingId: "msg_waiting" };
}

function txOf(mark: string): number {
  return Number(/"tx":(\d+)/.exec(fs.readFileSync(mark, "utf8"))?.[1]);
}

function segmentOf(home: string): string {
  const [name = ""] = fs.readdirSync(join(home, "journal"));
  return join(home, "journal", name);
}

/** The journal without its last lines, cut where a line ends. */
function cutLines(home: string, count: number): void {
  const path = segmentOf(home);
  const lines = fs.readFileSync(path, "utf8").split("\n").slice(0, -1);
  fs.writeFileSync(
    path,
    lines
      .slice(0, -count)
      .map((line) => `${line}\n`)
      .join(""),
  );
}

async function refusal(home: string): Promise<EngineError> {
  const before = fs.readdirSync(home, { recursive: true }).sort();
  const error: unknown = await openWithLogs(home).then(
    async ({ engine }) => {
      await engine[Symbol.asyncDispose]();
      return undefined;
    },
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof EngineError, "it is refused");
  assert.equal(error.kind, "corrupt");
  assert.match(error.message, /Nothing was changed\..*maxclaw repair/);
  assert.deepEqual(fs.readdirSync(home, { recursive: true }).sort(), before);
  return error;
}

const losses: readonly { readonly name: string; readonly lose: (lived: Lived) => void; readonly says: RegExp }[] = [
  {
    name: "cut where a line ends",
    lose: ({ home }) => cutLines(home, 5),
    says: /older than it was: it ends with transaction \d+, and \d+ were safe.*1 accepted message is not in it \(telegram:42: “text of msg_waiting”\)/,
  },
  {
    name: "gone",
    lose: ({ home }) => fs.rmSync(join(home, "journal"), { recursive: true }),
    says: /is gone: journal\.mark says that \d+ transactions.*may be lost/,
  },
  {
    name: "an empty folder",
    lose: ({ home }) => fs.rmSync(segmentOf(home)),
    says: /is gone: journal\.mark says that \d+ transactions/,
  },
  {
    name: "an older copy",
    lose: ({ home, older }) => {
      fs.rmSync(join(home, "journal"), { recursive: true });
      fs.cpSync(older, join(home, "journal"), { recursive: true });
    },
    says: /older than it was.*1 message would be answered a second time/,
  },
  {
    name: "gone together with its marks",
    lose: ({ home }) => {
      fs.rmSync(join(home, "journal"), { recursive: true });
      fs.rmSync(join(home, markName));
      fs.rmSync(logsMarkOf(home));
    },
    says: /is gone, and there are conversations/,
  },
  {
    name: "an older copy together with its mark",
    lose: ({ home, older, olderMark }) => {
      fs.rmSync(join(home, "journal"), { recursive: true });
      fs.cpSync(older, join(home, "journal"), { recursive: true });
      fs.copyFileSync(olderMark, join(home, markName));
    },
    says: /older than it was: .*logs\.mark\)\. Either the home was restored from an older copy, or.*1 message would be answered a second/,
  },
  {
    name: "an older copy together with its mark, without the other mark",
    lose: ({ home, older, olderMark }) => {
      fs.rmSync(join(home, "journal"), { recursive: true });
      fs.cpSync(older, join(home, "journal"), { recursive: true });
      fs.copyFileSync(olderMark, join(home, markName));
      fs.rmSync(logsMarkOf(home));
    },
    says: /older than the conversations: the log of telegram:42 goes up to event/,
  },
  {
    name: "cut where a line ends, without its mark",
    lose: ({ home }) => {
      cutLines(home, 5);
      fs.rmSync(join(home, markName));
    },
    says: /older than it was: it ends with transaction \d+, and \d+ were safe on the disk \(.*logs\.mark\)\. What/,
  },
  {
    name: "gone together with its mark, with the other mark",
    lose: ({ home }) => {
      fs.rmSync(join(home, "journal"), { recursive: true });
      fs.rmSync(join(home, markName));
    },
    says: /is gone: .*logs\.mark says that \d+ transactions/,
  },
  {
    name: "an older copy without a mark",
    lose: ({ home, older }) => {
      fs.rmSync(join(home, markName));
      fs.rmSync(logsMarkOf(home));
      fs.rmSync(join(home, "journal"), { recursive: true });
      fs.cpSync(older, join(home, "journal"), { recursive: true });
    },
    says: /older than the conversations: the log of telegram:42 goes up to event \d+, the journal to \d+/,
  },
];

for (const { name, lose, says } of losses) {
  test(`a journal that is ${name} is refused by name; after a repair nothing is done twice, and what waits is worked on`, async (t) => {
    const made = await lived(t);
    const { home } = made;
    lose(made);
    assert.match((await refusal(home)).message, says);
    assert.match((await refusal(home)).message, says, "a second start is refused as well");
    const options = {
      home,
      logs: logsOf(home),
      logPathOf: (key: string) => logPath(home, key),
      logsMark: logsMarkOf(home),
      log: silentLog,
      now: Date.now(),
    };
    const planned = await takeOverFromLogs({ ...options, dryRun: true });
    await refusal(home);
    const taken = await takeOverFromLogs(options);
    assert.ok(taken !== undefined);
    assert.deepEqual(taken.restored, ["telegram:42: “text of msg_waiting”"]);
    assert.deepEqual({ ...planned, setAside: [] }, { ...taken, setAside: [] });
    for (const path of taken.setAside) assert.ok(fs.existsSync(path));
    assert.equal(await takeOverFromLogs(options), undefined, "there is nothing more to do");

    const { engine } = await openWithLogs(home);
    const again = inbound(made.answeredId);
    assert.deepEqual(await engine.accept(again, { events: [titled("twice")] }), { status: "duplicate" });
    const handled: string[] = [];
    const sent: string[] = [];
    const handling = consuming(engine, "inbound", async (delivery) => {
      handled.push(delivery.work.body.content);
      // Nobody knows what of it its sender wrote.
      assert.ok(delivery.work.body.outside !== undefined);
      await delivery.commit({ events: [answered([delivery.work.id])], emit: [outbound(`${delivery.work.id}#1`)] });
    });
    const sending = consuming(engine, "outbound", async (delivery) => {
      sent.push(delivery.work.id);
      await delivery.commit({ events: [delivered(delivery.work.id)], emit: [] });
    });
    await until("all is done", () => sent.length > 0);
    await handling.stop();
    await sending.stop();
    assert.deepEqual([handled, sent], [["text of msg_waiting"], ["msg_waiting#1"]]);
    await engine[Symbol.asyncDispose]();
    const { engine: last } = await openWithLogs(home);
    await last[Symbol.asyncDispose]();
  });
}

test("after a repair no transaction has the number of a lost one, and a crash before its marks costs nothing", async (t) => {
  const { home } = await lived(t);
  const marks = [join(home, markName), logsMarkOf(home)];
  const before = marks.map((path) => fs.readFileSync(path));
  const lost = txOf(marks[0] ?? "");
  cutLines(home, 2);
  const bytes = fs.readFileSync(segmentOf(home));
  const place = bytes.indexOf("msg_answered");
  bytes[place] = (bytes[place] ?? 0) ^ 1;
  fs.writeFileSync(segmentOf(home), bytes);
  assert.match((await refusal(home)).message, /is damaged at byte/);
  const repair = await repairJournal(home, {
    logsMark: logsMarkOf(home),
    async complete(records, loss) {
      assert.match(loss, new RegExp(`damaged: what can be read ends with transaction \\d+, and ${lost} were safe`));
      await completeFromLogs(records, loss, { logs: logsOf(home)(), now: Date.now() });
    },
  });
  assert.equal(repair.setAside.length, 1);
  assert.deepEqual(marks.map(txOf), [lost, lost]);

  // What a crash leaves between the new segment and its marks.
  for (const [index, path] of marks.entries()) fs.writeFileSync(path, before[index] ?? "");
  const { engine } = await openWithLogs(home);
  await engine.append("telegram:42", [titled("after")], { durable: true });
  await engine[Symbol.asyncDispose]();
  assert.ok(txOf(marks[0] ?? "") > lost);
});

/** A home as a kill leaves it while the second message is worked on. The first one was answered, unless it is `isOpen`. */
async function inSecondTurn(t: TestContext, isOpen: boolean): Promise<string> {
  const home = tempFolder(t);
  const { engine } = await openWithLogs(home);
  const accept = async (id: string): Promise<number> => {
    const work = inbound(id);
    await engine.accept(work, { events: [queuedEvent({ ...work.body, receivedAt: Date.now() }, 0)] });
    return Date.now();
  };
  const began = (id: string): EventDraft =>
    draft("turn_execution_start", { message_ids: [id], queued_ms: 0, attempt: 1 }, { source: "agent" });
  const first = await accept("msg_1");
  await until("the clock has moved", () => Date.now() > first + 1);
  await accept("msg_2");
  const [isBegun, killed] = [gate(), gate()];
  const handling = consuming(engine, "inbound", async (delivery) => {
    const { id } = delivery.work;
    await engine.append("telegram:42", [began(id)], { durable: true });
    if (id === "msg_1" && !isOpen) {
      await delivery.commit({ events: [answered([id])], emit: [] });
      return;
    }
    isBegun.open();
    await killed.opened;
  });
  await isBegun.opened;
  const copy = tempFolder(t);
  fs.cpSync(home, copy, { recursive: true });
  killed.open();
  await handling.stop();
  await engine[Symbol.asyncDispose]();
  return copy;
}

/** Zeroes the lines of the journal that hold all of these words. */
function zero(home: string, ...words: readonly string[]): void {
  const path = segmentOf(home);
  const lines = fs.readFileSync(path, "latin1").split("\n");
  const isMeant = (line: string): boolean => words.every((word) => line.includes(word));
  assert.ok(lines.some(isMeant));
  fs.writeFileSync(path, lines.map((line) => (isMeant(line) ? "\0".repeat(line.length) : line)).join("\n"), "latin1");
}

for (const [what, damaged, isOpen, expected] of [
  ["the end of a message", [["turn_execution_complete"]], false, ["msg_2"]],
  [
    "the end of a message, and the next one",
    [["turn_execution_complete"], ["user_message_queued", "msg_2"]],
    false,
    [],
  ],
  ["another message", [["user_message_queued", "msg_2"]], true, ["msg_1"]],
] as const)
  test(`where ${what} was damaged, a message that another one of its chat came after is not answered again`, async (t) => {
    const home = await inSecondTurn(t, isOpen);
    for (const words of damaged) zero(home, ...words);
    const repair = await repairJournal(home, {
      logsMark: logsMarkOf(home),
      async complete(records, loss, ended) {
        await completeFromLogs(records, loss, { logs: logsOf(home)(), now: Date.now(), ended });
      },
    });
    assert.equal(repair.setAside.length, 1);
    const { engine } = await openWithLogs(home);
    const handled: string[] = [];
    const handling = consuming(engine, "inbound", async (delivery) => {
      handled.push(delivery.work.id);
      await delivery.commit({ events: [answered([delivery.work.id])], emit: [] });
    });
    await until("nothing waits", () => engine.status().inboundWaiting === 0);
    await handling.stop();
    await engine[Symbol.asyncDispose]();
    assert.deepEqual(handled, expected);
  });

test("after an orderly stop a journal that is gone, or the one before, is refused too", async (t) => {
  const home = tempFolder(t);
  const first = await openWithLogs(home);
  await first.engine.accept(inbound("msg_1"), { events: [queuedEvent(inbound("msg_1").body, 0)] });
  await first.engine[Symbol.asyncDispose]();
  const older = join(tempFolder(t), "journal");
  fs.cpSync(join(home, "journal"), older, { recursive: true });
  const second = await openWithLogs(home);
  await second.engine.accept(inbound("msg_2"), { events: [queuedEvent(inbound("msg_2").body, 0)] });
  await second.engine[Symbol.asyncDispose]();
  fs.rmSync(join(home, "journal"), { recursive: true });
  assert.match((await refusal(home)).message, /is gone/);
  fs.cpSync(older, join(home, "journal"), { recursive: true });
  assert.match((await refusal(home)).message, /older than it was/);
});

for (const gone of ["the mark in the home", "the mark beside the logs"])
  test(`what was in the journal alone is missed after a cut where a line ends, without ${gone}`, async (t) => {
    const home = tempFolder(t);
    const { engine } = await openWithLogs(home);
    await engine.accept(inbound("msg_1"), { events: [queuedEvent(inbound("msg_1").body, 0)] });
    await (await engine.records.open("job")).put("job_1", { prompt: "look at the mails" });
    const killed = tempFolder(t);
    fs.cpSync(home, killed, { recursive: true });
    await engine[Symbol.asyncDispose]();
    fs.rmSync(gone === "the mark in the home" ? join(killed, markName) : logsMarkOf(killed));
    const lines = fs.readFileSync(segmentOf(killed), "utf8").split("\n");
    const cut = lines.findIndex((line) => line.includes("look at the mails"));
    fs.writeFileSync(segmentOf(killed), `${lines.slice(0, cut).join("\n")}\n`);
    assert.match((await refusal(killed)).message, /older than it was: it ends with transaction/);
  });

test("a power cut may leave either mark behind, and a disk may refuse one: the journal is whole, and both are written again", async (t) => {
  const { home, olderMark } = await lived(t);
  const spoils: Readonly<Record<string, (copy: string) => void>> = {
    "the mark in the home lags": (copy) => fs.copyFileSync(olderMark, join(copy, markName)),
    "the mark beside the logs lags": (copy) => fs.copyFileSync(olderMark, logsMarkOf(copy)),
    "the mark beside the logs is damaged": (copy) => fs.writeFileSync(logsMarkOf(copy), Buffer.alloc(42)),
    "the mark beside the logs is of another kind": (copy) =>
      fs.writeFileSync(logsMarkOf(copy), encodeLine('{"tx":1e300}')),
    "the conversations and their mark are gone": (copy) => fs.rmSync(join(copy, "sessions"), { recursive: true }),
  };
  for (const [name, spoil] of Object.entries(spoils)) {
    const copy = tempFolder(t);
    fs.cpSync(home, copy, { recursive: true });
    spoil(copy);
    const { engine } = await openWithLogs(copy);
    await engine[Symbol.asyncDispose]();
    const marks = [join(copy, markName), logsMarkOf(copy)].map((path) => fs.readFileSync(path, "utf8"));
    assert.equal(marks[0], marks[1], name);
    assert.match(marks[0] ?? "", /^[0-9a-f]{8} \{"tx":\d+\} +\n$/, name);
  }
  const before = txOf(join(home, markName));
  fs.rmSync(logsMarkOf(home));
  fs.mkdirSync(logsMarkOf(home));
  const { engine, log } = await openWithLogs(home);
  await engine.accept(inbound("msg_more"), { events: [queuedEvent(inbound("msg_more").body, 0)] });
  await engine[Symbol.asyncDispose]();
  assert.equal(log.lines.filter(({ message }) => /mark cannot be written/.test(message)).length, 1, "it is told once");
  assert.ok(txOf(join(home, markName)) > before, "the other mark is kept all the same");
});

test("a torn last line, a home of an earlier version, a damaged mark and a fresh home start by themselves", async (t) => {
  const { home } = await lived(t);
  const copy = (): string => {
    const folder = tempFolder(t);
    fs.cpSync(home, folder, { recursive: true });
    return folder;
  };
  const torn = copy();
  fs.appendFileSync(segmentOf(torn), '0123abcd {"tx":99,"half a li');
  const before = copy();
  fs.rmSync(join(before, markName));
  const damaged = copy();
  fs.writeFileSync(join(damaged, markName), "rubbish");
  for (const each of [torn, before, damaged, tempFolder(t)]) {
    const { engine } = await openWithLogs(each);
    await engine.accept(inbound("msg_more"), { events: [queuedEvent(inbound("msg_more").body, 0)] });
    await engine[Symbol.asyncDispose]();
    assert.ok(fs.readFileSync(join(each, markName), "utf8").includes('{"tx":'));
  }
});
