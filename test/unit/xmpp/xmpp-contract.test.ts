import { after } from "node:test";
import { lengthOf, longestText } from "../../../src/channels/xmpp/shape.js";
import { XmppChannel } from "../../../src/channels/xmpp/xmpp.js";
import { testChannelContract } from "../../contracts/channel.js";
import { withoutProsody, xmppPassword } from "../../support/fakes/xmpp/prosody.js";
import { testContext } from "../../support/worlds/channels/over-fake.js";
import { XmppServers } from "../../support/worlds/channels/xmpp/xmpp-world.js";

const servers = new XmppServers();
after(() => servers[Symbol.asyncDispose]());

testChannelContract(
  "xmpp",
  async () => {
    const world = await servers.world();
    const { ann, bob, proxy, bot } = world;
    const personOf = (chatId: string) => (chatId === ann.jid ? ann : bob);
    return {
      open(cursor, actsAtOnce) {
        const channel = world.channel({}, testContext({ ...(cursor === undefined ? {} : { cursor }), actsAtOnce }));
        const send = channel.send.bind(channel);
        // The server has it before people's programs have read it.
        channel.send = async (message, signal) => {
          const receipt = await send(message, signal);
          await Promise.all([ann.caughtUp(), bob.caughtUp()]);
          return receipt;
        };
        return channel;
      },
      openWithWrongSecret: () =>
        new XmppChannel(world.options({ login: world.login("wrong-secret-word") }), testContext()),
      secrets: [xmppPassword, "wrong-secret-word"],
      chats: [ann.jid, bob.jid],
      write: (chatId, text) => void personOf(chatId).write(bot, text),
      shown: () => [ann, bob].flatMap((person) => person.seen.map(({ text }) => ({ chatId: person.jid, text }))),
      longestMessage: longestText,
      lengthOf,
      refuseNextSend: (how) =>
        proxy.failNext({
          kind: "refuse",
          ...(how === "for good"
            ? { type: "cancel", condition: "service-unavailable" }
            : { type: "wait", condition: "resource-constraint" }),
        }),
      cutNextSend: () => proxy.failNext({ kind: "cut", isTaken: false }),
      hangNextSend: () => proxy.failNext({ kind: "hang", isTaken: false }),
      loseConnection: () => proxy.cut(),
      [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
    };
  },
  withoutProsody(),
);
