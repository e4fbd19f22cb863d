import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { EventProblem } from "../../../../src/engine/embedded/inspect/check-session.js";
import { type EventReport, verifyStoredEvents } from "../../../../src/engine/embedded/inspect/verify.js";
import { decodeLine, encodeLine } from "../../../../src/engine/embedded/journal/line.js";
import { createSessionFiles } from "../../../../src/sessions/file-names.js";
import { inbound, openIn, queued, tempFolder, titled } from "../../../support/engine/engine-kit.js";
import { madeKey, makeHistory } from "../../../support/engine/histories/made-history.js";

const key = madeKey(0);
const never = new AbortController().signal;

/** A home with two sessions of four turns each, five events a turn. */
function openMade(t: TestContext) {
  const home = tempFolder(t);
  const dir = join(home, "sessions");
  makeHistory(dir, { sessions: 2, turnsPerSession: 4, answerBytes: 20 });
  const files = createSessionFiles(dir);
  const path = files.logPath(key);
  return {
    home,
    path,
    files,
    lines: () => fs.readFileSync(path, "utf8").split("\n").slice(0, -1),
    write: (lines: readonly string[]) => fs.writeFileSync(path, lines.map((line) => `${line}\n`).join("")),
    verify: (sessionKey?: string): Promise<EventReport> => {
      const logs = fs.readdirSync(dir).filter((name) => name.endsWith(".events.jsonl"));
      const stored = { home, logs: logs.map((name) => join(dir, name)) };
      return verifyStoredEvents(stored, {
        sessionKey,
        logPathOf: (of) => createSessionFiles(dir).logPath(of),
        signal: never,
      });
    },
  };
}

const shown = ({ problems }: EventReport): readonly (readonly unknown[])[] =>
  problems.map(({ kind, line, seq }: EventProblem) => [kind, line, seq]);

/** The line with something else in its event, and a checksum that fits. */
function changed(line: string | undefined, change: object): string {
  const event = decodeLine(Buffer.from(line ?? ""));
  assert.ok(typeof event === "object" && event !== null);
  return encodeLine(JSON.stringify({ ...event, ...change }))
    .toString()
    .trimEnd();
}

test("a sound history has no problems, and each session can be checked alone", async (t) => {
  const made = openMade(t);
  assert.deepEqual(await made.verify(), { sessions: 2, events: 40, problems: [], problemCount: 0 });
  assert.deepEqual(await made.verify(key), { sessions: 1, events: 20, problems: [], problemCount: 0 });
  assert.deepEqual(await made.verify("telegram:nobody"), { sessions: 0, events: 0, problems: [], problemCount: 0 });
});

test("each thing that is wrong is found, named with its place, and found in this session only", async (t) => {
  const wrong: readonly (readonly [
    name: string,
    spoil: (lines: readonly string[]) => readonly string[],
    expected: readonly (readonly unknown[])[],
  ])[] = [
    [
      "a changed byte",
      (lines) => lines.with(6, (lines[6] ?? "").replace("turn_", "Turn_")),
      [
        ["damaged", 7, undefined],
        ["cause", 8, 8],
      ],
    ],
    [
      "a missing line",
      (lines) => lines.toSpliced(6, 1),
      [
        ["gap", 7, 8],
        ["cause", 7, 8],
      ],
    ],
    ["missing lines", (lines) => lines.toSpliced(5, 5), [["gap", 6, 11]]],
    ["a missing beginning", (lines) => lines.slice(5), [["gap", 1, 6]]],
    ["a line twice", (lines) => lines.toSpliced(6, 0, lines[5] ?? ""), [["repeat", 7, 6]]],
    [
      "lines out of order",
      (lines) => lines.with(6, lines[7] ?? "").with(7, lines[6] ?? ""),
      [
        ["gap", 7, 8],
        ["order", 8, 7],
        ["cause", 7, 8],
      ],
    ],
    ["a number twice", (lines) => lines.with(19, changed(lines[19], { seq: 19 })), [["order", 20, 19]]],
    [
      "an id twice",
      (lines) => lines.with(5, changed(lines[5], { event_id: idOf(lines[0]) })),
      [
        ["repeat", 6, 6],
        ["cause", 7, 7],
      ],
    ],
    [
      "a time that goes back",
      (lines) => lines.with(6, changed(lines[6], { timestamp: "2001-01-01T00:00:00.000Z" })),
      [["time", 7, 7]],
    ],
    [
      "a cause that is nowhere",
      (lines) => lines.with(9, changed(lines[9], { causation_id: "evt_0" })),
      [["cause", 10, 10]],
    ],
    [
      "a reply without a message",
      (lines) => lines.with(6, changed(lines[6], { causation_id: undefined })),
      [
        ["reply", 9, 9],
        ["reply", 10, 10],
      ],
    ],
    [
      "a reply to another message",
      (lines) => lines.with(9, changed(lines[9], { correlation_id: "msg_x" })),
      [["reply", 10, 10]],
    ],
    [
      "an event of another session",
      (lines) => lines.with(19, changed(lines[19], { session_key: "telegram:1" })),
      [["foreign", 20, 20]],
    ],
    ["a torn end", (lines) => lines.with(19, (lines[19] ?? "").slice(0, 40)), [["damaged", 20, undefined]]],
  ];
  for (const [name, spoil, expected] of wrong) {
    const made = openMade(t);
    made.write(spoil(made.lines()));
    const report = await made.verify();
    assert.deepEqual(shown(report), expected, name);
    assert.equal(report.problemCount, expected.length);
    for (const problem of report.problems) {
      assert.equal(problem.file, made.path);
      assert.match(problem.message, /\w/);
    }
    assert.deepEqual(shown(await made.verify(key)), expected, name);
    assert.equal((await made.verify(madeKey(1))).problemCount, 0);
  }
});

function idOf(line: string | undefined): string {
  return /"event_id":"([^"]+)"/.exec(line ?? "")?.[1] ?? "";
}

test("a cause in another session counts, one that comes later does not", async (t) => {
  const made = openMade(t);
  const other = fs.readFileSync(made.files.logPath(madeKey(1)), "utf8").split("\n");
  const lines = made.lines();
  made.write(lines.with(5, changed(lines[5], { causation_id: idOf(other[3]) })));
  assert.deepEqual(shown(await made.verify()), []);
  made.write(lines.with(5, changed(lines[5], { causation_id: idOf(lines[12]) })));
  assert.deepEqual(shown(await made.verify()), [["cause", 6, 6]]);
});

test("a log under the name of another session is told, and one that holds nothing readable", async (t) => {
  const made = openMade(t);
  fs.copyFileSync(made.path, join(made.files.dir, "copy.events.jsonl"));
  fs.writeFileSync(join(made.files.dir, "junk.events.jsonl"), "no\nline\nof ours");
  const { problems } = await made.verify();
  assert.deepEqual(
    problems.map(({ kind, file }) => [kind, file?.slice(made.files.dir.length)]),
    [
      ["foreign", "/copy.events.jsonl"],
      ["damaged", "/junk.events.jsonl"],
    ],
  );
});

test("what only the journal holds is checked too, and makes up for a torn end of a log", async (t) => {
  const home = tempFolder(t);
  const dir = join(home, "sessions");
  const files = createSessionFiles(dir);
  const { engine } = await openIn(home, { quietMs: 60_000, logs: { pathOf: (of) => files.logPath(of) } });
  await engine.append(key, [titled("1"), titled("2"), titled("3")], { durable: true });
  await engine.flush();
  await engine.accept(inbound("msg_1", key), { events: [queued("msg_1")] });
  await engine.append("telegram:new", [titled("1")], { durable: true });
  const copy = tempFolder(t);
  fs.cpSync(home, copy, { recursive: true });
  await engine[Symbol.asyncDispose]();

  const copied = createSessionFiles(join(copy, "sessions"));
  const verify = () =>
    verifyStoredEvents(
      { home: copy, logs: [copied.logPath(key)] },
      { logPathOf: (of) => copied.logPath(of), signal: never },
    );
  assert.deepEqual(await verify(), { sessions: 2, events: 5, problems: [], problemCount: 0 });
  const bytes = fs.readFileSync(copied.logPath(key));
  fs.writeFileSync(copied.logPath(key), bytes.subarray(0, bytes.length - 30));
  assert.deepEqual(shown(await verify()), []);
  // Of the first event the journal knows nothing once a new segment has begun; here it still does.
  const segment = join(copy, "journal", "00000001.log");
  const journal = fs.readFileSync(segment);
  journal[journal.indexOf('"title":"2"')] = 0x20;
  fs.writeFileSync(segment, journal);
  const report = await verify();
  assert.deepEqual(report.problems[0]?.kind, "journal");
  assert.match(report.problems[0]?.message ?? "", /damaged at byte \d+.*maxclaw repair/);
});

test("a deleted session counts no more, and its next life begins with the next number", async (t) => {
  const home = tempFolder(t);
  const files = createSessionFiles(join(home, "sessions"));
  const { engine } = await openIn(home, { logs: { pathOf: (of) => files.logPath(of) } });
  await engine.append(key, [titled("1"), titled("2")], { durable: true });
  await engine.deleteSession(key);
  await engine.append(key, [titled("3")], { durable: true });
  await engine[Symbol.asyncDispose]();
  const options = { logPathOf: (of: string) => files.logPath(of), signal: never };
  const report = await verifyStoredEvents({ home, logs: [files.logPath(key)] }, options);
  assert.deepEqual(report, { sessions: 1, events: 1, problems: [], problemCount: 0 });
});
