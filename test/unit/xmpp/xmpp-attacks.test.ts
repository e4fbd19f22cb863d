import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { ns } from "../../../src/channels/xmpp/namespaces.js";
import { Wire } from "../../../src/channels/xmpp/stream/wire.js";
import { write, type Xml, xml } from "../../../src/channels/xmpp/stream/xml.js";
import { XmppChannel, type XmppOptions } from "../../../src/channels/xmpp/xmpp.js";
import { silentLog } from "../../../src/log.js";
import { until } from "../../support/engine/engine-kit.js";
import { serveNames } from "../../support/fakes/xmpp/name-server.js";
import { resultOf, ScriptedXmpp, type ScriptedXmppOptions } from "../../support/fakes/xmpp/scripted-xmpp.js";
import { failureOf, never, recordPublish, reply, startChannel } from "../../support/worlds/channels/channel-kit.js";
import { testContext } from "../../support/worlds/channels/over-fake.js";

const bot = "max@maxclaw.test";
const ann = "ann@maxclaw.test";

function channelAt(server: ScriptedXmpp, more: Partial<XmppOptions> = {}, context = testContext()): XmppChannel {
  const login = { jid: bot, password: "secret-word", service: server.service };
  return new XmppChannel({ login, rooms: [], nick: "max", allowFrom: [], log: silentLog, ...more }, context);
}

function asked(element: Xml, name: string, space: string): Xml | undefined {
  return element.name === "iq" ? element.child(name, space) : undefined;
}

function info(element: Xml, ...features: readonly string[]): string {
  const all = features.map((feature) => xml("feature", ns.info, { var: feature }));
  return resultOf(element, xml("query", ns.info, {}, ...all));
}

function said(from: string, text: string, ...more: readonly Xml[]): Xml {
  return xml(
    "message",
    ns.client,
    { from, to: bot, type: "chat", id: text },
    xml("body", ns.client, {}, text),
    ...more,
  );
}

function archived(query: Xml, by: string, id: string, message: Xml): string {
  const forwarded = xml("forwarded", ns.forward, {}, message);
  const result = xml("result", ns.archive, { id, queryid: query.attribute("queryid") }, forwarded);
  return write(xml("message", ns.client, { from: by, to: bot }, result), ns.client);
}

describe("a server of XMPP, or who is between, that does not mean well", () => {
  test("what was said before TLS counts for nothing behind it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "maxclaw-xmpp-"));
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
    const name = ["-subj", "/CN=maxclaw.test", "-addext", "subjectAltName=DNS:maxclaw.test"];
    execFileSync("openssl", ["req", "-x509", ...curve, "-nodes", ...name, "-keyout", key, "-out", cert], {
      stdio: "pipe",
    });
    const tls = { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
    rmSync(folder, { recursive: true });
    const beforeTls = `<stream:features><mechanisms xmlns='${ns.sasl}'><mechanism>PLAIN</mechanism></mechanisms></stream:features>`;
    const answer = (element: Xml): string | undefined =>
      element.ns === ns.sasl ? write(xml("failure", ns.sasl, {}, xml("not-authorized", ns.sasl))) : undefined;
    await using server = await ScriptedXmpp.start({ tls, beforeTls, mechanism: "SCRAM-SHA-1", answer });
    const login = { jid: bot, password: "secret-word", service: server.service, ca: tls.cert };
    const failure = await failureOf(channelAt(server, { login }).send(reply(ann, "x"), never));
    assert.match(failure.message, /refused the login/);
    assert.equal(failure.retryable, false);
    assert.deepEqual(
      server.elements.map((one) => one.attribute("mechanism")),
      ["SCRAM-SHA-1"],
    );
  });

  test("a server that does not ask for the password has not shown that it knows it", async () => {
    await using server = await ScriptedXmpp.start({ mechanism: "SCRAM-SHA-256" });
    const failure = await failureOf(channelAt(server).send(reply(ann, "x"), never));
    assert.match(failure.message, /does not know the password/);
    assert.deepEqual([failure.outcome, failure.retryable], ["refused", false]);
  });

  test("what comes in one piece with the end of the login is not lost", async () => {
    const ping = write(xml("iq", ns.client, { type: "get", id: "early", from: "maxclaw.test" }, xml("ping", ns.ping)));
    const answer = (element: Xml): string | undefined =>
      element.is("enable", ns.management) ? write(xml("enabled", ns.management)) + ping : undefined;
    await using server = await ScriptedXmpp.start({ answer });
    await using _running = startChannel(channelAt(server), recordPublish().publish);
    await until("it is answered", () => server.elements.some((one) => one.attribute("id") === "early"));
  });

  test("a place that takes the connection and says nothing leaves time for the next one that the domain names", async () => {
    const mute = createServer();
    mute.listen(0, "127.0.0.1");
    await once(mute, "listening");
    await using server = await ScriptedXmpp.start();
    // A TCP server that listens has an address with a port.
    const { port } = mute.address() as AddressInfo;
    const places = { "_xmpps-client._tcp.maxclaw.test": port, "_xmpp-client._tcp.maxclaw.test": server.port };
    await using _names = await serveNames(places);
    const login = { jid: bot, password: "secret-word", loginMs: 2000 };
    const channel = channelAt(server, { login });
    await using running = startChannel(channel, recordPublish().publish);
    await until("it is connected", () => running.connections() > 0);
    mute.close();
  });

  test("a fault in what hears the elements ends the connection, and not the program", async () => {
    await using server = await ScriptedXmpp.start();
    const address = { by: "starttls", host: "127.0.0.1", port: server.port } as const;
    const wire = await Wire.open(address, { domain: "maxclaw.test" }, never);
    wire.listen(() => {
      throw new Error("a fault of ours");
    });
    wire.restart();
    assert.match((await wire.closed).message, /a fault of ours/);
  });

  test("a message is refused only by whom it was sent to", async () => {
    const server = await sending((message) => {
      const id = message.attribute("id");
      const error = xml("error", ns.client, { type: "cancel" }, xml("forbidden", ns.stanzas));
      return write(xml("message", ns.client, { from: "mallory@evil.test/x", type: "error", id }, error), ns.client);
    });
    await using _server = server;
    const receipt = await channelAt(server).send(reply(ann, "hello"), never);
    assert.match(receipt.platformMessageId, /^mc_/);
  });

  test("a room that has forgotten the bot gets its message once it is entered again", async () => {
    const room = "team@rooms.maxclaw.test";
    let entered = 0;
    const server = await sending((element) => {
      const id = element.attribute("id");
      if (element.name === "presence") {
        entered += element.attribute("to") === `${room}/max` ? 1 : 0;
        const about = xml("x", ns.roomUser, {}, xml("status", ns.roomUser, { code: "110" }));
        return write(xml("presence", ns.client, { from: `${room}/max` }, about), ns.client);
      }
      const error = xml("error", ns.client, { type: "modify" }, xml("not-acceptable", ns.stanzas));
      if (entered === 1) return write(xml("message", ns.client, { from: room, type: "error", id }, error), ns.client);
      return write(xml("message", ns.client, { from: `${room}/max`, type: "groupchat", id }), ns.client);
    });
    await using _server = server;
    const channel = channelAt(server, { rooms: [room] });
    const failure = await failureOf(channel.send(reply(room, "hello"), never));
    assert.deepEqual([failure.outcome, failure.retryable, failure.isChatClosed], ["refused", true, false]);
    await channel.send(reply(room, "hello"), never);
    assert.equal(entered, 2);
  });

  test("who is thrown out in the moment of coming in is out", async () => {
    const room = "team@rooms.maxclaw.test";
    const status = (code: string): Xml => xml("status", ns.roomUser, { code });
    const server = await sending((element) => {
      if (element.attribute("to") !== `${room}/max`) return "";
      const about = (...codes: readonly string[]) => xml("x", ns.roomUser, {}, ...codes.map(status));
      const come = xml("presence", ns.client, { from: `${room}/max` }, about("110"));
      const go = xml("presence", ns.client, { from: `${room}/max`, type: "unavailable" }, about("110", "307"));
      return write(come, ns.client) + write(go, ns.client);
    });
    await using _server = server;
    const failure = await failureOf(channelAt(server, { rooms: [room] }).send(reply(room, "hello"), never));
    assert.deepEqual([failure.outcome, failure.isChatClosed], ["refused", true]);
    assert.match(failure.message, /thrown the bot out/);
  });

  test("an archive's answer counts from the archive alone, never from a nick of the room", async () => {
    const room = "team@rooms.maxclaw.test";
    const forged = (by: string, text: string): Xml => {
      const item = xml("x", ns.roomUser, {}, xml("item", ns.roomUser, { jid: ann }));
      return said(`${room}/${by}`, text, item);
    };
    const answer = (element: Xml): string | undefined => {
      if (element.is("presence", ns.client) && element.attribute("to") === `${room}/max`) {
        const about = xml("x", ns.roomUser, {}, xml("status", ns.roomUser, { code: "110" }));
        return write(xml("presence", ns.client, { from: `${room}/max` }, about), ns.client);
      }
      if (element.attribute("to") === room && asked(element, "query", ns.info) !== undefined)
        return info(element, ns.archive, "muc_nonanonymous");
      const query = asked(element, "query", ns.archive);
      if (query === undefined) return undefined;
      const fin = xml("fin", ns.archive, { complete: "true" });
      const pages = [
        archived(query, `${room}/mallory`, "1", forged("Ann", "max: forged")),
        archived(query, room, "2", forged("Ann", "max: honest")),
      ];
      return pages.join("") + resultOf(element, fin);
    };
    await using server = await ScriptedXmpp.start({ answer });
    const gateway = recordPublish();
    await using _running = startChannel(channelAt(server, { rooms: [room] }), gateway.publish);
    await until("the honest one came", () => gateway.texts().includes("max: honest"));
    assert.deepEqual(gateway.texts(), ["max: honest"]);
  });

  test("an archive that goes round in circles, and gives more than was asked for, is left", async () => {
    let asks = 0;
    const answer = (element: Xml): string | undefined => {
      if (asked(element, "query", ns.info) !== undefined) return info(element, ns.archive);
      const query = asked(element, "query", ns.archive);
      if (query === undefined) return undefined;
      asks += 1;
      const all = Array.from({ length: 50 }, (_, n) => archived(query, bot, String(n), said(ann, `old ${n}`)));
      return asks > 40 ? "" : all.join("") + resultOf(element, xml("fin", ns.archive));
    };
    await using server = await ScriptedXmpp.start({ answer });
    const gateway = recordPublish();
    await using running = startChannel(channelAt(server, { pageSize: 20 }), gateway.publish);
    await until("it is connected", () => running.connections() > 3 && gateway.messages.length >= 20);
    server.say(write(said(ann, "new"), ns.client));
    await until("the new one came", () => gateway.texts().includes("new"));
    assert.equal(gateway.messages.length, 21);
    assert.ok(asks <= 3, `${asks} questions`);
  });

  test("what is in no archive is confirmed to the server once it is stored, also while the archive is being read", async () => {
    let giveBack: (() => void) | undefined;
    const answer = (element: Xml): string | undefined => {
      if (asked(element, "query", ns.info) !== undefined) return info(element, ns.archive);
      if (asked(element, "query", ns.archive) === undefined) return undefined;
      giveBack = () => server.say(resultOf(element, xml("fin", ns.archive, { complete: "true" })));
      return write(said(ann, "nowhere else"), ns.client);
    };
    await using server = await ScriptedXmpp.start({ answer });
    let store: (() => void) | undefined;
    const stored = new Promise<void>((resolve) => {
      store = resolve;
    });
    const gateway = recordPublish(async () => {
      await stored;
      return { status: "accepted" };
    });
    await using _running = startChannel(channelAt(server), gateway.publish);
    await until("the archive is asked", () => giveBack !== undefined);
    const confirmed = async (): Promise<number> => {
      const before = server.elements.filter((one) => one.is("a", ns.management)).length;
      server.say(write(xml("r", ns.management)));
      const answers = () => server.elements.filter((one) => one.is("a", ns.management));
      await until("it is counted", () => answers().length > before);
      return Number(answers().at(-1)?.attribute("h"));
    };
    const held = await confirmed();
    giveBack?.();
    await until("it came", () => gateway.messages.length === 1);
    assert.ok((await confirmed()) <= held + 1);
    const before = await confirmed();
    store?.();
    await until("it is confirmed", () => server.elements.length > 0);
    server.say(write(xml("iq", ns.client, { type: "get", id: "p", from: "maxclaw.test" }, xml("ping", ns.ping))));
    await until("all is counted", () => server.elements.some((one) => one.attribute("id") === "p"));
    assert.ok((await confirmed()) >= before + 2, "the message, and what came behind it");
  });
});

async function sending(answer: NonNullable<ScriptedXmppOptions["answer"]>): Promise<ScriptedXmpp> {
  return await ScriptedXmpp.start({
    answer: (element) => (/^(message|presence)$/.test(element.name) ? answer(element) : undefined),
  });
}
