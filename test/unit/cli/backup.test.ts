import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { join, relative } from "node:path";
import { type TestContext, test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { writeArchive } from "../../../src/backup/write-archive.js";
import { deliverOutbound } from "../../../src/bus/delivery.js";
import { redactConfig } from "../../../src/config/redact.js";
import { acquireLock } from "../../../src/engine/embedded/locking/lock.js";
import { EngineError } from "../../../src/errors.js";
import { silentLog } from "../../../src/log.js";
import { makeBackup } from "../../../src/offline/backup.js";
import { repairFiles } from "../../../src/offline/repair.js";
import { inspectBackup, restoreBackup } from "../../../src/offline/restore.js";
import { createSessionFiles, logsMarkPath } from "../../../src/sessions/file-names.js";
import {
  inbound,
  openIn,
  outbound,
  queued,
  sessionOf,
  tempFolder,
  titled,
  until,
} from "../../support/engine/engine-kit.js";
import { smallDisk } from "../../support/engine/small-disk.js";
import { seedOf, tortureFactor } from "../../support/engine/torture-options.js";
import { encodeHeader, endOfArchive, padding } from "../../support/old-tar.js";
import { createRandom } from "../../support/random.js";
import { withoutSmallDisk } from "../../support/worlds/needs.js";

const never = new AbortController().signal;
const longName = `${"ordner-mit-langem-namen/".repeat(6)}${"ä".repeat(60)}.txt`;

/** A home with some of everything in it, and a workspace of its own. */
async function openHome(t: TestContext) {
  const folder = tempFolder(t);
  const home = join(folder, "home");
  const workspace = join(home, "workspace");
  const files = createSessionFiles(join(workspace, ".sessions"));
  const { engine } = await openIn(home, { logs: { pathOf: (key) => files.logPath(key) } });
  await engine.append(sessionOf, [titled("1"), titled("2")], { durable: true });
  await engine.accept(inbound("msg_1"), { events: [queued("msg_1")] });
  await engine.accept(outbound("reply#1"), { events: [] });
  await engine[Symbol.asyncDispose]();
  const write = (path: string, content: string | Buffer): void => {
    fs.mkdirSync(join(path, ".."), { recursive: true });
    fs.writeFileSync(path, content);
  };
  write(join(home, "secrets.json"), '{"KEY":"hidden"}');
  write(join(home, "logs", "gateway.log"), "not part of it");
  write(join(home, "something-else"), "nor this");
  write(join(workspace, "AGENTS.md"), "be kind");
  write(join(workspace, longName), "deep");
  write(join(workspace, "empty"), "");
  write(join(workspace, ".sessions/.kept/telegram_42/received/0a-letter.txt"), "Dear all");
  write(join(workspace, "exact.bin"), Buffer.alloc(1024, 7));
  write(join(workspace, "large.bin"), Buffer.from(Array.from({ length: 700_001 }, (_, n) => (n * n) % 251)));
  fs.chmodSync(join(workspace, "AGENTS.md"), 0o640);
  fs.mkdirSync(join(workspace, "nothing-in-it"));
  fs.symlinkSync("AGENTS.md", join(workspace, "link"));
  fs.symlinkSync("/etc", join(workspace, "far"));
  fs.utimesSync(join(workspace, "AGENTS.md"), 1000, 1000);
  const file = join(folder, "backup.tar.gz");
  const backUp = (more: { readonly hasSecrets?: boolean } = {}) =>
    makeBackup(
      { home, workspace },
      {
        file,
        maxclaw: "0.0.0-test",
        config: { name: "config.json", content: Buffer.from("{}\n") },
        placeholders: [],
        hasSecrets: false,
        onStateDone: () => {},
        ...more,
      },
      never,
    );
  return { folder, home, workspace, file, backUp };
}

/** What is below a folder: each file's bytes, each link's target. */
function treeOf(root: string, skip: RegExp = /^$/): Record<string, string> {
  const tree: Record<string, string> = {};
  for (const entry of fs.readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = relative(root, path);
    if (skip.test(name)) continue;
    if (entry.isSymbolicLink()) tree[name] = `→ ${fs.readlinkSync(path)}`;
    else tree[name] = entry.isFile() ? hashOf(fs.readFileSync(path)) : "/";
  }
  return tree;
}

function hashOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

async function restore(
  file: string,
  home: string,
  more: { readonly force?: boolean; readonly workspace?: string } = {},
) {
  const inspected = await inspectBackup(file, never);
  const request = { file, inspected, home, workspace: join(home, "workspace"), force: false, ...more };
  return await restoreBackup(request, never);
}

test("what is restored is what was backed up: names, bytes, modes, times, links and empty folders", async (t) => {
  const { folder, home, file, backUp } = await openHome(t);
  // Only a cache: it may still tell about a conversation that was deleted a moment ago.
  fs.writeFileSync(join(home, "workspace/.sessions/.index.jsonl"), "deleted words\n");
  // It goes on while a backup is made, and would be ahead of the journal in it.
  fs.writeFileSync(logsMarkPath(join(home, "workspace/.sessions")), "from later");
  const manifest = await backUp();
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  assert.ok(manifest.files.every(({ path }) => !path.endsWith("journal.mark")));
  assert.deepEqual([manifest.isLive, manifest.hasSecrets, manifest.leftOut], [false, false, []]);
  const copy = join(folder, "copy", "home");
  const { aside, waiting, problem } = await restore(file, copy);
  assert.deepEqual([aside, waiting, problem], [[], { messages: 1, replies: 1 }, undefined]);
  const marks = [join(copy, "journal.mark"), logsMarkPath(join(copy, "workspace/.sessions"))];
  const [ofHome, ofLogs] = marks.map((path) => fs.readFileSync(path, "utf8"));
  assert.match(ofHome ?? "", /\{"tx":\d+\}/);
  assert.equal(ofHome, ofLogs);
  const stays =
    /^(logs|something-else|secrets\.json|config\.json|gateway\.lock)|\.lock$|^journal\/|telegram_42\.events|journal\.mark$|\.index\.jsonl$/;
  assert.deepEqual(treeOf(copy, stays), treeOf(home, stays));
  assert.equal(fs.readFileSync(join(copy, "config.json"), "utf8"), "{}\n");
  for (const left of ["logs", "something-else", "secrets.json", "gateway.lock", "workspace/.sessions/.index.jsonl"])
    assert.ok(!fs.existsSync(join(copy, left)), left);
  const stats = fs.statSync(join(copy, "workspace", "AGENTS.md"));
  assert.deepEqual([stats.mode & 0o777, stats.mtimeMs], [0o640, 1_000_000]);
});

test("other programs can read the archive", async (t) => {
  const { folder, workspace, file, backUp } = await openHome(t);
  await backUp({ hasSecrets: true });
  const target = join(folder, "by-tar");
  fs.mkdirSync(target);
  execFileSync("tar", ["-xzf", file, "-C", target]);
  const stays = /\.lock$|\.sessions/;
  assert.deepEqual(treeOf(join(target, "maxclaw-backup", "workspace"), stays), treeOf(workspace, stays));
  assert.equal(fs.readFileSync(join(target, "maxclaw-backup", "home", "secrets.json"), "utf8"), '{"KEY":"hidden"}');
  const manifest = JSON.parse(fs.readFileSync(join(target, "maxclaw-backup", "manifest.json"), "utf8"));
  assert.deepEqual([manifest.format, manifest.version, manifest.workspaceInHome], ["maxclaw-backup", 1, "workspace"]);
});

test("a backup of before, whose archive maxclaw wrote by itself, is restored as it was", async (t) => {
  const folder = tempFolder(t);
  const long = `${"long ".repeat(30)}名前`;
  const content: Readonly<Record<string, string>> = {
    "home/config.json": "{}",
    "workspace/notes.md": "n".repeat(5000),
    [`workspace/${long}`]: "short",
    "workspace/empty": "",
  };
  const about = { mode: 0o640, modifiedAt: Date.parse("2026-01-02T03:04:05Z") };
  const files = Object.entries(content).map(([path, text]) => ({
    path,
    bytes: Buffer.byteLength(text),
    sha256: createHash("sha256").update(text).digest("hex"),
  }));
  const manifest = JSON.stringify({
    ...{ format: "maxclaw-backup", version: 1, maxclaw: "0.1.0", createdAt: "2026-01-02T03:04:05Z", isLive: false },
    ...{ home: "/x", workspace: "/x/workspace", workspaceInHome: "workspace", hasSecrets: false, placeholders: [] },
    files,
    leftOut: [],
  });
  const entry = (path: string, text: string): readonly Buffer[] => [
    encodeHeader({ path: `maxclaw-backup/${path}`, type: "file", bytes: Buffer.byteLength(text), ...about }),
    Buffer.from(text),
    padding(Buffer.byteLength(text)),
  ];
  const link = { path: "maxclaw-backup/workspace/link", type: "link", bytes: 0, target: long, ...about } as const;
  const blocks = [
    encodeHeader({ path: "maxclaw-backup", type: "folder", bytes: 0, ...about }),
    ...Object.entries(content).flatMap(([path, text]) => entry(path, text)),
    encodeHeader(link),
    ...entry("manifest.json", manifest),
    endOfArchive(),
  ];
  const file = write(join(folder, "old.tar.gz"), gzipSync(Buffer.concat(blocks)));
  const home = join(folder, "home");
  await restore(file, home);
  for (const [path, text] of Object.entries(content)) {
    const restored = join(home, path.replace(/^home\//, ""));
    assert.equal(fs.readFileSync(restored, "utf8"), text, path);
    assert.deepEqual(
      [fs.statSync(restored).mode & 0o777, fs.statSync(restored).mtimeMs],
      [0o640, about.modifiedAt],
      path,
    );
  }
  assert.equal(fs.readlinkSync(join(home, "workspace/link")), long);
});

test("a backup holds no other backup, whatever it is called, and names what it leaves out", async (t) => {
  const { home, workspace, file, backUp } = await openHome(t);
  await backUp();
  const bytes = fs.readFileSync(file);
  fs.rmSync(file);
  const inWorkspace = ["old.tar.gz", "deep/down/photo.jpg", ".sessions/mine", "half.tar.gz.77.part"];
  for (const name of inWorkspace) {
    fs.mkdirSync(join(workspace, name, ".."), { recursive: true });
    fs.writeFileSync(join(workspace, name), name.endsWith(".part") ? bytes.subarray(0, 2000) : bytes);
  }
  fs.writeFileSync(join(home, "b0.tar.gz"), bytes);
  // Packed, and something else.
  for (const [name, content] of Object.entries({
    "notes.gz": gzipSync("maxclaw-backup is what I make on Fridays"),
    "false.gz": Buffer.from([0x1f, 0x8b, 1, 2, 3]),
    "short.gz": Buffer.from([0x1f]),
  }))
    fs.writeFileSync(join(workspace, name), content);
  const { files, leftOut } = await backUp();
  const names = files.map(({ path }) => path);
  assert.deepEqual(
    leftOut.map(({ path, why }) => [path, why]).sort(),
    inWorkspace.map((name) => [`workspace/${name}`, "it is a backup itself"]).sort(),
  );
  for (const name of inWorkspace) assert.ok(!names.includes(`workspace/${name}`), name);
  for (const name of ["notes.gz", "false.gz", "short.gz"]) assert.ok(names.includes(`workspace/${name}`), name);
  assert.ok(fs.statSync(file).size < bytes.length + 1000);
});

test("times of the next century, names of any length and modes of none are restored", async (t) => {
  const { folder, home, file, backUp } = await openHome(t);
  const name = `${"d".repeat(200)}/${"f".repeat(120)}.txt`;
  const made = join(home, "workspace", name);
  fs.mkdirSync(join(made, ".."), { recursive: true });
  fs.writeFileSync(made, "x");
  const late = Date.parse("2105-06-07T08:09:10Z");
  fs.utimesSync(made, late / 1000, late / 1000);
  const bare = join(home, "workspace/bare");
  fs.writeFileSync(bare, "y", { mode: 0o600 });
  await backUp();
  const again = join(folder, "again");
  await restore(file, again);
  assert.equal(fs.statSync(join(again, "workspace", name)).mtimeMs, late);
  assert.equal(fs.statSync(join(again, "workspace/bare")).mode & 0o777, 0o600);
});

test("what stops an archive is told, whether it is what is read or where it is written", async (t) => {
  const folder = tempFolder(t);
  const bytes = 300_000;
  const entry = { path: "x", type: "file", bytes, mode: 0o600, modifiedAt: 0 } as const;
  const written = (name: string, content: () => AsyncIterable<Buffer>): Promise<void> =>
    writeArchive(
      join(folder, name),
      async (tar) => {
        for (let n = 0; n < 20; n += 1) await tar.add({ ...entry, path: `x${n}` }, content());
      },
      never,
    );
  async function* whole() {
    yield randomBytes(bytes);
  }
  async function* short() {
    yield randomBytes(bytes - 1);
  }
  async function* failing() {
    yield randomBytes(1000);
    throw new Error("the disk cannot be read");
  }
  await written("whole", whole);
  await assert.rejects(written("short", short), /mismatch/);
  await assert.rejects(written("failing", failing), /the disk cannot be read/);
  await assert.rejects(written("whole", whole), /EEXIST/);
});

test("a restored home goes on: messages wait, and replies that may have been sent since are sent and marked", async (t) => {
  const { folder, file, backUp } = await openHome(t);
  await backUp();
  const home = join(folder, "copy");
  await restore(file, home);
  const files = createSessionFiles(join(home, "workspace", ".sessions"));
  const { engine } = await openIn(home, { logs: { pathOf: (key) => files.logPath(key) } });
  assert.deepEqual(
    (await engine.waiting("inbound", sessionOf)).map(({ id }) => id),
    ["msg_1"],
  );
  const [reply] = await engine.waiting("outbound", "telegram:42");
  assert.deepEqual([reply?.id, reply?.attempts], ["reply#1", 1]);
  const { events } = await engine.events(sessionOf, { afterSeq: 3, limit: 10 });
  assert.deepEqual(
    events.map(
      (event) => event.type === "outbound_delivery_changed" && [event.payload.outbound_id, event.payload.status],
    ),
    [["reply#1", "unknown"]],
  );
  const stop = new AbortController();
  const sender = { send: async () => ({ platformMessageId: "9" }) };
  const sending = deliverOutbound({ engine, channels: new Map([["telegram", sender]]), log: silentLog }, stop.signal);
  await until("it is sent", () => engine.status().outboundWaiting === 0);
  stop.abort();
  await sending;
  const { events: later } = await engine.events(sessionOf, { afterSeq: 4, limit: 10 });
  assert.deepEqual(
    later.map(
      (event) => event.type === "outbound_delivery_changed" && [event.payload.status, event.payload.maybe_duplicate],
    ),
    [
      ["sending", true],
      ["sent", true],
    ],
  );
  await engine[Symbol.asyncDispose]();
});

test("a backup that is cut off or changed at any place is refused, and nothing is touched", async (t) => {
  const { folder, file, backUp } = await openHome(t);
  await backUp();
  const bytes = fs.readFileSync(file);
  const broken = join(folder, "broken.tar.gz");
  const home = join(folder, "new-home");
  const refused = async (left: Buffer, what: string): Promise<void> => {
    fs.writeFileSync(broken, left);
    const outcome = await restore(broken, home).then(
      () => undefined,
      (error: unknown) => error,
    );
    assert.ok(outcome instanceof EngineError && outcome.kind === "corrupt", `${what}: ${outcome}`);
    assert.match(outcome.message, /cut off or damaged.*Nothing was changed/);
    assert.ok(!fs.existsSync(home), what);
  };
  const random = createRandom(seedOf(t));
  const cuts = [0, 1, 10, 100, bytes.length - 1, bytes.length - 8, bytes.length - 9, bytes.length - 30];
  for (let n = 0; n < 20 * tortureFactor; n += 1) cuts.push(Math.floor(random() * bytes.length));
  for (const cut of cuts) await refused(bytes.subarray(0, cut), `cut at ${cut} of ${bytes.length}`);
  // Of a valid stream too: as if somebody had packed it again.
  const plain = gunzipSync(bytes);
  for (const blocks of [2, 3, 7, 20])
    await refused(gzipSync(plain.subarray(0, plain.length - 512 * blocks)), `without its last ${blocks} blocks`);
  for (let n = 0; n < 40 * tortureFactor; n += 1) {
    const at = Math.floor(random() * plain.length);
    // Between the entries there are zeros that mean nothing.
    if (plain[at] === 0) continue;
    const changed = Buffer.from(plain);
    changed[at] = (changed[at] ?? 0) ^ 0x21;
    await refused(gzipSync(changed, { level: 1 }), `byte ${at} changed`);
  }
});

function write(path: string, bytes: Buffer): string {
  fs.writeFileSync(path, bytes);
  return path;
}

test("an archive that climbs out, hides an entry, or was made by a newer version is refused", async (t) => {
  const folder = tempFolder(t);
  const entry = (path: string, content: string): readonly Buffer[] => [
    encodeHeader({ path, type: "file", bytes: content.length, mode: 0o600, modifiedAt: 0 }),
    Buffer.from(content),
    padding(content.length),
  ];
  const manifest = (more: object): string =>
    JSON.stringify({
      format: "maxclaw-backup",
      version: 1,
      maxclaw: "x",
      createdAt: "x",
      isLive: false,
      home: "/x",
      workspace: "/x",
      hasSecrets: false,
      placeholders: [],
      files: [],
      leftOut: [],
      ...more,
    });
  const pack = (entries: readonly (readonly Buffer[])[]): string =>
    write(join(folder, "crafted.tar.gz"), gzipSync(Buffer.concat([...entries.flat(), endOfArchive()])));
  const own = entry("maxclaw-backup/manifest.json", manifest({}));
  for (const path of [
    "maxclaw-backup/home/../../evil",
    "../evil",
    "/etc/evil",
    "maxclaw-backup/elsewhere/evil",
    "maxclaw-backup/home//evil",
    "maxclaw-backup/home",
    "maxclaw-backup/workspace/a\\b",
  ])
    await assert.rejects(inspectBackup(pack([entry(path, "x"), own]), never), /it has an entry/, path);
  await assert.rejects(
    inspectBackup(pack([entry("maxclaw-backup/workspace/x", "x"), own]), never),
    /files that are not in its manifest/,
  );
  await assert.rejects(inspectBackup(pack([own, entry("maxclaw-backup/home/x", "x")]), never), /follows its manifest/);
  const other = (path: string, type: "file" | "folder" | "link", target?: string): readonly Buffer[] => [
    encodeHeader({ path: `maxclaw-backup/${path}`, type, bytes: 0, mode: 0o700, modifiedAt: 0, target }),
  ];
  const device = Buffer.concat(other("workspace/x", "file"));
  device.write("3", 156, "latin1");
  const sum = device.reduce((all, byte, at) => all + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  device.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  const traps: readonly (readonly [RegExp, ...(readonly Buffer[])[]])[] = [
    [/workspace\/x is in it twice/, other("workspace/x", "link", "y"), other("workspace/x", "link", "z")],
    [/workspace\/x is in it twice/, other("workspace/x", "file"), other("workspace/x", "folder")],
    [/home\/journal\/seen is a link/, other("home/journal/seen", "link", "/etc")],
    [/workspace\/\.sessions is a link/, other("workspace/.sessions", "link", "/etc")],
    [/workspace\/x\/y is below a link/, other("workspace/x", "link", "/etc"), other("workspace/x/y", "file")],
    [
      /workspace\/x is a link with something below it/,
      other("workspace/x/y", "file"),
      other("workspace/x", "link", "/etc"),
    ],
    [/something that a backup does not/, [device]],
  ];
  for (const [why, ...entries] of traps) await assert.rejects(inspectBackup(pack([...entries, own]), never), why);
  const newer = entry("maxclaw-backup/manifest.json", manifest({ version: 2 }));
  await assert.rejects(inspectBackup(pack([newer]), never), /newer maxclaw: update/);
  await assert.rejects(
    inspectBackup(write(join(folder, "text"), Buffer.from("hello")), never),
    /not a backup of maxclaw/,
  );
  await assert.rejects(inspectBackup(join(folder, "nowhere"), never), /cannot be read: it is not there\./);
});

test("a restore takes nothing that no backup holds: no programs, no locks, and no workspace in their place", async (t) => {
  const { folder, file, backUp } = await openHome(t);
  await backUp({ hasSecrets: true });
  const whole = gunzipSync(fs.readFileSync(file));
  const manifestAt = whole.indexOf("maxclaw-backup/manifest.json");
  const manifest = JSON.parse(execFileSync("tar", ["-xzOf", file, "maxclaw-backup/manifest.json"]).toString());
  const home = join(folder, "new");
  const own = ["versions/current/program.js", "packages/node_modules/x/index.js", "cache/code/program.bin"];
  const others = ["gateway.lock", "update.lock", "restore-unfinished", "format.json/x", "journal.mark", "workspace/x"];
  for (const path of [...[...own, ...others].map((name) => `home/${name}`), "workspace/.sessions/.lock"]) {
    const entry = (name: string, content: string): readonly Buffer[] => [
      encodeHeader({ path: name, type: "file", bytes: Buffer.byteLength(content), mode: 0o700, modifiedAt: 0 }),
      Buffer.from(content),
      padding(Buffer.byteLength(content)),
    ];
    const files = [...manifest.files, { path, bytes: 1, sha256: hashOf(Buffer.from("x")) }];
    const crafted = gzipSync(
      Buffer.concat([
        whole.subarray(0, manifestAt),
        ...entry(`maxclaw-backup/${path}`, "x"),
        ...entry("maxclaw-backup/manifest.json", JSON.stringify({ ...manifest, files })),
        endOfArchive(),
      ]),
    );
    await assert.rejects(restore(write(join(folder, "crafted.tar.gz"), crafted), home), (error: unknown) => {
      assert.ok(error instanceof EngineError && error.kind === "corrupt", String(error));
      assert.ok(error.message.includes(`(no backup holds ${path}). Nothing was changed.`), error.message);
      return true;
    });
  }
  for (const workspace of [home, folder, ...["versions", "packages/x", "cache", "backups"].map((n) => join(home, n))])
    await assert.rejects(restore(file, home, { workspace }), /puts the workspace at .* Nothing was changed/, workspace);
  assert.ok(!fs.existsSync(home));
  await restore(file, home);
});

test("an archive that unpacks to far more than it is, or to very many files, is refused while it is read", async (t) => {
  const folder = tempFolder(t);
  const bytes = 64 * 1024 ** 2;
  const header = encodeHeader({
    path: "maxclaw-backup/workspace/zeros",
    type: "file",
    bytes,
    mode: 0o600,
    modifiedAt: 0,
  });
  const bomb = write(join(folder, "bomb.tar.gz"), gzipSync(Buffer.concat([header, Buffer.alloc(bytes)])));
  assert.ok(fs.statSync(bomb).size < bytes / 900);
  const limits = { entries: 1000, bytes: 1024 ** 2, ratio: 200 };
  await assert.rejects(inspectBackup(bomb, never, limits), /unpacks to more than \d+ MB.*Nothing was changed/);
  const many = Array.from({ length: 1001 }, (_, n) =>
    encodeHeader({ path: `maxclaw-backup/workspace/${n}`, type: "folder", bytes: 0, mode: 0o700, modifiedAt: 0 }),
  );
  const crowd = write(join(folder, "crowd.tar.gz"), gzipSync(Buffer.concat([...many, endOfArchive()])));
  await assert.rejects(inspectBackup(crowd, never, { ...limits, bytes: 1024 ** 3 }), /holds more than 1000 files/);
  // A name of very many slashes is looked at once.
  const pax = Buffer.from(`1000015 path=${"/".repeat(1_000_000)}x\n`);
  const record = encodeHeader({ path: "pax", type: "file", bytes: pax.length, mode: 0o600, modifiedAt: 0 });
  record.write("x", 156, "latin1");
  const sum = record.reduce((all, byte, at) => all + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  record.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  const slashes = Buffer.concat([record, pax, padding(pax.length), header]);
  const began = process.cpuUsage();
  await assert.rejects(inspectBackup(write(join(folder, "s.tar.gz"), gzipSync(slashes)), never), /it has an entry/);
  assert.ok(process.cpuUsage(began).user < 5e6);
});

test("a home that is not empty is left alone; forced, it is set aside as it was", async (t) => {
  const { folder, home, workspace, file, backUp } = await openHome(t);
  await backUp();
  const before = treeOf(home);
  await assert.rejects(restore(file, home), (error: unknown) => {
    assert.ok(error instanceof EngineError);
    assert.match(error.message, /is not empty \(.+\)\. Nothing was changed\. Use --force/);
    return true;
  });
  assert.deepEqual(treeOf(home), before);
  fs.writeFileSync(join(workspace, "AGENTS.md"), "changed since");
  const changed = treeOf(home);
  const { aside } = await restore(file, home, { force: true });
  assert.equal(aside.length, 1);
  assert.deepEqual(treeOf(aside[0] ?? "", /\.lock$/), changed);
  assert.equal(fs.readFileSync(join(workspace, "AGENTS.md"), "utf8"), "be kind");
  assert.ok(!fs.existsSync(join(home, "logs")));
  assert.deepEqual(
    fs.readdirSync(home).filter((name) => name.startsWith(".restore")),
    [],
  );
  assert.ok(folder !== home);
});

test("a workspace elsewhere is restored there, and guarded like the home", async (t) => {
  const { folder, file, backUp } = await openHome(t);
  await backUp();
  const home = join(folder, "h");
  const workspace = join(folder, "w");
  fs.mkdirSync(workspace);
  fs.writeFileSync(join(workspace, "mine"), "x");
  await assert.rejects(
    restore(file, home, { workspace }),
    /w is not empty \(mine\)\. agents\.defaults\.workspace in the backup's config puts the workspace there; another home may be using it\. Nothing was changed\. Use --force .*, or put it elsewhere with --workspace <folder>\./,
  );
  assert.deepEqual(fs.readdirSync(workspace), ["mine"]);
  const { aside } = await restore(file, home, { workspace, force: true });
  assert.equal(aside.length, 1);
  assert.ok(fs.existsSync(join(aside[0] ?? "", "mine")));
  assert.equal(fs.readFileSync(join(workspace, "AGENTS.md"), "utf8"), "be kind");
  assert.ok(!fs.existsSync(join(home, "workspace")));
});

test("a backup or a restore that the disk has no room for changes nothing and leaves nothing behind", {
  skip: withoutSmallDisk(),
}, async (t) => {
  const { folder, file, home, workspace, backUp } = await openHome(t);
  await backUp();
  const disk = smallDisk(t, "256k");
  const elsewhere = join(disk, "deep", "home");
  const refused = (folder: string) => (error: unknown) => {
    assert.ok(error instanceof EngineError && error.kind === "persistence", String(error));
    assert.equal(
      error.message,
      `The disk of ${folder} has 0 MB free. The restore needs 65 MB: 1 MB for the backup, and 64 MB that stay free. Nothing was changed. Make room first.`,
    );
    return true;
  };
  await assert.rejects(restore(file, elsewhere), refused(elsewhere));
  assert.deepEqual(fs.readdirSync(disk), []);
  const other = join(folder, "other");
  await assert.rejects(restore(file, other, { workspace: elsewhere }), refused(elsewhere));
  assert.deepEqual([fs.existsSync(other), fs.readdirSync(disk)], [false, []]);
  const request = {
    file: join(disk, "b.tar.gz"),
    maxclaw: "x",
    config: undefined,
    placeholders: [],
    hasSecrets: false,
  };
  fs.writeFileSync(join(workspace, "noise"), randomBytes(400_000));
  const making = makeBackup({ home, workspace }, { ...request, onStateDone: () => {} }, never);
  await assert.rejects(making, /b\.tar\.gz could not be written: the disk is full/);
  assert.deepEqual(fs.readdirSync(disk), []);
});

test("a restore that fails after its checks leaves no folder behind either", async (t) => {
  const { folder, file, backUp } = await openHome(t);
  await backUp();
  const inspected = await inspectBackup(file, never);
  const home = join(folder, "new", "home");
  const workspace = join(folder, "new", "files");
  const stopped = AbortSignal.abort(new Error("stopped"));
  await assert.rejects(restoreBackup({ file, inspected, home, workspace, force: false }, stopped), /stopped/);
  assert.ok(!fs.existsSync(join(folder, "new")));
});

test("neither a backup nor a restore works on files that somebody else uses", async (t) => {
  const { home, file, backUp } = await openHome(t);
  await backUp();
  fs.rmSync(file);
  const lock = await acquireLock(join(home, "gateway.lock"), silentLog);
  await assert.rejects(backUp(), (error: unknown) => error instanceof EngineError && error.kind === "locked");
  assert.ok(!fs.existsSync(file));
  lock.release();
  await backUp();
  const again = await acquireLock(join(home, "gateway.lock"), silentLog);
  const before = treeOf(home);
  await assert.rejects(
    restore(file, home, { force: true }),
    (error: unknown) => error instanceof EngineError && error.kind === "locked",
  );
  assert.deepEqual(treeOf(home), before);
  again.release();
  await assert.rejects(backUp(), /exists already/);
});

test("what a killed restore has left goes with the next work on the home, but not before a half one is whole", async (t) => {
  const { folder, home, file, backUp } = await openHome(t);
  await backUp();
  const elsewhere = join(folder, "elsewhere");
  const name = ".restore-2026-11-29T10-11-12-131Z";
  const left = [join(home, name), join(elsewhere, name)];
  const leave = (): void => {
    for (const path of left) {
      fs.mkdirSync(join(path, "workspace/.sessions"), { recursive: true });
      fs.writeFileSync(join(path, "workspace/.sessions/x.events.jsonl"), "deleted words");
    }
  };
  const remaining = (): readonly string[] => left.filter((path) => fs.existsSync(path));
  fs.mkdirSync(elsewhere);
  fs.mkdirSync(join(elsewhere, ".restore-mine"));
  const files = { home, workspace: elsewhere };
  leave();
  const lock = await acquireLock(join(home, "gateway.lock"), silentLog);
  await assert.rejects(repairFiles(files), /in use/);
  assert.deepEqual(remaining(), left);
  lock.release();
  await repairFiles(files);
  assert.deepEqual(remaining(), []);
  leave();
  await restore(file, home, { workspace: elsewhere, force: true });
  assert.deepEqual(remaining(), []);
  leave();
  fs.writeFileSync(join(home, "restore-unfinished"), file);
  const inspected = await inspectBackup(file, never);
  const stopped = AbortSignal.abort(new Error("stopped"));
  await assert.rejects(restoreBackup({ file, inspected, ...files, force: true }, stopped), /stopped/);
  await assert.rejects(repairFiles(files), /cut off halfway/);
  assert.deepEqual(remaining(), left);
  await restore(file, home, { workspace: elsewhere, force: true });
  assert.deepEqual(remaining(), []);
  // What somebody else has named so.
  assert.ok(fs.existsSync(join(elsewhere, ".restore-mine")));
});

test("nothing works on the files of a home that a restore has left halfway, but the next restore", async (t) => {
  const { home, workspace, file, backUp } = await openHome(t);
  await backUp();
  fs.renameSync(file, `${file}.kept`);
  fs.writeFileSync(join(home, "restore-unfinished"), file);
  const before = treeOf(home);
  for (const work of [backUp, () => repairFiles({ home, workspace })])
    await assert.rejects(work(), (error: unknown) => {
      assert.ok(error instanceof EngineError && error.kind === "corrupt", String(error));
      assert.match(error.message, /was cut off halfway/);
      return true;
    });
  assert.deepEqual(treeOf(home), before);
  await restore(`${file}.kept`, home, { force: true });
  await backUp();
});

test("a damaged journal can be backed up and restored, and is named", async (t) => {
  const { folder, home, file, backUp } = await openHome(t);
  const [name = ""] = fs.readdirSync(join(home, "journal"));
  const path = join(home, "journal", name);
  const bytes = fs.readFileSync(path);
  bytes[20] = 0x20;
  fs.writeFileSync(path, bytes);
  await backUp();
  const copy = join(folder, "copy");
  const { problem, waiting } = await restore(file, copy);
  assert.match(problem ?? "", /is damaged at byte 0.*maxclaw repair/);
  assert.equal(waiting, undefined);
  assert.deepEqual(fs.readFileSync(join(copy, "journal", name)), bytes);
});

const variable = (name: string): string => `\${${name}}`;

test("secrets in a config become variables that are named after their place; nothing else changes", async () => {
  const config = {
    providers: {
      openai: { apiKey: "sk-1", models: [{ id: "x" }] },
      other: { apiKey: variable("KEY"), apiBase: "http://u:pw@h/" },
    },
    channels: { telegram: { token: "1:a", allowFrom: ["42"] } },
    tools: { mcpServers: { git: { command: "git", env: { GIT_PAT: "ghp" }, headers: { "X-Auth": "y" } } } },
    gateway: { token: 12_345_678, port: 1 },
  };
  const names = [
    "MAXCLAW_PROVIDERS_OPENAI_APIKEY",
    "MAXCLAW_PROVIDERS_OTHER_APIBASE",
    "MAXCLAW_CHANNELS_TELEGRAM_TOKEN",
    "MAXCLAW_TOOLS_MCPSERVERS_GIT_ENV_GIT_PAT",
    "MAXCLAW_TOOLS_MCPSERVERS_GIT_HEADERS_X_AUTH",
    "MAXCLAW_GATEWAY_TOKEN",
  ];
  const json = await redactConfig("/x/config.json", JSON.stringify(config));
  assert.deepEqual(json?.placeholders, names);
  const { providers, channels, tools, gateway } = JSON.parse(json.text);
  assert.deepEqual(providers.openai, { apiKey: variable(names[0] ?? ""), models: [{ id: "x" }] });
  assert.deepEqual([providers.other.apiKey, channels.telegram.allowFrom, gateway.port], [variable("KEY"), ["42"], 1]);
  assert.equal(tools.mcpServers.git.command, "git");
  const yaml = await redactConfig("/x/config.yaml", "# was sk-0\nproviders:\n  openai:\n    apiKey: sk-1 # not sk-2\n");
  assert.deepEqual(yaml?.placeholders, ["MAXCLAW_PROVIDERS_OPENAI_APIKEY"]);
  assert.match(yaml.text, /^providers:\n {2}openai:\n {4}apiKey: \$\{MAXCLAW_PROVIDERS_OPENAI_APIKEY\}\n$/);
  const plain = await redactConfig("/x/config.yaml", "log:\n  # token: sk-3\n  level: info\n");
  assert.equal(plain?.text, "log:\n  level: info\n", "a key in a comment");
  assert.equal((await redactConfig("/x/config.yaml", "log: {level: info}\n"))?.text, "log: {level: info}\n");
  assert.equal((await redactConfig("/x/config.json", '{ "log": {} }'))?.text, '{ "log": {} }');
  assert.equal(await redactConfig("/x/config.json", '{"providers": '), undefined);
});
