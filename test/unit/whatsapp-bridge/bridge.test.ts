import assert from "node:assert/strict";
import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { WebSocket } from "ws";
import { runBridge } from "../../../bridges/whatsapp/src/bridge.js";
import { createWhatsAppChannel } from "../../../src/channels/whatsapp/whatsapp.js";
import { silentLog } from "../../../src/log.js";
import { tempFolder, until } from "../../support/engine/engine-kit.js";
import { FarLink } from "../../support/whatsapp-bridge/far-link.js";
import { FarWhatsApp } from "../../support/whatsapp-bridge/far-whatsapp.js";
import { openBridge } from "../../support/whatsapp-bridge/open-bridge.js";
import { failureOf, never, recordPublish, reply, startChannel } from "../../support/worlds/channels/channel-kit.js";
import { testContext } from "../../support/worlds/channels/over-fake.js";

const ann = "15551230001";
const token = "a-secret-of-the-bridge";

async function openWorld(context: TestContext, given: { readonly token?: string; readonly graceMs?: number } = {}) {
  const home = tempFolder(context);
  const far = await FarWhatsApp.start();
  let bridge = await openBridge({ home, farUrl: far.url, ...given });
  const world = {
    home,
    far,
    get bridge() {
      return bridge;
    },
    /** The real channel of the gateway, on this bridge. */
    openChannel: (more: object = {}) =>
      createWhatsAppChannel(
        {
          bridgeUrl: bridge.url,
          bridgeToken: given.token,
          ownChats: new Set(),
          reconnectMs: 0,
          log: silentLog,
          ...more,
        },
        testContext(),
      ),
    async restart() {
      await bridge.stop();
      bridge = await openBridge({ home, farUrl: far.url, ...given });
    },
    waiting: async () => (await readdir(join(home, "inbox"))).length,
    async [Symbol.asyncDispose]() {
      await bridge.stop();
      await far[Symbol.asyncDispose]();
    },
  };
  return world;
}

test("what comes while no gateway listens is kept on the disk, also over a restart, until the gateway has it", async (t) => {
  await using world = await openWorld(t);
  const { far } = world;
  far.write(ann, "first");
  far.write(ann, "second");
  await until("WhatsApp was told", () => far.confirmed.length === 2);
  assert.equal(await world.waiting(), 2);
  await world.restart();
  const gateway = recordPublish();
  await using _running = startChannel(world.openChannel(), gateway.publish);
  await until("both came", () => gateway.messages.length === 2);
  assert.deepEqual(gateway.texts(), ["first", "second"]);
  await until("nothing waits", async () => (await world.waiting()) === 0);
  await until("they are marked as read", () => far.read.length === 2);
});

test("what the gateway has not confirmed comes again to the next connection, under the same id", async (t) => {
  await using world = await openWorld(t);
  let isHeld = true;
  const gateway = recordPublish(() => (isHeld ? { status: "busy", reply: "" } : { status: "accepted" }));
  const first = startChannel(world.openChannel({ busyRetryMs: 5 }), gateway.publish);
  world.far.write(ann, "hello");
  await until("it is offered", () => gateway.messages.length > 0);
  await first.stop();
  assert.equal(await world.waiting(), 1);
  isHeld = false;
  const next = recordPublish();
  await using _second = startChannel(world.openChannel(), next.publish);
  await until("it comes again", () => next.messages.length === 1);
  assert.equal(next.messages[0]?.dedupId, gateway.messages[0]?.dedupId);
});

test("a delivery that is sent again shows nothing again, and the bridge knows what WhatsApp has", async (t) => {
  await using world = await openWorld(t);
  const { far } = world;
  const channel = world.openChannel();
  await using running = startChannel(channel, recordPublish().publish);
  await until("it is connected", () => running.connections() > 0);
  const answer = reply(ann, "the answer");
  const sent = await channel.send(answer, never);
  assert.match(sent.platformMessageId, /^3EB0[0-9A-F]{18}$/);
  await world.restart();
  const again = world.openChannel();
  await using _next = startChannel(again, recordPublish().publish);
  await until("the link is back", () => far.connections === 1);
  assert.equal(await failedOr(again.send(answer, never)), sent.platformMessageId);
  assert.deepEqual(far.relays.length, 1, "it has left once");
  assert.deepEqual(await again.find?.(answer, 0, never), sent);
  assert.equal(await again.find?.(reply(ann, "another"), 0, never), undefined);
});

test("a send that was cut has the same id when it goes out again, so that people see it once", async (t) => {
  for (const fault of ["cut-before", "cut-after", "timeout"] as const) {
    await using world = await openWorld(t);
    const { far } = world;
    const channel = world.openChannel();
    await using running = startChannel(channel, recordPublish().publish);
    await until("it is connected", () => running.connections() > 0);
    far.failNext(fault);
    const failure = await failureOf(channel.send(reply(ann, "once"), never));
    assert.deepEqual([failure.outcome, failure.retryable], ["unknown", true], fault);
    if (fault === "timeout") far.loseConnections();
    await until("it is sent", async () => (await failedOr(channel.send(reply(ann, "once"), never))) !== "failed");
    assert.deepEqual(far.chats.showings(ann), ["once"], fault);
    assert.equal(new Set(far.relays).size, 1, fault);
  }
});

test("a send that WhatsApp refuses is no longer known, and says why", async (t) => {
  await using world = await openWorld(t);
  const channel = world.openChannel();
  await using running = startChannel(channel, recordPublish().publish);
  await until("it is connected", () => running.connections() > 0);
  world.far.failNext({ refused: "463" });
  const failure = await failureOf(channel.send(reply(ann, "no"), never));
  assert.deepEqual([failure.outcome, failure.retryable], ["refused", false]);
  assert.match(failure.message, /does not let this account begin a chat with this person/);
  assert.deepEqual(await readdir(join(world.home, "outbox")), []);
});

test("files go both ways, with their names and no further than they may", async (t) => {
  await using world = await openWorld(t, { token });
  const { far } = world;
  const channel = world.openChannel();
  const read: string[] = [];
  const gateway = recordPublish(async ({ files = [] }) => {
    for (const file of files) read.push(`${file.filename} ${Buffer.from(await file.read(1000, never)).toString()}`);
    return { status: "accepted" };
  });
  await using running = startChannel(channel, gateway.publish);
  await until("it is connected", () => running.connections() > 0);
  far.write(ann, "see", { file: { name: "a.txt", mimeType: "text/plain", sizeBytes: 3 } }, Buffer.from("abc"));
  await until("it came", () => read.length === 1);
  assert.deepEqual([read[0], gateway.messages[0]?.content], ["a.txt abc", "see"]);
  assert.equal(channel.files, "apart");
  assert.equal(channel.maxFileBytes, 64 * 1024 * 1024);
  const path = join(tempFolder(t), "kept.pdf");
  await writeFile(path, "%PDF");
  const file = { path, filename: "report.pdf", mimeType: "application/pdf", sizeBytes: 4 };
  await channel.send(reply(ann, "", { attachments: [file] }), never);
  const [shown] = far.chats.in(ann);
  assert.deepEqual(shown?.files, [{ filename: "report.pdf", bytes: Buffer.from("%PDF") }]);
  assert.deepEqual(await readdir(join(world.home, "uploads")), [], "nothing stays");
});

test("edits, deletions, quotations, names, typing and groups pass", async (t) => {
  await using world = await openWorld(t);
  const { far } = world;
  const channel = world.openChannel();
  const gateway = recordPublish();
  await using running = startChannel(channel, gateway.publish);
  await until("it is connected", () => running.connections() > 0);
  const id = far.write(ann, "frist", { name: "Ann" });
  far.write(ann, "first", { id, change: "edited", changeId: "E1" });
  far.write(ann, "", { id, change: "deleted", changeId: "D1" });
  far.write(ann, "yes", { quoted: { id: "Q", text: "Shall I?", fromMe: true } });
  far.write(ann, "", { unreadable: "stickers" });
  const inGroup = { sender: "1203@g.us", isGroup: true, participant: `${ann}@s.whatsapp.net` };
  far.write(ann, "@bot", { ...inGroup, wasMentioned: true });
  await until("all came", () => gateway.messages.length === 6);
  const [first, edited, deleted, answer, sticker, group] = gateway.messages;
  assert.deepEqual([first?.senderName, first?.change], ["Ann", undefined]);
  assert.deepEqual([edited?.change, edited?.platformMessageId, edited?.content], ["edited", id, "first"]);
  assert.deepEqual([deleted?.change, deleted?.platformMessageId], ["deleted", id]);
  assert.equal(new Set([first, edited, deleted].map((one) => one?.dedupId)).size, 3);
  assert.deepEqual(answer?.quoted, { text: "Shall I?", by: "assistant" });
  assert.equal(sticker?.unreadable, "stickers");
  assert.deepEqual([group?.chatId, group?.senderId, group?.addressed], ["1203@g.us", ann, true]);
  await channel.showTyping?.(ann, undefined, never);
  await until("it shows", () => far.typing.length === 1);
  await channel.send(reply(ann, "Right.", { replyTo: answer?.platformMessageId }), never);
  assert.deepEqual(far.quoted, ["yes"]);
});

test("a code, a logout and another program with the same login are told in plain words", async (t) => {
  await using world = await openWorld(t);
  const { far, bridge } = world;
  const channel = world.openChannel();
  await using running = startChannel(channel, recordPublish().publish);
  await until("it is connected", () => running.connections() > 0);
  far.tell("code", "2@scan");
  await until("the code is shown", () => channel.toDo?.()?.scan === "2@scan");
  far.tell("logged-out");
  await until("the login is put aside", () => bridge.link.forgotten === 1);
  await until("the link is back", () => channel.toDo?.() === undefined);
  far.tell("replaced");
  await until("it is told", () => /Another program uses the same login/.test(channel.toDo?.()?.text.en ?? ""));
  await until("it does not come back", () => far.connections === 0);
});

test("who has not the token, and any page in a browser, gets nothing", async (t) => {
  await using world = await openWorld(t, { token });
  const at = world.bridge.url;
  const closed = async (said: string) =>
    await new Promise<number>((resolve) => {
      const socket = new WebSocket(at);
      socket.on("message", () => resolve(0));
      socket.on("open", () => socket.send(said));
      socket.on("close", resolve);
    });
  assert.equal(await closed(JSON.stringify({ type: "auth", token: `${token}x` })), 4003);
  assert.equal(await closed(JSON.stringify({ type: "send", to: `${ann}@s.whatsapp.net`, text: "x" })), 4003);
  assert.equal(await closed("not json"), 4003);
  const refused = await new Promise<string>((resolve) =>
    new WebSocket(at, { origin: "https://example.com" }).on("error", (error) => resolve(error.message)),
  );
  assert.match(refused, /403/);
  const files = at.replace("ws", "http");
  const statusOf = async (path: string, headers: Record<string, string>, method = "GET") =>
    (await fetch(`${files}${path}`, { method, headers })).status;
  const right = { authorization: `Bearer ${token}` };
  assert.equal(await statusOf("/files/1", {}), 401);
  assert.equal(await statusOf("/files", { authorization: "Bearer no" }, "POST"), 401);
  assert.equal(await statusOf("/files/1", { ...right, origin: "https://example.com" }), 403);
  assert.equal(await statusOf("/files/1", right), 404);
  assert.equal(await statusOf("/../inbox", right), 404);
});

test("the Go maxclaw's gateway, which confirms nothing, gets each message once, in order, also what came before it", async (t) => {
  await using world = await openWorld(t, { graceMs: 20 });
  world.far.write(ann, "while away");
  await until("it is kept", async () => (await world.waiting()) === 1);
  const heard: string[] = [];
  const socket = new WebSocket(world.bridge.url);
  socket.on("message", (data) => {
    const frame = Object(JSON.parse(String(data)));
    if (frame.type === "message" || frame.type === "sent" || frame.type === "error")
      heard.push(frame.content ?? frame.type);
  });
  await until("what waited came", () => heard.length === 1);
  world.far.write(ann, "now");
  await until("the next came", () => heard.length === 2);
  socket.send(JSON.stringify({ type: "send", to: `${ann}@s.whatsapp.net`, text: "an answer" }));
  await until("it is sent", () => heard.length === 3);
  socket.send("{}");
  await until("it is told", () => heard.length === 4);
  assert.deepEqual(heard, ["while away", "now", "sent", "error"]);
  await until("nothing waits", async () => (await world.waiting()) === 0);
  socket.terminate();
});

test("what is kept can be read by this account alone", async (t) => {
  await using world = await openWorld(t);
  world.far.write(ann, "private");
  await until("it is kept", async () => (await world.waiting()) === 1);
  const [name = ""] = await readdir(join(world.home, "inbox"));
  assert.equal((await stat(join(world.home, "inbox", name))).mode & 0o777, 0o600);
  assert.equal((await stat(join(world.home, "inbox"))).mode & 0o077, 0);
});

async function failedOr(sending: Promise<{ readonly platformMessageId: string }>): Promise<string> {
  return await sending.then(
    ({ platformMessageId }) => platformMessageId,
    () => "failed",
  );
}

test("a second bridge on the same folder is refused before it touches the login, and told what to do", async (t) => {
  await using world = await openWorld(t);
  const { far, home } = world;
  let isOpened = false;
  const second = runBridge(
    {
      home,
      host: "127.0.0.1",
      port: 0,
      token: undefined,
      openWhatsApp: async () => {
        isOpened = true;
        return new FarLink(far.url);
      },
      log: silentLog,
    },
    never,
  );
  await assert.rejects(second, {
    message: `Another WhatsApp bridge (pid ${process.pid}) uses ${home}. End it, or set BRIDGE_HOME to another folder.`,
  });
  assert.equal(isOpened, false);
  await world.restart();
});
