import { toWhatsAppMarkup } from "../../../src/channels/formatting/dialects/whatsapp-markup.js";
import { createWhatsAppChannel } from "../../../src/channels/whatsapp/whatsapp.js";
import { silentLog } from "../../../src/log.js";
import { testChannelContract } from "../../contracts/channel.js";
import { FakeBridge } from "../../support/fakes/whatsapp/fake-bridge.js";
import { testContext } from "../../support/worlds/channels/over-fake.js";

const token = "bridge-secret";
const wrong = "another-bridge-secret";

// Messages are written while somebody listens: the bridge keeps none (docs/whatsapp.md).
testChannelContract("WhatsApp over a bridge", async () => {
  const fake = await FakeBridge.start(token);
  const open = (context = testContext(), bridgeToken = token) =>
    createWhatsAppChannel(
      { bridgeUrl: fake.url, bridgeToken, ownChats: new Set(), busyRetryMs: 20, reconnectMs: 0, log: silentLog },
      context,
    );
  return {
    open: (_cursor, actsAtOnce) => open(testContext({ actsAtOnce })),
    openWithWrongSecret: () => open(testContext(), wrong),
    secrets: [token, wrong],
    chats: ["15551230001", "15551230002"],
    write: (from, text) => void fake.write(from, text),
    shown: () => fake.chats.all.map(({ chatId, text }) => ({ chatId, text })),
    longestMessage: 4096,
    lengthOf: (piece) => toWhatsAppMarkup(piece).length,
    refuseNextSend: (how) =>
      fake.failNext(how === "for good" ? { error: "Error: bad jid" } : { error: "rate-overlimit", retryAfterMs: 1000 }),
    cutNextSend: () => fake.failNext("cut-before"),
    hangNextSend: () => fake.failNext("hang"),
    loseConnection: () => fake.server.loseConnections(),
    [Symbol.asyncDispose]: () => fake[Symbol.asyncDispose](),
  };
});
