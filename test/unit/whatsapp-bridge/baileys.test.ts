import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Curve } from "baileys";
import { AuthFiles } from "../../../bridges/whatsapp/src/link/auth-files.js";
import { BaileysLink } from "../../../bridges/whatsapp/src/link/baileys-link.js";
import type { Arrived, Hear, LinkEnd, LinkState } from "../../../bridges/whatsapp/src/whatsapp.js";
import { silentLog } from "../../../src/log.js";
import { tempFolder, until } from "../../support/engine/engine-kit.js";
import { FakeWebWhatsApp } from "../../support/whatsapp-bridge/fake-web-whatsapp.js";
import { SignalPerson } from "../../support/whatsapp-bridge/signal-person.js";

// The real baileys on a server of ours, over its real wire.

const device = "4915550001:7@s.whatsapp.net";
const ann = "15551230001@s.whatsapp.net";
const welcome = { tag: "success", attrs: { t: "1760000000", lid: "777:7@lid" } };
const preKeyId = 1;

interface Heard {
  readonly states: LinkState[];
  readonly messages: Arrived[];
  readonly hear: Hear;
}

function recordHear(onMessage: (arrived: Arrived) => Promise<void> = async () => undefined): Heard {
  const states: LinkState[] = [];
  const messages: Arrived[] = [];
  const hear: Hear = {
    onState: (state) => void states.push(state),
    onMessage: async (arrived) => {
      messages.push(arrived);
      await onMessage(arrived);
    },
    onTaken: () => undefined,
    sentBefore: async () => undefined,
  };
  return { states, messages, hear };
}

/** Runs the link once. */
function startLink(link: BaileysLink, hear: Hear) {
  const stop = new AbortController();
  const ended: Promise<LinkEnd> = link.run(hear, stop.signal);
  return {
    ended,
    async stop() {
      stop.abort();
      await ended;
    },
  };
}

/** A login that is there already, and somebody who knows its keys. */
async function makeLogin(t: TestContext) {
  const home = tempFolder(t);
  const auth = await AuthFiles.open(join(home, "auth"));
  auth.creds.me = { id: device, lid: "777:7@lid" };
  Object.assign(auth.creds, { nextPreKeyId: preKeyId + 1, firstUnuploadedPreKeyId: preKeyId + 1 });
  const preKey = Curve.generateKeyPair();
  await auth.keys.set({ "pre-key": { [preKeyId]: preKey } });
  await auth.saveCreds();
  const person = new SignalPerson(ann, device);
  await person.meet(auth.creds, preKeyId, preKey);
  const sessions = () => readdirSync(join(home, "auth")).filter((name) => name.startsWith("session-"));
  return { home, person, sessions };
}

test("a device that is not linked yet shows the code, and its keys are for this account alone", async (t) => {
  await using fake = await FakeWebWhatsApp.start();
  const refs = [{ tag: "ref", attrs: {}, content: Buffer.from("a-reference") }];
  const attrs = { id: "1", type: "set", from: "s.whatsapp.net" };
  fake.greeting = [{ tag: "iq", attrs, content: [{ tag: "pair-device", attrs: {}, content: refs }] }];
  const link = await BaileysLink.open({ home: tempFolder(t), log: silentLog, url: fake.url });
  const heard = recordHear();
  const running = startLink(link, heard.hear);
  await until("a code is shown", () => heard.states.some((state) => state.state === "code"));
  const [code] = heard.states;
  assert.match(code?.state === "code" ? code.code : "", /a-reference,/);
  await running.stop();
});

test("what WhatsApp closes a connection for is told apart", async (t) => {
  await using fake = await FakeWebWhatsApp.start();
  const conflict = [{ tag: "conflict", attrs: { type: "replaced" } }];
  const ends = [
    [{ tag: "stream:error", attrs: {}, content: conflict }, "replaced"],
    [{ tag: "failure", attrs: { reason: "401" } }, "logged-out"],
    [{ tag: "failure", attrs: { reason: "403" } }, "refused"],
    [{ tag: "stream:error", attrs: { code: "515" } }, "renewed"],
    [{ tag: "stream:error", attrs: { code: "503" } }, "lost"],
  ] as const;
  const { home } = await makeLogin(t);
  for (const [last, expected] of ends) {
    fake.greeting = [{ ...last, content: "content" in last ? [...last.content] : [] }];
    const link = await BaileysLink.open({ home, log: silentLog, url: fake.url });
    assert.equal((await startLink(link, recordHear().hear).ended).state, expected);
  }
});

test("a server that refuses, cuts or says nothing is a lost connection", async (t) => {
  const { home } = await makeLogin(t);
  const endAt = async (url: string) => {
    const link = await BaileysLink.open({ home, log: silentLog, url, connectMs: 200 });
    const end = await startLink(link, recordHear().hear).ended;
    return end.state === "lost" ? end.why : end.state;
  };
  assert.match(await endAt("ws://127.0.0.1:9/"), /REFUSED|refused/i);
  const refuses = await startServer((server) => server.on("upgrade", (_request, socket) => socket.destroy()));
  assert.match(await endAt(urlOf(refuses)), /\w/);
  const hangs = await startServer((server) => server.on("upgrade", () => undefined));
  assert.match(await endAt(urlOf(hangs)), /\w/);
  for (const server of [refuses, hangs]) {
    server.closeAllConnections();
    server.close();
  }
});

test("WhatsApp gets no receipt and the keys stay as they are until the message is written down; killed before, it can be read again", async (t) => {
  await using fake = await FakeWebWhatsApp.start();
  fake.greeting = [welcome];
  const { home, person, sessions } = await makeLogin(t);
  const stanza = await person.write("3EB0A1", { conversation: "hello" });
  // Never written down, as when the process is killed there.
  const first = recordHear(() => new Promise<void>(() => undefined));
  const killed = startLink(await BaileysLink.open({ home, log: silentLog, url: fake.url }), first.hear);
  await until("it is connected", () => first.states.some(({ state }) => state === "connected"));
  fake.say(stanza);
  await until("it is decrypted", () => first.messages.length === 1);
  // What is answered later has been answered, so a receipt would be here.
  fake.say({ tag: "notification", attrs: { id: "N1", from: "s.whatsapp.net", type: "other", t: "1700000000" } });
  await until("what came later is confirmed", () => fake.all("ack").some(({ attrs }) => attrs.id === "N1"));
  assert.deepEqual([fake.all("receipt").length, sessions()], [0, []]);
  await killed.stop();

  let isWritten = false;
  const second = recordHear(async () => {
    assert.deepEqual(fake.all("receipt"), []);
    isWritten = true;
  });
  const running = startLink(await BaileysLink.open({ home, log: silentLog, url: fake.url }), second.hear);
  await until("it is connected again", () => second.states.some(({ state }) => state === "connected"));
  fake.say(stanza);
  await until("WhatsApp has the receipt", () => fake.all("receipt").some(({ attrs }) => attrs.id === "3EB0A1"));
  assert.ok(isWritten);
  await until("the keys are written", () => sessions().length === 1);
  const { sender, content, id, name, isGroup } = second.messages[0]?.message ?? {};
  assert.deepEqual([sender, content, id, name, isGroup], [ann, "hello", "3EB0A1", "Ann", false]);
  // The keys are used up now: had they been first, the message would be lost.
  const before = second.messages.length;
  fake.say(stanza);
  await until("it is refused", () => fake.all("ack").some(({ attrs }) => attrs.error !== undefined));
  assert.equal(second.messages.filter(({ message }) => message.content === "hello").length, before);
  await running.stop();
  for (const name of readdirSync(join(home, "auth")))
    assert.equal(statSync(join(home, "auth", name)).mode & 0o777, 0o600, name);
});

test("a message leaves under the id that it was given, and counts as sent once WhatsApp has confirmed it", async (t) => {
  await using fake = await FakeWebWhatsApp.start();
  fake.greeting = [welcome];
  // Ann has one device, her phone. The account itself has no other one.
  fake.answer = ({ attrs: { xmlns }, content }) => {
    if (xmlns !== "usync") return undefined;
    const asked = JSON.stringify(content).match(/\d+(?::\d+)?@(?:s\.whatsapp\.net|lid)/g) ?? [];
    const devices = [{ tag: "device-list", attrs: {}, content: [{ tag: "device", attrs: { id: "0" } }] }];
    const list = asked
      .filter((jid) => jid === ann)
      .slice(0, 1)
      .map((jid) => ({
        tag: "user",
        attrs: { jid },
        content: [{ tag: "devices", attrs: {}, content: devices }],
      }));
    return [{ tag: "usync", attrs: {}, content: [{ tag: "list", attrs: {}, content: list }] }];
  };
  const { home, person } = await makeLogin(t);
  const link = await BaileysLink.open({ home, log: silentLog, url: fake.url });
  const heard = recordHear();
  const running = startLink(link, heard.hear);
  await until("it is connected", () => heard.states.some(({ state }) => state === "connected"));
  fake.say(await person.write("3EB0A2", { conversation: "hello" }));
  await until("they know each other", () => fake.all("receipt").length === 1);
  const messageId = "3EB0AAAAAAAAAAAAAAAAAA";
  const prepared = await link.prepare({ to: ann, messageId, text: "Hello, https://example.com" });
  let isSent = false;
  const sending = link.relay(ann, messageId, prepared, new AbortController().signal).then(() => {
    isSent = true;
  });
  await until("it has left", () => fake.all("message").some(({ attrs }) => attrs.id === messageId));
  assert.equal(isSent, false);
  fake.say({ tag: "ack", attrs: { class: "message", id: messageId, from: ann } });
  await sending;
  const refused = link.relay(ann, "3EB0BB", prepared, new AbortController().signal);
  await until("the next has left", () => fake.all("message").some(({ attrs }) => attrs.id === "3EB0BB"));
  fake.say({ tag: "ack", attrs: { class: "message", id: "3EB0BB", from: ann, error: "463" } });
  await assert.rejects(refused, /does not let this account begin a chat/);
  await running.stop();
});

test("a login that cannot be read is not replaced by a new one, and one that is over is put aside", async (t) => {
  const { home } = await makeLogin(t);
  const link = await BaileysLink.open({ home, log: silentLog });
  await link.forgetLogin();
  assert.ok(existsSync(join(home, "auth.logged-out", "creds.json")));
  assert.ok(!existsSync(join(home, "auth", "creds.json")));
  writeFileSync(join(home, "auth", "creds.json"), '{"noiseKey":');
  await assert.rejects(BaileysLink.open({ home, log: silentLog }), /creds\.json is damaged\. Move the folder/);
});

async function startServer(prepare: (server: Server) => void): Promise<Server> {
  const server = createServer();
  prepare(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

function urlOf(server: Server): string {
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
