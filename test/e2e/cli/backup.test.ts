import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { copyFile, mkdir, readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { LedgerEntry } from "../../../src/engine/engine.js";
import type { StoredEvent } from "../../../src/events/event.js";
import { type FakeTelegram, startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { type Daemon, runMaxclaw, spawnMaxclaw, startDaemon } from "../../support/worlds/daemon.js";
import { openAIConfig, tempHome } from "../../support/worlds/gateway.js";

const token = "4242:test";
const chats = [1, 2, 3, 4];

function configFor(apiBase: string, telegram: FakeTelegram): string {
  const channels = { telegram: { enabled: true, token, apiRoot: telegram.url, allowFrom: ["*"] } };
  return JSON.stringify(openAIConfig(apiBase, { channels }));
}

async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 30_000; !(await condition()); ) {
    if (Date.now() > end) throw new Error(`Not within 30 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function ledgerOf({ url }: Daemon): Promise<readonly LedgerEntry[]> {
  const answer = (await (await fetch(`${url}/api/ledger`)).json()) as { entries: readonly LedgerEntry[] };
  return answer.entries;
}

test("a backup that is made while people write holds every message from before it, and says nothing again that was said", async () => {
  await using model = await startFakeOpenAI({
    answer: (request) => ({ text: `answer to ${/message-\d+-\d+/.exec(request.userText)?.[0]}`, chunkDelayMs: 10 }),
  });
  const telegram = await startFakeTelegram({ token });
  const home = await tempHome();
  await writeFile(join(home, "config.json"), configFor(model.apiBase, telegram));
  const daemon = await startDaemon({ home });
  let isWriting = true;
  let written = 0;
  const writing = (async () => {
    for (; isWriting; written += 1) {
      for (const chat of chats) telegram.pushText({ chatId: chat, userId: chat, text: `message-${chat}-${written}` });
      await until("most are answered", () => telegram.sent.length > (written - 3) * chats.length);
    }
  })();
  await until("some are answered", () => telegram.sent.length > 20);
  const saidBefore = telegram.sent.map(({ text }) => text);
  const before = await ledgerOf(daemon);
  const file = join(home, "..", `backup-${process.pid}-${Date.now()}.tar.gz`);
  const backup = await runMaxclaw(["backup", file], home);
  assert.deepEqual([backup.code, backup.stderr], [0, ""], backup.stdout);
  assert.match(
    backup.stdout,
    /^Wrote \S+: \d+ files, .* [kM]B, while the gateway runs\.\nKeys and tokens are not in it/,
  );
  isWriting = false;
  await writing;
  assert.equal(await daemon.end("SIGTERM"), 0);
  await telegram.stop();

  const copy = join(await tempHome(), "copy");
  const restored = await runMaxclaw(["restore", file], copy);
  assert.equal(restored.code, 0, restored.stderr);
  assert.match(restored.stdout, /^ {2}MAXCLAW_PROVIDERS_OPENAI_APIKEY$/m);
  assert.deepEqual((await readdir(copy)).sort(), [
    "config.json",
    "format.json",
    "gateway.events.jsonl",
    "journal",
    "journal.mark",
    "workspace",
  ]);
  const check = await runMaxclaw(["ledger", "check", "--json"], copy);
  assert.equal(check.code, 0, check.stdout);
  const after = new Map(
    (JSON.parse(check.stdout).entries as LedgerEntry[]).map((entry) => [entry.messageId, entry.end]),
  );
  assert.ok(before.length > 20);
  for (const { messageId, end } of before) {
    const now = after.get(messageId);
    assert.ok(now === "answered" || (now === "pending" && end === "pending"), `${messageId} was ${end} and is ${now}`);
  }
  const verify = await runMaxclaw(["events", "verify"], copy);
  assert.equal(verify.code, 0, verify.stdout);

  // The restored gateway goes on, on a platform that shows only what it says itself.
  const next = await startFakeTelegram({ token });
  await writeFile(join(copy, "config.json"), configFor(model.apiBase, next));
  const again = await startDaemon({ home: copy });
  await until("everything is answered", async () => (await ledgerOf(again)).every(({ end }) => end === "answered"));
  const left = async (): Promise<number> =>
    ((await (await fetch(`${again.url}/api/status`)).json()) as { outboundWaiting: number }).outboundWaiting;
  await until("everything is sent", async () => (await left()) === 0);
  for (const { text } of next.sent) assert.ok(!saidBefore.includes(text), `"${text}" was said before the backup`);
  for (const chat of chats) {
    const answer = await fetch(`${again.url}/api/sessions/telegram:${chat}/events?limit=10000`);
    const { events } = (await answer.json()) as { events: readonly StoredEvent[] };
    const ended = events.flatMap((event) =>
      event.type === "turn_execution_complete" ? event.payload.message_ids : [],
    );
    assert.equal(new Set(ended).size, ended.length, "each message has one end");
  }
  const listed = (await (await fetch(`${again.url}/api/sessions`)).json()) as { total: number };
  assert.equal(listed.total, chats.length);
  assert.equal(await again.end("SIGTERM"), 0);
  const sound = await runMaxclaw(["events", "verify"], copy);
  assert.equal(sound.code, 0, sound.stdout);
  await next.stop();
});

/** Whatever somebody runs there says the same, and leaves the home as it is. */
async function assertHalf(home: string): Promise<void> {
  const sentence = `A restore of ${home} was cut off halfway. Run "maxclaw restore" again, with --force; what was there before is kept.`;
  const before = (await readdir(home, { recursive: true })).sort();
  for (const line of [
    "gateway -p 0",
    "agent -m hello",
    "backup",
    "repair",
    "sessions list",
    "events verify",
    "ledger check",
    "config set gateway.port 1",
    "onboard --yes",
    "cron list",
    "migrate",
    "add",
    "security",
    "update --from x.tgz",
  ]) {
    const { code, stdout, stderr } = await runMaxclaw(line.split(" "), home);
    assert.deepEqual([code, stdout, stderr], [65, "", `maxclaw: ${sentence}\n`], line);
  }
  const status = await runMaxclaw(["status", "--json"], home);
  assert.equal(status.code, 1);
  assert.ok(JSON.parse(status.stdout).problems.includes(sentence), status.stdout);
  const doctor = await runMaxclaw(["doctor", "--fix", "--offline", "--json"], home);
  const { ok, findings } = JSON.parse(doctor.stdout);
  assert.deepEqual([doctor.code, ok, findings], [1, false, [{ check: "home", level: "fail", found: sentence }]]);
  assert.equal((await runMaxclaw(["completion", "values", "sessions"], home)).code, 0);
  assert.deepEqual((await readdir(home, { recursive: true })).sort(), before);
}

test("a restore is refused in words, and a home that a restore left halfway does not start", async () => {
  const home = await tempHome();
  const nothing = await runMaxclaw(["restore", join(home, "nowhere.tar.gz")], home);
  assert.equal(nothing.code, 1);
  assert.match(
    nothing.stderr,
    /^maxclaw: \S+nowhere\.tar\.gz cannot be read: it is not there\. Nothing was changed\.\n$/,
  );
  const pipe = join(home, "pipe.tar.gz");
  execFileSync("mkfifo", [pipe]);
  for (const [path, what] of [
    [pipe, "it is not a regular file"],
    ["/dev/zero", "it is not a regular file"],
    [home, "it is a folder, not a file"],
  ] as const) {
    const refused = await runMaxclaw(["restore", path], join(home, "elsewhere"));
    assert.deepEqual(
      [refused.code, refused.stderr],
      [1, `maxclaw: ${path} cannot be read: ${what}. Nothing was changed.\n`],
    );
  }
  const nowhere = await runMaxclaw(["backup", join(home, "no", "where.tar.gz")], home);
  assert.equal(nowhere.code, 1);
  assert.match(
    nowhere.stderr,
    /^maxclaw: The backup \S+where\.tar\.gz could not be written: the folder \S+\/no is not there\n$/,
  );
  const file = join(home, "..", `empty-${process.pid}-${Date.now()}.tar.gz`);
  assert.equal((await runMaxclaw(["backup", file], home)).code, 0);
  await writeFile(join(home, "restore-unfinished"), "x");
  await assertHalf(home);
  const restored = await runMaxclaw(["restore", file, "--force", "--json"], home);
  assert.equal(restored.code, 0, restored.stderr);
  assert.equal(JSON.parse(restored.stdout).restoredTo.home, home);
  await using daemon = await startDaemon({ home });
  assert.equal((await fetch(`${daemon.url}/ready`)).status, 200);
  const running = await runMaxclaw(["restore", file, "--force"], home);
  assert.equal(running.code, 1);
  assert.match(running.stderr, new RegExp(`in use by another maxclaw \\(pid ${daemon.child.pid}`));
});

test("a restore that takes long says so, and what a killed one has left goes with the next start", async () => {
  const home = await tempHome();
  const workspace = join(home, "workspace");
  await mkdir(workspace);
  await writeFile(join(workspace, "large.bin"), randomBytes(48 * 1024 ** 2));
  const file = join(home, "large.tar.gz");
  assert.equal((await runMaxclaw(["backup", file], home)).code, 0);
  const copy = join(await tempHome(), "copy");
  const leftovers = async (): Promise<readonly string[]> =>
    (await readdir(copy).catch(() => [])).filter((name) => name.startsWith(".restore-"));
  const began = Date.now();
  await using restoring = spawnMaxclaw(["restore", file], copy);
  await until("it unpacks", async () => (await leftovers()).length > 0);
  restoring.child.kill("SIGSTOP");
  await until("it has taken long", () => Date.now() - began > 2000);
  restoring.child.kill("SIGCONT");
  await until("it says so", () => restoring.stderr() !== "");
  assert.equal(restoring.stderr(), `Restoring ${file} to ${copy} …\n`);
  await restoring.end("SIGKILL");
  assert.equal((await leftovers()).length, 1);
  await using daemon = await startDaemon({ home: copy });
  assert.deepEqual(await leftovers(), []);
  assert.equal(await daemon.end("SIGTERM"), 0);
});

test("what a killed backup has left goes with the next one into that folder, and nothing that may still be written", async () => {
  const home = await tempHome();
  await mkdir(join(home, "workspace"));
  await writeFile(join(home, "workspace", "large.bin"), randomBytes(48 * 1024 ** 2));
  const folder = await tempHome();
  const parts = async (): Promise<readonly string[]> =>
    (await readdir(folder)).filter((name) => name.endsWith(".part")).sort();
  await using killed = spawnMaxclaw(["backup", join(folder, "a.tar.gz")], home);
  await until("something is written", async () => {
    const [name] = await parts();
    return name !== undefined && (await stat(join(folder, name))).size > 100_000;
  });
  await killed.end("SIGKILL");
  const [part = ""] = await parts();
  const withMark = (mark: string, pid: number): string => part.replace(/[0-9a-f]+-\d+\.part$/, `${mark}-${pid}.part`);
  const own = part.replace(/\d+\.part$/, `${process.pid}.part`);
  const [elsewhere, old] = [withMark("00000000", 77), withMark("00000000", 78)];
  const mine = part.replace(/^a\.tar\.gz/, "mine");
  for (const name of [own, elsewhere, old]) await copyFile(join(folder, part), join(folder, name));
  const longAgo = Date.now() / 1000 - 2 * 86_400;
  await utimes(join(folder, old), longAgo, longAgo);
  await writeFile(join(folder, mine), "Not a backup.");
  assert.equal((await runMaxclaw(["backup", join(folder, "b.tar.gz")], home)).code, 0);
  assert.deepEqual(await parts(), [own, elsewhere, mine].sort());
});

test("a workspace outside of its home is restored beside the one in use with --workspace, which the restored config has then", async () => {
  const home = await tempHome();
  const workspace = join(await tempHome(), "shared");
  const configWith = (folder: string) => ({ agents: { defaults: { executionMode: "ask", workspace: folder } } });
  await writeFile(join(home, "config.json"), JSON.stringify(configWith(workspace)));
  await mkdir(workspace);
  await writeFile(join(workspace, "notes.md"), "mine");
  const file = join(await tempHome(), "b.tar.gz");
  assert.equal((await runMaxclaw(["backup", file], home)).code, 0);
  const copy = join(await tempHome(), "copy");
  const refused = await runMaxclaw(["restore", file], copy);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /shared is not empty .* another home may be using it\. .*--workspace <folder>/);
  const elsewhere = join(copy, "..", "elsewhere");
  const restored = await runMaxclaw(["restore", file, "--workspace", elsewhere], copy);
  assert.equal(restored.code, 0, restored.stderr);
  assert.equal(await readFile(join(elsewhere, "notes.md"), "utf8"), "mine");
  assert.deepEqual(JSON.parse(await readFile(join(copy, "config.json"), "utf8")), configWith(elsewhere));
  assert.deepEqual(
    (await readdir(workspace)).filter((name) => name.startsWith("before-restore")),
    [],
  );
  const again = await runMaxclaw(["restore", file, "--workspace", elsewhere], join(copy, "..", "third"));
  assert.match(
    again.stderr,
    /elsewhere is not empty .*\. Nothing was changed\. Use --force .*, or another --workspace\./,
  );
});

test("a backup with secrets takes them along, and one in the workspace holds neither itself nor another one", async () => {
  const home = await tempHome();
  const config = { providers: { openai: { apiKey: "sk-in-the-config" } } };
  await writeFile(join(home, "config.json"), JSON.stringify(config));
  await writeFile(join(home, "secrets.json"), '{"OTHER":"sk-in-secrets"}', { mode: 0o600 });
  const workspace = join(home, "workspace");
  await mkdir(workspace);
  const made = await runMaxclaw(["backup", join(workspace, "b.tar.gz"), "--secrets", "--json"], home);
  assert.equal(made.code, 0, made.stderr);
  assert.deepEqual([JSON.parse(made.stdout).hasSecrets, JSON.parse(made.stdout).files], [true, 2]);
  assert.match(made.stderr, /b\.tar\.gz is in the workspace, where the assistant's tools can read it, with your keys/);
  const without = await runMaxclaw(["backup", join(workspace, "c.tar.gz")], home);
  assert.equal(without.stderr, "maxclaw: workspace/b.tar.gz is not in the backup: it is a backup itself\n");
  const outside = await runMaxclaw(["backup", join(home, "d.tar.gz"), "--secrets"], home);
  assert.doesNotMatch(outside.stderr, /tools can read/);
  const copy = join(await tempHome(), "copy");
  const restored = await runMaxclaw(["restore", join(workspace, "b.tar.gz")], copy);
  assert.equal(restored.code, 0, restored.stderr);
  assert.deepEqual((await readdir(copy)).sort(), [
    "config.json",
    "journal",
    "journal.mark",
    "secrets.json",
    "workspace",
  ]);
  assert.deepEqual(await readdir(join(copy, "workspace")), [".sessions"]);
});
