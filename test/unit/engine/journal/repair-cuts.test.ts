import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { queuedEvent } from "../../../../src/bus/message-bus.js";
import { repairLines } from "../../../../src/cli/text/records/repair.js";
import { verifyStoredEvents } from "../../../../src/engine/embedded/inspect/verify.js";
import { draft, type EventDraft } from "../../../../src/events/event.js";
import { repairFiles } from "../../../../src/offline/repair.js";
import { createSessionFiles, logsIn } from "../../../../src/sessions/file-names.js";
import { answered, consuming, inbound, openIn, outbound, until } from "../../../support/engine/engine-kit.js";
import { memoryFolder } from "../../../support/engine/torture.js";
import { tortureFactor } from "../../../support/engine/torture-options.js";

const maybeGone = /Also gone may be pairings, approvals \("always" too\), scheduled jobs, and accepted messages/;
const sessionsOf = (home: string): string => join(home, "workspace", ".sessions");
const open = (home: string) => {
  const files = createSessionFiles(sessionsOf(home));
  const logs = (): readonly string[] => (fs.existsSync(sessionsOf(home)) ? logsIn(sessionsOf(home)) : []);
  return openIn(home, { quietMs: 60_000, logs: { pathOf: files.logPath, all: logs } });
};

function delivered(id: string): EventDraft {
  const about = { outbound_id: id, channel: "telegram", chat_id: "42", attempt: 1 };
  const payload = { ...about, status: "sent" as const, platform_message_id: "9" };
  return draft("outbound_delivery_changed", payload, { source: "gateway" });
}

/** Works on everything that waits, as a gateway does; returns what was answered and what was sent. */
async function workOff({ engine }: Awaited<ReturnType<typeof open>>) {
  const handled: string[] = [];
  const sent: string[] = [];
  const handling = consuming(engine, "inbound", async (delivery) => {
    const { id } = delivery.work;
    handled.push(id);
    await delivery.commit({ events: [answered([id])], emit: [outbound(`${id}#1`)] });
  });
  const sending = consuming(engine, "outbound", async (delivery) => {
    sent.push(delivery.work.id);
    await delivery.commit({ events: [delivered(delivery.work.id)], emit: [] });
  });
  await until("all is done", () => engine.status().outboundWaiting + engine.status().inboundWaiting === 0);
  await handling.stop();
  await sending.stop();
  return { handled, sent };
}

/** A home as a kill leaves it: two messages that were answered, one that waits, all of them in the log of their session. */
async function killedHome(t: TestContext): Promise<string> {
  const home = memoryFolder(t);
  const opened = await open(home);
  const { engine } = opened;
  const accept = async (id: string) => {
    const work = inbound(id);
    await engine.accept(work, { events: [queuedEvent(work.body, 0)] });
  };
  for (const id of ["msg_1", "msg_2"]) {
    await accept(id);
    await workOff(opened);
  }
  await accept("msg_waiting");
  await engine.flush();
  const killed = memoryFolder(t);
  fs.cpSync(home, killed, { recursive: true });
  await engine[Symbol.asyncDispose]();
  return killed;
}

interface Outcome {
  readonly text: string;
  readonly handled: readonly string[];
  readonly sent: readonly string[];
  readonly problems: readonly string[];
}

/** Puts these bytes in place of the journal, repairs, starts, and works on what waits. */
async function repairAndStart(t: TestContext, killed: string, name: string, bytes: Buffer): Promise<Outcome> {
  const home = join(memoryFolder(t), "home");
  fs.cpSync(killed, home, { recursive: true });
  fs.writeFileSync(join(home, "journal", name), bytes);
  const workspace = join(home, "workspace");
  const text = repairLines(await repairFiles({ home, workspace })).join("\n");
  const opened = await open(home);
  const { handled, sent } = await workOff(opened);
  const again = await opened.engine.accept(inbound("msg_1"), { events: [] });
  assert.equal(again.status, "duplicate", "a platform that repeats it is told that it is known");
  await opened.engine[Symbol.asyncDispose]();
  const stored = { home, logs: logsIn(sessionsOf(home)) };
  const logPathOf = createSessionFiles(sessionsOf(home)).logPath;
  const report = await verifyStoredEvents(stored, { logPathOf, signal: new AbortController().signal });
  fs.rmSync(home, { recursive: true });
  return { text, handled, sent, problems: report.problems.map(({ message }) => message) };
}

const asItShouldBe = { handled: ["msg_waiting"], sent: ["msg_waiting#1"], problems: [] };

test("a journal cut at any byte, inside a line or between two, is completed from the conversations", async (t) => {
  const killed = await killedHome(t);
  const [name = ""] = fs.readdirSync(join(killed, "journal"));
  const bytes = fs.readFileSync(join(killed, "journal", name));
  const step = tortureFactor > 1 ? 1 : 97;
  const borders = [...bytes.keys()].filter((at) => bytes[at] === 10).flatMap((at) => [at, at + 1, at + 2]);
  const cuts = new Set([
    ...Array.from({ length: Math.ceil(bytes.length / step) }, (_, index) => index * step),
    ...borders,
  ]);
  for (const cut of cuts) {
    const { text, ...outcome } = await repairAndStart(t, killed, name, bytes.subarray(0, cut));
    assert.deepEqual(outcome, asItShouldBe, `cut at ${cut} of ${bytes.length}\n${text}`);
    if (text.startsWith("Nothing is damaged")) continue;
    assert.match(text, /Recovered from the conversations:/, `cut at ${cut}`);
    assert.match(text, maybeGone, `cut at ${cut}`);
  }
  const { text } = await repairAndStart(t, killed, name, Buffer.alloc(0));
  assert.match(
    text,
    /ends with transaction 0, and \d+ were safe.*\n.*\n.*\n *1 accepted message to be answered again.*\n.*msg_waiting/,
  );
});

test("a journal with any one of its lines damaged answers and sends nothing a second time", async (t) => {
  const killed = await killedHome(t);
  const [name = ""] = fs.readdirSync(join(killed, "journal"));
  const bytes = fs.readFileSync(join(killed, "journal", name));
  const starts = [0, ...[...bytes.keys()].filter((at) => bytes[at] === 10).map((at) => at + 1)].slice(0, -1);
  for (const start of starts) {
    const damaged = Buffer.from(bytes);
    damaged[start + 12] = (damaged[start + 12] ?? 0) ^ 1;
    const { text, ...outcome } = await repairAndStart(t, killed, name, damaged);
    assert.deepEqual(outcome, asItShouldBe, `the line at ${start} of ${bytes.length}\n${text}`);
  }
});

test("what may be gone is said also when no conversation tells about anything", async (t) => {
  const home = memoryFolder(t);
  const { engine } = await open(home);
  await engine.accept(inbound("msg_1"), { events: [] });
  const killed = memoryFolder(t);
  fs.cpSync(home, killed, { recursive: true });
  await engine[Symbol.asyncDispose]();
  const [name = ""] = fs.readdirSync(join(killed, "journal"));
  fs.truncateSync(join(killed, "journal", name), 0);
  const text = repairLines(await repairFiles({ home: killed, workspace: join(killed, "workspace") })).join("\n");
  assert.match(text, / 0 accepted messages to be answered again/);
  assert.match(text, /kept as .*\.damaged-.*\n.*words of all conversations.*Delete it/);
  assert.match(text, maybeGone);
});

test("an end that only the journal tells about, behind a log that is not up to date, counts", async (t) => {
  const home = memoryFolder(t);
  const opened = await open(home);
  const { engine } = opened;
  const accept = async (id: string) => engine.accept(inbound(id), { events: [queuedEvent(inbound(id).body, 0)] });
  await accept("msg_1");
  await engine.flush();
  await workOff(opened);
  await accept("msg_2");
  const killed = memoryFolder(t);
  fs.cpSync(home, killed, { recursive: true });
  await engine[Symbol.asyncDispose]();
  const [name = ""] = fs.readdirSync(join(killed, "journal"));
  const bytes = fs.readFileSync(join(killed, "journal", name));
  const cut = bytes.lastIndexOf(10, bytes.indexOf("text of msg_2"));
  for (const end of [cut + 1, cut + 40]) {
    const { text, ...outcome } = await repairAndStart(t, killed, name, bytes.subarray(0, end));
    assert.deepEqual(outcome, { handled: [], sent: [], problems: [] }, text);
    assert.match(text, maybeGone);
  }
});
