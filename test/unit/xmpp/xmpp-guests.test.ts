import assert from "node:assert/strict";
import { test } from "node:test";
import { ns } from "../../../src/channels/xmpp/namespaces.js";
import { write, type Xml, xml } from "../../../src/channels/xmpp/stream/xml.js";
import { XmppChannel, type XmppOptions } from "../../../src/channels/xmpp/xmpp.js";
import { silentLog } from "../../../src/log.js";
import { until } from "../../support/engine/engine-kit.js";
import { resultOf, ScriptedXmpp } from "../../support/fakes/xmpp/scripted-xmpp.js";
import {
  never,
  type RecordedPublish,
  recordPublish,
  reply,
  startChannel,
} from "../../support/worlds/channels/channel-kit.js";
import { testContext } from "../../support/worlds/channels/over-fake.js";

const bot = "max@maxclaw.test";
/** The owner. */
const ann = "ann@maxclaw.test";
/** A guest, with a server of her own. */
const eve = "eve@evil.test";
const team = "team@rooms.maxclaw.test";
const trap = "trap@rooms.evil.test";

function channelAt(server: ScriptedXmpp, more: Partial<XmppOptions> = {}): XmppChannel {
  const login = { jid: bot, password: "secret-word", service: server.service };
  const options = { login, rooms: [], nick: "max", allowFrom: [ann, eve], log: silentLog };
  return new XmppChannel({ ...options, ...more }, testContext());
}

function says(from: string, text: string, type: "chat" | "groupchat" = "chat", ...more: readonly Xml[]): Xml {
  const body = xml("body", ns.client, {}, text);
  return xml("message", ns.client, { from, to: bot, type, id: text.replace(/\W/g, "-") }, body, ...more);
}

/** Somebody comes into a room, or goes; `jid`: as the room shows them. */
function presence(from: string, jid?: string, status?: string, type?: string): Xml {
  const item = xml("item", ns.roomUser, { jid, affiliation: "none", role: "participant" });
  const statuses = status === undefined ? [] : [xml("status", ns.roomUser, { code: status })];
  return xml("presence", ns.client, { from, to: bot, type }, xml("x", ns.roomUser, {}, item, ...statuses));
}

function archived(query: Xml, by: string, id: string, message: Xml): string {
  const result = xml(
    "result",
    ns.archive,
    { id, queryid: query.attribute("queryid") },
    xml("forwarded", ns.forward, {}, message),
  );
  return write(xml("message", ns.client, { from: by, to: bot }, result), ns.client);
}

function asks(element: Xml, name: string, space: string, to?: string): Xml | undefined {
  const isTo = to === undefined || element.attribute("to") === to;
  return element.name === "iq" && isTo ? element.child(name, space) : undefined;
}

interface RoomScript {
  readonly jid: string;
  /** Comes in one piece with the word that the bot is in. */
  readonly atEntry?: readonly Xml[];
  readonly features?: readonly string[];
  /** What its archive says; undefined: later. */
  readonly archive?: (query: Xml, iq: Xml) => string | undefined;
}

/** The rooms of a server that may belong to anybody. */
function rooms(...all: readonly RoomScript[]): (element: Xml) => string | undefined {
  return (element) => {
    const room = all.find(({ jid }) => element.attribute("to")?.split("/")[0] === jid);
    if (room === undefined) return undefined;
    const { jid, atEntry = [], features = [ns.room, "muc_nonanonymous"], archive } = room;
    if (element.name === "presence" && element.attribute("to") === `${jid}/max`)
      return [presence(`${jid}/max`, bot, "110"), ...atEntry].map((one) => write(one, ns.client)).join("");
    if (asks(element, "query", ns.info) !== undefined) {
      const found = features.map((feature) => xml("feature", ns.info, { var: feature }));
      return resultOf(element, xml("query", ns.info, {}, ...found));
    }
    const query = asks(element, "query", ns.archive);
    return query === undefined ? undefined : archive?.(query, element);
  };
}

const fin = (iq: Xml): string => resultOf(iq, xml("fin", ns.archive, { complete: "true" }));

async function came(gateway: RecordedPublish, text: string): Promise<void> {
  await until(`${text} came`, () => gateway.texts().includes(text));
}

function senderOf(gateway: RecordedPublish, text: string): string | undefined {
  return gateway.messages.find(({ content }) => content === text)?.senderId;
}

test("a room on a guest's own server makes nobody the owner, whatever addresses it shows", async () => {
  const forged = says(`${trap}/Ann`, "max: from the archive", "groupchat");
  const withAddress = xml("message", ns.client, attributesOf(forged), ...forged.elements(), itemOf(ann));
  const answer = rooms({
    jid: trap,
    features: [ns.room, ns.archive, "muc_nonanonymous", ns.occupant],
    atEntry: [presence(`${trap}/Ann`, ann)],
    archive: (query, iq) => archived(query, trap, "1", withAddress) + fin(iq),
  });
  await using server = await ScriptedXmpp.start({ answer });
  const gateway = recordPublish();
  await using running = startChannel(channelAt(server), gateway.publish);
  await until("it is connected", () => running.connections() > 0);
  const invitation = xml("x", ns.invitation, { jid: trap });
  server.say(write(xml("message", ns.client, { from: `${eve}/phone`, to: bot }, invitation), ns.client));
  await came(gateway, "max: from the archive");
  server.say(write(says(`${trap}/Ann`, "max: live", "groupchat"), ns.client));
  await came(gateway, "max: live");
  const own = xml("occupant-id", ns.occupant, { id: ann });
  server.say(write(says(`${trap}/Ann`, "max: by occupant id", "groupchat", own), ns.client));
  await came(gateway, "max: by occupant id");
  for (const { senderId } of gateway.messages) assert.ok(senderId.startsWith(`${trap}/stranger `), senderId);
});

test("a room is believed that the config names, that is on the account's server, or about people of its own server", async () => {
  const named = "club@rooms.elsewhere.test";
  const others = "others@rooms.elsewhere.test";
  const look = [presence(`${named}/Ann`, ann)];
  const answer = rooms(
    { jid: named, atEntry: look },
    { jid: team, atEntry: [presence(`${team}/Ann`, ann)] },
    { jid: others, atEntry: [presence(`${others}/Ann`, ann), presence(`${others}/Zoe`, "zoe@elsewhere.test")] },
    { jid: "x@evilmaxclaw.test", atEntry: [presence("x@evilmaxclaw.test/Ann", ann)] },
  );
  await using server = await ScriptedXmpp.start({ answer });
  const gateway = recordPublish();
  const channel = channelAt(server, { rooms: [team], allowGroups: [named] });
  await using running = startChannel(channel, gateway.publish);
  await until("it is connected", () => running.connections() > 0);
  for (const jid of [named, others, "x@evilmaxclaw.test"])
    server.say(write(xml("message", ns.client, { from: eve, to: bot }, xml("x", ns.invitation, { jid })), ns.client));
  const expected = {
    [`${named}/Ann`]: ann,
    [`${team}/Ann`]: ann,
    [`${others}/Zoe`]: "zoe@elsewhere.test",
    [`${others}/Ann`]: "stranger",
    "x@evilmaxclaw.test/Ann": "stranger",
  };
  for (const [from, senderId] of Object.entries(expected)) {
    const room = from.split("/")[0];
    await until("the bot enters", () => server.elements.some((one) => one.attribute("to") === `${room}/max`));
    server.say(write(says(from, `max: ${from}`, "groupchat"), ns.client));
    await came(gateway, `max: ${from}`);
    const sender = senderOf(gateway, `max: ${from}`) ?? "";
    assert.equal(sender.startsWith(`${room}/stranger `) ? "stranger" : sender, senderId);
  }
});

test("who says something in a room is who has the nick when it is said, and not who has it when it is taken", async () => {
  const held: { readonly iq: Xml }[] = [];
  const swap = (text: string): readonly Xml[] => [
    presence(`${team}/Ann`, eve),
    says(`${team}/Ann`, text, "groupchat"),
    presence(`${team}/Ann`, eve, undefined, "unavailable"),
    presence(`${team}/Ann`, ann),
  ];
  const answer = rooms({
    jid: team,
    features: [ns.room, ns.archive, "muc_nonanonymous"],
    atEntry: swap("max: while it enters"),
    archive: (_query, iq) => {
      held.push({ iq });
      return "";
    },
  });
  await using server = await ScriptedXmpp.start({ answer });
  const gateway = recordPublish();
  await using _running = startChannel(channelAt(server, { rooms: [team] }), gateway.publish);
  await until("the archive is asked", () => held.length > 0);
  for (const one of swap("max: while the archive is read")) server.say(write(one, ns.client));
  server.say(write(says(`${team}/Ann`, "max: honest", "groupchat"), ns.client));
  for (const { iq } of held) server.say(fin(iq));
  await came(gateway, "max: honest");
  assert.deepEqual(
    gateway.messages.map(({ content, senderId }) => [content, senderId]),
    [
      ["max: while it enters", eve],
      ["max: while the archive is read", eve],
      ["max: honest", ann],
    ],
  );
});

test("what a person puts into their presence is not the room's word about them", async () => {
  const own = xml("presence", ns.client, { from: `${team}/Eve` }, itemOf(ann), itemOf(eve));
  const thrownOut = [
    xml("x", ns.roomUser, {}, xml("status", ns.roomUser, { code: "110" }), xml("status", ns.roomUser, { code: "301" })),
    itemOf(eve),
  ];
  const answer = rooms({ jid: team, atEntry: [own] });
  await using server = await ScriptedXmpp.start({ answer });
  const gateway = recordPublish();
  await using _running = startChannel(channelAt(server, { rooms: [team] }), gateway.publish);
  await until("the bot enters", () => server.elements.some((one) => one.attribute("to") === `${team}/max`));
  server.say(write(says(`${team}/Eve`, "max: forged", "groupchat"), ns.client));
  await came(gateway, "max: forged");
  assert.match(senderOf(gateway, "max: forged") ?? "", /\/stranger /);
  const gone = { from: `${team}/Eve`, type: "unavailable" };
  server.say(write(xml("presence", ns.client, gone, ...thrownOut), ns.client));
  server.say(write(presence(`${team}/Ann`, ann), ns.client));
  server.say(write(says(`${team}/Ann`, "max: still here?", "groupchat"), ns.client));
  await came(gateway, "max: still here?");
  assert.equal(senderOf(gateway, "max: still here?"), ann);
});

test("a room's archive tells about its room alone, and its ids are not those of the account's archive", async () => {
  const answer = rooms({
    jid: team,
    features: [ns.room, ns.archive, "muc_nonanonymous"],
    archive: (query, iq) =>
      archived(query, team, "1", says(`${ann}/phone`, "max: not of the room", "groupchat", itemOf(ann))) +
      archived(query, team, "2", says("other@rooms.maxclaw.test/Ann", "max: of another", "groupchat", itemOf(ann))) +
      archived(query, team, "3", says(`${team}/Ann`, "max: of the room", "groupchat", itemOf(ann))) +
      fin(iq),
  });
  const account = (element: Xml): string | undefined => {
    if (asks(element, "query", ns.info, bot) !== undefined)
      return resultOf(element, xml("query", ns.info, {}, xml("feature", ns.info, { var: ns.archive })));
    const query = asks(element, "query", ns.archive);
    if (query === undefined || element.attribute("to") !== undefined) return undefined;
    return archived(query, bot, "3", says(`${ann}/phone`, "to the account")) + fin(element);
  };
  await using server = await ScriptedXmpp.start({ answer: (element) => account(element) ?? answer(element) });
  const gateway = recordPublish();
  await using _running = startChannel(channelAt(server, { rooms: [team] }), gateway.publish);
  await came(gateway, "max: of the room");
  await came(gateway, "to the account");
  assert.deepEqual([...gateway.texts()].toSorted(), ["max: of the room", "to the account"]);
  assert.equal(new Set(gateway.messages.map(({ dedupId }) => dedupId)).size, 2);
});

test("an invitation into an address that is not a room changes nothing: its person is still heard and answered", async () => {
  await using server = await ScriptedXmpp.start();
  const gateway = recordPublish();
  const channel = channelAt(server);
  await using running = startChannel(channel, gateway.publish);
  await until("it is connected", () => running.connections() > 0);
  const invitation = xml("x", ns.invitation, { jid: ann, password: "no" });
  server.say(write(xml("message", ns.client, { from: eve, to: bot, type: "chat" }, invitation), ns.client));
  await until("it is looked at", () => server.elements.some((one) => asks(one, "query", ns.info, ann) !== undefined));
  server.say(write(says(`${ann}/phone`, "Do you hear me?"), ns.client));
  await came(gateway, "Do you hear me?");
  await channel.send(reply(ann, "Yes"), never);
  assert.ok(!server.elements.some((one) => one.attribute("to") === `${ann}/max`), "the bot enters no person");
});

test("a guest can bring the bot into a hundred rooms, and no more", async () => {
  const all = Array.from({ length: 102 }, (_, n) => `room${n}@rooms.evil.test`);
  const answer = rooms(...all.map((jid) => ({ jid })));
  await using server = await ScriptedXmpp.start({ answer });
  await using running = startChannel(channelAt(server), recordPublish().publish);
  await until("it is connected", () => running.connections() > 0);
  const entered = () => new Set(server.elements.flatMap((one) => roomEntered(one))).size;
  for (const jid of all.slice(0, 100))
    server.say(write(xml("message", ns.client, { from: eve, to: bot }, xml("x", ns.invitation, { jid })), ns.client));
  await until("it is in a hundred", () => entered() === 100, 20_000);
  for (const jid of all.slice(100))
    server.say(write(xml("message", ns.client, { from: eve, to: bot }, xml("x", ns.invitation, { jid })), ns.client));
  server.say(write(xml("iq", ns.client, { type: "get", id: "end", from: "maxclaw.test" }, xml("ping", ns.ping))));
  await until("all was read", () => server.elements.some((one) => one.attribute("id") === "end"));
  await until("the last was looked at", () =>
    all.slice(100).every((jid) => server.elements.some((one) => asks(one, "query", ns.info, jid) !== undefined)),
  );
  assert.equal(entered(), 100);
});

test("nobody is the owner by a nick, a resource, a copy, something forwarded, or a message that the archive would send", async () => {
  const answer = rooms({ jid: team, atEntry: [presence(`${team}/${ann}`, eve)] });
  await using server = await ScriptedXmpp.start({ answer });
  const gateway = recordPublish();
  await using _running = startChannel(channelAt(server, { rooms: [team] }), gateway.publish);
  await until("the bot enters", () => server.elements.some((one) => one.attribute("to") === `${team}/max`));
  const inner = xml("forwarded", ns.forward, {}, says(ann, "forged"));
  const looksLike = "аnn@maxclaw.test"; // Its first letter is Cyrillic.
  const tries: readonly Xml[] = [
    says(`${team}/${ann}`, "whispered"),
    says(`${team}/${ann}`, "max: by a nick", "groupchat"),
    says(`${eve}/${ann}`, "by a resource"),
    says(looksLike, "by a letter that looks the same"),
    xml("message", ns.client, { from: eve, to: bot }, xml("received", ns.carbons, {}, inner)),
    xml("message", ns.client, { from: eve, to: bot }, xml("sent", ns.carbons, {}, inner)),
    xml("message", ns.client, { from: eve, to: bot }, xml("result", ns.archive, { id: "1", queryid: "mam_1" }, inner)),
    xml("message", ns.client, { from: `${bot}.evil.test`, to: bot }, xml("received", ns.carbons, {}, inner)),
    says(eve, "with something forwarded", "chat", inner),
    says(eve, "with an address beside it", "chat", itemOf(ann)),
    says(eve, "the end"),
  ];
  for (const one of tries) server.say(write(one, ns.client));
  await came(gateway, "the end");
  const senders = Object.fromEntries(gateway.messages.map(({ content, senderId }) => [content, senderId]));
  assert.deepEqual(senders, {
    "max: by a nick": eve,
    "by a resource": eve,
    "by a letter that looks the same": looksLike,
    "with something forwarded": eve,
    "with an address beside it": eve,
    "the end": eve,
  });
});

function itemOf(jid: string): Xml {
  return xml("x", ns.roomUser, {}, xml("item", ns.roomUser, { jid }));
}

function attributesOf(message: Xml): Record<string, string | undefined> {
  return Object.fromEntries(["from", "to", "type", "id"].map((name) => [name, message.attribute(name)]));
}

function roomEntered(element: Xml): readonly string[] {
  const to = element.attribute("to") ?? "";
  return element.name === "presence" && to.endsWith("/max") ? [to] : [];
}
