import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, get } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { sendSlowJson } from "../../../src/http/exchange.js";
import { tempFolder } from "../../support/engine/engine-kit.js";
import { madeKey, makeHistory } from "../../support/engine/histories/made-history.js";
import { programFile } from "../../support/project.js";

/** Takes a piece, waits, takes the next one. */
const slowReader = `process.stdin.on("data", (piece) => {
  process.stdin.pause();
  process.stdout.write(piece);
  setTimeout(() => process.stdin.resume(), 3);
});`;

const megabyte = 1_000_000;

/** Runs the program below a shell, where `$@` is its command line and `$READER` a slow reader's code. */
async function shell(home: string, script: string, args: readonly string[]) {
  const child = spawn("sh", ["-c", script, "sh", process.execPath, programFile(), ...args], {
    env: { PATH: process.env.PATH ?? "", HOME: home, MAXCLAW_HOME: home, NODE: process.execPath, READER: slowReader },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { stdout, stderr, code: Number(code) };
}

/** A home that has a history, and the journal that a repair makes from it. */
async function homeWith(t: TestContext, history: Parameters<typeof makeHistory>[1]): Promise<string> {
  const home = tempFolder(t);
  makeHistory(join(home, "workspace", ".sessions"), history);
  await shell(home, `"$@"`, ["repair"]);
  return home;
}

const long = { sessions: 1, turnsPerSession: 9000, answerBytes: 200 };

const commands = [
  ["ledger", "check", "--json"],
  ["sessions", "show", madeKey(0)],
  ["sessions", "show", madeKey(0), "--json"],
];

test("a slow reader of a pipe gets all of an output, however long it is", async (t) => {
  const home = await homeWith(t, long);
  for (const args of commands) {
    const file = join(home, "whole.txt");
    const whole = await shell(home, `"$@" > ${file}`, args);
    assert.equal(whole.code, 0, whole.stderr);
    const wanted = readFileSync(file, "utf8");
    assert.ok(wanted.length > megabyte, `${args.join(" ")} says only ${wanted.length} bytes`);
    const piped = await shell(home, `"$@" | "$NODE" -e "$READER"`, args);
    assert.equal(piped.stdout.length, wanted.length, args.join(" "));
    assert.equal(piped.stdout, wanted);
  }
});

test("a reader that has seen enough ends a command without a word", async (t) => {
  const home = await homeWith(t, long);
  for (const args of commands) {
    const { stdout, stderr } = await shell(home, `"$@" | head -n 1`, args);
    assert.equal(stdout.split("\n").length, 2, args.join(" "));
    assert.equal(stderr, "");
  }
});

test("a check that fails to look does not end with the code of what it looks for", async (t) => {
  const home = tempFolder(t);
  makeHistory(join(home, "workspace", ".sessions"), { sessions: 1, turnsPerSession: 1, answerBytes: 10 });
  // A folder where a file should be: it cannot be read.
  const script = `rm "${home}"/workspace/.sessions/*.events.jsonl; mkdir "${home}/workspace/.sessions/x.events.jsonl"; "$@"`;
  for (const args of [
    ["ledger", "check"],
    ["events", "verify"],
  ]) {
    const { code, stdout, stderr } = await shell(home, args[0] === "ledger" ? script : `"$@"`, args);
    assert.equal(code, 3, `${args.join(" ")}: ${stderr}`);
    assert.match(stdout + stderr, /^maxclaw: This could not be checked: |x\.events\.jsonl.*this log cannot be read: /);
  }
});

test("a check says how far it is where it is asked to", async (t) => {
  const home = await homeWith(t, { sessions: 3, turnsPerSession: 2, answerBytes: 10 });
  const told = await shell(home, `"$@"`, ["events", "verify", "--progress"]);
  assert.equal(told.code, 0);
  assert.match(told.stderr, /100 %: 4 of 4 logs, 30 events\n$/);
  assert.equal((await shell(home, `"$@"`, ["events", "verify"])).stderr, "");
});

test("an answer that takes long shows that it is under way, and is plain JSON all the same", async (t) => {
  let finish = (): void => {};
  const work = new Promise<object>((resolve) => {
    finish = () => resolve({ entries: [1, 2] });
  });
  const server = createServer((_, response) => void sendSlowJson(response, work, 5));
  t.after(() => server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const response = await new Promise<import("node:http").IncomingMessage>((resolve) => {
    get({ port, host: "127.0.0.1" }, resolve);
  });
  // The head and a blank are here while the work is not done.
  const [first] = await once(response, "data");
  assert.equal(String(first).trim(), "");
  finish();
  const rest = await text(response);
  assert.deepEqual(JSON.parse(`${first}${rest}`), { entries: [1, 2] });
});
