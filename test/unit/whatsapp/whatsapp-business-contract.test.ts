import { toWhatsAppMarkup } from "../../../src/channels/formatting/dialects/whatsapp-markup.js";
import { createWhatsAppBusinessChannel } from "../../../src/channels/whatsapp-business/whatsapp-business.js";
import { silentLog } from "../../../src/log.js";
import { testChannelContract } from "../../contracts/channel.js";
import { freePort } from "../../support/fakes/network/free-port.js";
import { FakeWhatsApp } from "../../support/fakes/whatsapp/fake-whatsapp.js";
import { farSideOver } from "../../support/worlds/channels/over-fake.js";

const quick = { busyRetryMs: 20, lookMs: 20, lookAgainMs: 5, traceMs: 100, log: silentLog };

/** Tokens, rights, and what is wrong with the account. */
const passingRefusals = [0, 190, 3, 10, 200, 131_005, 368, 131_031, 131_042, 131_045, 131_048, 133_010].map((code) => ({
  status: 400,
  body: { error: { code, message: "no" } },
}));

testChannelContract("WhatsApp Business", async () => {
  const fake = await FakeWhatsApp.start();
  const listenAddr = `127.0.0.1:${await freePort()}`;
  fake.line.open(`http://${listenAddr}/hooks/whatsapp-business`);
  const platform = { ...fake.platform, passingRefusals };
  const far = farSideOver({
    platform,
    open: (context, isWrong = false) => {
      const accessToken = isWrong ? "EAAwrongSecret0123456789012345" : fake.accessToken;
      return createWhatsAppBusinessChannel({ ...fake.config, ...quick, accessToken, listenAddr }, context);
    },
    secrets: [fake.accessToken, fake.appSecret, "EAAwrongSecret0123456789012345"],
    chats: ["15551230001", "15551230002"],
    write: (from, text) => void fake.write({ from, text }),
    longestMessage: 4096,
    lengthOf: (piece) => toWhatsAppMarkup(piece).length,
    press: (chatId, value) => void fake.press(chatId, value),
    // What is told is a message of its own, below the question.
    told: () => fake.chats.all.slice(2).map(({ text }) => ({ text, isLoud: true })),
    showsPresses: true,
  });
  return {
    ...far,
    previewed: () => fake.previewed,
    loseConnection: () => fake.server.failNext(platform.receiveCall, { kind: "cut", carriedOut: false }, 3),
    [Symbol.asyncDispose]: () => fake[Symbol.asyncDispose](),
  };
});
