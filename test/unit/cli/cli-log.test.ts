import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { openLogFile } from "../../../src/log/log-file.js";
import { createMask } from "../../../src/log/mask.js";
import { createLog } from "../../../src/pino-log.js";
import { systemSentence } from "../../../src/util/files/system-fault.js";
import { compiledFile } from "../../support/project.js";

let folder = "";
let file = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "maxclaw-log-"));
  file = join(folder, "logs", "gateway.log");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function lines(): Promise<readonly Record<string, unknown>[]> {
  const text = await readFile(file, "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

describe("the log file", () => {
  it("holds one JSON object a line, with time, level and facts, for its owner only", async () => {
    const log = createLog({ level: "info", file, stderr: false });
    log.debug("left out");
    log.info("turn done", { session: "telegram:42", ms: 12 });
    log.warn("two\nlines");
    const [first, second] = await lines();
    assert.equal(first?.message, "turn done");
    assert.equal(first?.level, "info");
    assert.equal(first?.session, "telegram:42");
    assert.ok(!Number.isNaN(Date.parse(String(first?.time))));
    assert.equal(second?.message, "two\nlines");
    assert.equal((await stat(file)).mode & 0o777, 0o600);
  });

  it("holds the stack of an error and of its cause", async () => {
    const log = createLog({ level: "info", file, stderr: false });
    log.error("failed", { error: new Error("outer", { cause: new TypeError("inner") }) });
    log.error("failed", { error: "just a text" });
    const [first, second] = await lines();
    assert.match(JSON.stringify(first?.error), /outer.*cli-log\.test.*inner/s);
    assert.equal(second?.error, "just a text");
  });

  it("holds no secret, neither known ones nor what looks like one", async () => {
    const odd = 'quote"and\\slash';
    const log = createLog({ level: "info", file, stderr: false, secrets: ["hunter2-hunter2", odd] });
    const telegram = "123456789:AAEaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    log.info(`got hunter2-hunter2 and sk-proj-abcdefghijklmnop`, {
      url: `https://api.telegram.org/bot${telegram}/getMe`,
      header: "authorization: Bearer abc.def-ghi",
      odd,
      error: new Error(`refused for ${telegram} at http://x/?token=geheim123&a=1`),
    });
    const text = await readFile(file, "utf8");
    for (const secret of ["hunter2", "sk-proj", "AAEaaaa", "abc.def-ghi", "and\\\\slash", "geheim123"])
      assert.ok(!text.includes(secret), secret);
    assert.match(text, /bot\*\*\*\/getMe/);
    assert.equal((await lines()).length, 1);
  });

  it("is renamed when it is full, and the two before it are kept", async () => {
    const log = openLogFile(file, 100);
    for (let i = 0; i < 8; i++) log.write(`${String(i).repeat(60)}\n`);
    const contents = await Promise.all([file, `${file}.1`, `${file}.2`].map((path) => readFile(path, "utf8")));
    assert.deepEqual(
      contents.map((text) => text.replaceAll(/(\d)\1+\n/g, "$1")),
      ["67", "45", "23"],
    );
    await assert.rejects(stat(`${file}.3`));
  });

  it("goes on in the file that is there, and never throws", async () => {
    openLogFile(file).write("one\n");
    const again = openLogFile(file);
    again.write("two\n");
    again.flush();
    assert.equal(await readFile(file, "utf8"), "one\ntwo\n");
    await writeFile(join(folder, "plain"), "");
    openLogFile(join(folder, "plain", "gateway.log")).write("lost\n");
  });

  it("tells once why lines are lost, and goes on when it can", async () => {
    await mkdir(file, { recursive: true });
    const reasons: unknown[] = [];
    const log = openLogFile(file, undefined, (error) => reasons.push(error));
    log.write("lost\n");
    log.write("lost too\n");
    assert.deepEqual(reasons.map(systemSentence), [
      `${file} cannot be used: it is a folder, not a file. Move it away.`,
    ]);
    await rm(file, { recursive: true });
    log.write("kept\n");
    assert.equal(await readFile(file, "utf8"), "kept\n");
    assert.equal(reasons.length, 1);
  });
});

describe("the lines for people", () => {
  it("are short, without stack or control characters, and go to stderr", () => {
    const script = `
      const { createLog } = await import(${JSON.stringify(pathToFileURL(compiledFile("src/pino-log.js")).href)});
      const log = createLog({ level: "info", stderr: true });
      log.debug("left out");
      log.warn("lost the \\u001b[31mconnection\\n", { attempt: 2, error: new Error("no route"), name: "my bot" });
      log.info("Bearer abcdefghijk");
      log.error("it stops: no route", { error: new Error("no route") });`;
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
    assert.equal(stdout, "");
    const [first, second, third, ...rest] = stderr.split("\n");
    assert.match(
      first ?? "",
      /^\d\d:\d\d:\d\d warn {2}lost the {1,2}\[31mconnection {1,2}attempt=2 error="no route" name="my bot"$/,
    );
    assert.match(second ?? "", /info {2}Bearer \*\*\*$/);
    assert.match(third ?? "", /error it stops: no route$/);
    assert.deepEqual(rest, [""]);
  });
});

describe("the mask", () => {
  it("leaves ordinary text as it is", () => {
    const text = "sk-ill at 12:30:45, task-list-of-the-morning-shift, telegram:123456789, evt_0123456789abcdef0123";
    assert.equal(createMask(["abc"])(text), text);
  });
});
