import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { ns } from "../../../src/channels/xmpp/namespaces.js";
import { xml } from "../../../src/channels/xmpp/stream/xml.js";
import { XmppChannel } from "../../../src/channels/xmpp/xmpp.js";
import { ChannelError } from "../../../src/errors.js";
import { until } from "../../support/engine/engine-kit.js";
import { withoutProsody } from "../../support/fakes/xmpp/prosody.js";
import {
  failureOf,
  never,
  recordPublish,
  reply,
  startChannel,
  textsOf,
} from "../../support/worlds/channels/channel-kit.js";
import { testContext } from "../../support/worlds/channels/over-fake.js";
import { XmppServers, type XmppWorld } from "../../support/worlds/channels/xmpp/xmpp-world.js";

const servers = new XmppServers();
after(() => servers[Symbol.asyncDispose]());

describe("XMPP on a real server", { skip: withoutProsody() }, () => {
  test("what came while the gateway was down is read once, in order and page by page, and nothing before", async () => {
    await using world = await servers.world();
    const { ann, bob, bot } = world;
    const context = testContext();
    const first = recordPublish();
    const channel = world.channel({ pageSize: 3 }, context);
    await using running = startChannel(channel, first.publish);
    ann.write(bot, "before");
    await until("the first came", () => first.messages.length === 1);
    await running.stop();
    for (let n = 0; n < 8; n += 1) (n % 2 === 0 ? ann : bob).write(bot, `missed ${n}`);
    await Promise.all([ann.caughtUp(), bob.caughtUp()]);
    const second = recordPublish();
    await using _again = startChannel(world.channel({ pageSize: 3 }, context), second.publish);
    ann.write(bot, "live");
    await until("all came", () => second.messages.length >= 9);
    const missed = Array.from({ length: 8 }, (_, n) => `missed ${n}`);
    assert.deepEqual(
      second.texts().filter((text) => /[02468]$|live/.test(text)),
      [...missed.filter((_, n) => n % 2 === 0), "live"],
    );
    assert.deepEqual([...second.texts()].toSorted(), ["live", ...missed]);
    assert.equal(new Set([...first.messages, ...second.messages].map(({ dedupId }) => dedupId)).size, 10);
  });

  test("a message that is not stored yet comes again after a crash, with those behind it", async () => {
    await using world = await servers.world();
    const { ann, bob, bot } = world;
    const context = testContext();
    const crashed = recordPublish(async ({ content }) => {
      if (content === "stuck") await new Promise(() => undefined);
      return { status: "accepted" };
    });
    const running = startChannel(world.channel({}, context), crashed.publish);
    await until("it is connected", () => running.connections() > 0);
    ann.write(bot, "stuck");
    await until("it came", () => crashed.messages.length === 1);
    bob.write(bot, "stored");
    await until("both came", () => crashed.messages.length === 2);
    world.proxy.cut();
    const again = recordPublish();
    await using _second = startChannel(world.channel({}, context), again.publish);
    await until("both come again", () => again.messages.length === 2);
    assert.deepEqual(again.texts(), ["stuck", "stored"]);
    assert.deepEqual(
      again.messages.map(({ dedupId }) => dedupId),
      crashed.messages.map(({ dedupId }) => dedupId),
    );
  });

  test("a server that is killed loses no message, and a send with an unknown end is found in its archive", async () => {
    await using own = new XmppServers();
    await using world = await own.world();
    const { server, ann, bot } = world;
    const context = testContext({ sendTimeoutMs: 2000 });
    const channel = world.channel({}, context);
    const first = startChannel(channel, recordPublish().publish);
    await until("it is connected", () => first.connections() > 0);
    world.proxy.failNext({ kind: "hang", isTaken: true });
    const failure = await failureOf(channel.send(reply(ann.jid, "once"), never));
    assert.equal(failure.outcome, "unknown");
    await until("ann has it", () => ann.seen.length === 1);
    ann.write(bot, "still there?");
    await ann.caughtUp();
    await server.kill();
    assert.ok((await first.ended) instanceof ChannelError);
    await server.run();
    const again = recordPublish();
    await using _second = startChannel(channel, again.publish);
    await until("the message came", () => again.messages.length === 1);
    assert.deepEqual(again.texts(), ["still there?"]);
    const found = await channel.find(reply(ann.jid, "once"), Date.now(), never);
    assert.equal(found?.platformMessageId, ann.seen[0]?.id);
    assert.equal(await channel.find(reply(ann.jid, "x", { id: "out_9#1" }), Date.now(), never), undefined);
  });

  test("letters of several bytes are whole however the network cuts them, and control characters harm nothing", async () => {
    await using world = await servers.world();
    const { ann, bot } = world;
    const gateway = recordPublish();
    const channel = world.channel();
    await using _running = startChannel(channel, gateway.publish);
    const text = "汉字👩‍👩‍👧‍👦".repeat(4000);
    ann.write(bot, text);
    await until("it came", () => gateway.messages.length === 1);
    assert.equal(gateway.texts()[0], text);
    await channel.send(reply(ann.jid, 'a\u0000b\u001bc\ud800d & <e> "f"'), never);
    await until("ann has it", () => ann.seen.length === 1);
    assert.equal(ann.seen[0]?.text, 'abc\ufffdd & <e> "f"');
  });

  test("a copy for another device counts only from the own server, and what the account itself wrote is not answered", async () => {
    await using world = await servers.world();
    const { ann, bob, bot } = world;
    const gateway = recordPublish();
    await using running = startChannel(world.channel(), gateway.publish);
    await until("it is connected", () => running.connections() > 0);
    const inner = xml(
      "message",
      ns.client,
      { from: `${bob.jid}/x`, to: bot, type: "chat" },
      xml("body", ns.client, {}, "forged"),
    );
    const forwarded = xml("forwarded", ns.forward, {}, inner);
    for (const name of ["received", "sent"])
      ann.write(bot, "copy", { children: [xml(name, ns.carbons, {}, forwarded)] });
    ann.write(bot, "a page", { children: [xml("result", ns.archive, { id: "1", queryid: "1" }, forwarded)] });
    ann.write(bot, "encrypted", { children: [xml("encrypted", ns.omemo, {}, xml("payload", ns.omemo, {}, "x"))] });
    ann.write(bot, "honest");
    await until("the honest one came", () => gateway.texts().includes("honest"));
    assert.ok(!gateway.texts().includes("forged"));
    assert.deepEqual(
      gateway.messages.filter(({ senderId }) => senderId !== ann.jid),
      [],
    );
    assert.equal(gateway.messages.find(({ unreadable }) => unreadable !== undefined)?.content, "");
  });

  test("in a room an address counts and a nick does not, what was missed is read, and only who names the bot is answered", async () => {
    await using world = await servers.world();
    const { ann, bob, room } = world;
    const context = testContext();
    await enter(world, [
      ["Ann", ann],
      ["Bob", bob],
    ]);
    const gateway = recordPublish();
    const channel = world.channel({ rooms: [room] }, context);
    const running = startChannel(channel, gateway.publish);
    await until("the bot is in the room", () => ann.stanzas.some((one) => one.attribute("from") === `${room}/max`));
    ann.write(room, "max: hello", { type: "groupchat" });
    await until("the first came", () => gateway.messages.length === 1);
    bob.write(room, "nothing for you, Maxim", { type: "groupchat" });
    await until("both came", () => gateway.messages.length === 2);
    assert.deepEqual(
      gateway.messages.map(({ chatId, chatType, senderId, addressed }) => [chatId, chatType, senderId, addressed]),
      [
        [room, "group", ann.jid, true],
        [room, "group", bob.jid, false],
      ],
    );
    await channel.send(reply(room, "hello **Ann**"), never);
    await until("ann has it", () => ann.seen.some(({ text }) => text === "hello *Ann*"));
    await running.stop();
    ann.write(room, "@max are you there?", { type: "groupchat" });
    await ann.caughtUp();
    const again = recordPublish();
    await using _second = startChannel(world.channel({ rooms: [room] }, context), again.publish);
    await until("what was missed came", () => again.messages.length === 1);
    assert.deepEqual([again.texts()[0], again.messages[0]?.senderId], ["@max are you there?", ann.jid]);
  });

  test("a bot that was thrown out of a room refuses to write there, and says why", async () => {
    await using world = await servers.world();
    const { ann, room } = world;
    await enter(world, [["Ann", ann]]);
    const channel = world.channel({ rooms: [room] });
    await using _running = startChannel(channel, recordPublish().publish);
    await until("the bot is in the room", () => ann.stanzas.some((one) => one.attribute("from") === `${room}/max`));
    const admin = "http://jabber.org/protocol/muc#admin";
    const item = xml("item", admin, { nick: "max", role: "none" });
    await ann.session.ask("set", room, xml("query", admin, {}, item), never);
    // The bot may not have heard of it when it writes.
    const early = await failureOf(channel.send(reply(room, "still here?"), never));
    assert.deepEqual([early.outcome, early.retryable, early.isChatClosed], ["refused", false, true]);
    const failure = await failureOf(channel.send(reply(room, "still here"), never));
    assert.deepEqual([failure.outcome, failure.retryable, failure.isChatClosed], ["refused", false, true]);
  });

  test("a bot that was banned refuses to write there, says why, and does not come back by itself", async () => {
    await using world = await servers.world();
    const { ann, room } = world;
    await enter(world, [["Ann", ann]]);
    const channel = world.channel({ rooms: [room], roomMs: 50 });
    await using _running = startChannel(channel, recordPublish().publish);
    await until("the bot is in the room", () => ann.stanzas.some((one) => one.attribute("from") === `${room}/max`));
    const admin = "http://jabber.org/protocol/muc#admin";
    const item = xml("item", admin, { jid: world.bot, affiliation: "outcast" });
    await ann.session.ask("set", room, xml("query", admin, {}, item), never);
    await ann.caughtUp();
    let failure: ChannelError | undefined;
    await until("it knows", async () => {
      failure = await failureOf(channel.send(reply(room, "still here"), never));
      return failure.isChatClosed;
    });
    assert.match(failure?.message ?? "", /has banned the bot/);
    assert.equal(failure?.retryable, false);
    const come = ann.stanzas.filter((one) => one.name === "presence" && one.attribute("from") === `${room}/max`);
    assert.deepEqual(
      come.map((one) => one.attribute("type")),
      [undefined, "unavailable"],
    );
  });

  test("without an archive what the server holds comes once, and a send with an unknown end is not found", async () => {
    await using own = new XmppServers({ without: ["mam"] });
    await using world = await own.world();
    const { ann, bot } = world;
    const context = testContext({ sendTimeoutMs: 2000 });
    const first = recordPublish();
    const channel = world.channel({}, context);
    const running = startChannel(channel, first.publish);
    ann.write(bot, "live");
    await until("the first came", () => first.messages.length === 1);
    world.proxy.failNext({ kind: "hang", isTaken: true });
    const failure = await failureOf(channel.send(reply(ann.jid, "once"), never));
    assert.equal(failure.outcome, "unknown");
    assert.equal(await channel.find(reply(ann.jid, "once"), Date.now(), never), undefined);
    await running.stop();
    ann.write(bot, "held 1");
    ann.write(bot, "held 2");
    await ann.caughtUp();
    const second = recordPublish();
    await using _again = startChannel(world.channel({}, context), second.publish);
    ann.write(bot, "live again");
    // The connection that hung has confirmed nothing: what it brought comes again, and is known by its id.
    await until("all came", () => second.messages.length === 4);
    assert.deepEqual(second.texts(), ["live", "held 1", "held 2", "live again"]);
    assert.equal(second.messages[0]?.dedupId, first.messages[0]?.dedupId);
  });

  test("a server that stands still with its connection open is noticed, and the run ends", async () => {
    await using own = new XmppServers();
    await using world = await own.world();
    const channel = world.channel({ spans: { pingMs: 100, silentMs: 600 } });
    const running = startChannel(channel, recordPublish().publish);
    await until("it is connected", () => running.connections() > 5);
    world.server.freeze(true);
    const end = await running.ended;
    world.server.freeze(false);
    assert.ok(end instanceof ChannelError);
    assert.match(end.message, /Nothing was heard from the XMPP server/);
    assert.equal(end.retryable, true);
  });

  test("a wrong password is refused by SCRAM and by PLAIN, for good, and stands in no error", async () => {
    for (const needsTls of [false, true]) {
      await using own = new XmppServers({ needsTls });
      await using world = await own.world();
      const { port, certificate } = world.server;
      const service = `xmpp://127.0.0.1:${port}`;
      const login = { ...world.login("not-the-password"), service, ...(needsTls ? { ca: certificate } : {}) };
      const channel = new XmppChannel(world.options({ login }), testContext());
      const failure = await failureOf(channel.send(reply(world.ann.jid, "x"), never));
      assert.match(failure.message, /refused the login.*channels\.xmpp\.password/);
      assert.equal(failure.retryable, false);
      assert.ok(!textsOf(failure).includes("not-the-password"));
      const running = startChannel(channel, recordPublish().publish);
      const end = await running.ended;
      assert.ok(end instanceof ChannelError && !end.retryable);
    }
  });

  test("an invitation counts from whom the list names, and so does the wish to see the bot", async () => {
    await using world = await servers.world();
    const { ann, bob, bot, room } = world;
    await enter(world, [["Ann", ann]]);
    const channel = world.channel({ allowFrom: [ann.jid] });
    await using running = startChannel(channel, recordPublish().publish);
    await until("it is connected", () => running.connections() > 0);
    const invite = xml("x", ns.invitation, { jid: room });
    bob.session.send(xml("message", ns.client, { to: bot }, xml("x", ns.invitation, { jid: `not-${room}` })));
    bob.session.send(xml("presence", ns.client, { to: bot, type: "subscribe" }));
    await bob.caughtUp();
    await ann.session.ask("get", undefined, xml("query", "jabber:iq:roster"), never);
    ann.session.send(xml("presence", ns.client, { to: bot, type: "subscribe" }));
    ann.session.send(xml("message", ns.client, { to: bot }, invite));
    await until("the bot comes", () => ann.stanzas.some((one) => one.attribute("from") === `${room}/max`));
    await until("ann may see it", () => ann.stanzas.some((one) => one.attribute("type") === "subscribed"));
    await bob.caughtUp();
    assert.ok(!bob.stanzas.some((one) => one.attribute("type") === "subscribed"));
  });

  test("TLS is asked for, its certificate is checked, and a WebSocket works as well", async () => {
    await using own = new XmppServers({ needsTls: true });
    await using world = await own.world();
    const { server } = world;
    const services = [`xmpp://127.0.0.1:${server.port}`, `xmpps://127.0.0.1:${server.tlsPort}`];
    await using plain = new XmppServers();
    await using web = await plain.world();
    for (const service of services) {
      const login = { ...world.login(), service, ca: server.certificate };
      await new XmppChannel(world.options({ login }), testContext()).send(reply(world.ann.jid, service), never);
      const wrong = { ...login, ca: web.server.certificate };
      const failure = await failureOf(
        new XmppChannel(world.options({ login: wrong }), testContext()).send(reply(world.ann.jid, "x"), never),
      );
      assert.match(failure.message, /certificate is not valid/);
    }
    await until("both came", () => world.ann.seen.length === 2);
    const login = { ...web.login(), service: `ws://127.0.0.1:${web.server.httpPort}/xmpp-websocket` };
    await new XmppChannel(web.options({ login }), testContext()).send(reply(web.ann.jid, "by WebSocket"), never);
    await until("it came", () => web.ann.seen.length === 1);
  });

  test("a receipt leaves once the message is stored, and the sign of writing is shown", async () => {
    await using world = await servers.world();
    const { ann, bot } = world;
    const channel = world.channel();
    await using running = startChannel(channel, recordPublish().publish);
    await until("it is connected", () => running.connections() > 0);
    const asked = [xml("request", ns.receipts), xml("markable", ns.markers)];
    const id = ann.write(bot, "did you get it?", { children: asked });
    const has = (name: string, space: string): boolean =>
      ann.stanzas.some((one) => one.child(name, space)?.attribute("id") === id);
    await until("both signs came", () => has("received", ns.receipts) && has("displayed", ns.markers));
    await channel.showTyping(ann.jid, undefined, never);
    await until("the sign is shown", () => ann.stanzas.some((one) => one.child("composing", ns.states) !== undefined));
  });
});

async function enter(
  { room }: XmppWorld,
  people: readonly (readonly [nick: string, person: XmppWorld["ann"]])[],
): Promise<void> {
  for (const [nick, person] of people) {
    person.enter(room, nick);
    await until(`${nick} is in`, () => person.stanzas.some((one) => one.attribute("from") === `${room}/${nick}`));
  }
}
