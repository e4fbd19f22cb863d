import { FakeBridge } from "../../../fakes/whatsapp/fake-bridge.js";
import type { ChannelHarness, SendFault } from "../channel-harness.js";

/** People who write to a number that a bridge is logged in to, while the gateway listens. */
export async function openWhatsAppHarness(): Promise<ChannelHarness> {
  const fake = await FakeBridge.start("harness-bridge");
  const person = (id: string) => ({ senderId: id, chatId: id });
  const faults: readonly SendFault[] = ["cut-before", "cut-after", "timeout"];
  return {
    channel: "whatsapp",
    config: { bridgeUrl: fake.url, bridgeToken: fake.token },
    people: [person("15551230001"), person("15551230002")],
    hasVoice: false,
    forgetsUnheard: true,
    quotes: false,
    knowsRepeats: false,
    write: async ({ from, text = "" }) => fake.write(from.chatId, text),
    shown: (chatId) => fake.chats.in(chatId),
    showings: (chatId) => fake.chats.showings(chatId),
    faults,
    failNextSend(fault) {
      if (fault === "cut-before" || fault === "cut-after" || fault === "timeout") fake.failNext(fault);
    },
    loseConnection: () => fake.loseConnections(),
    [Symbol.asyncDispose]: () => fake[Symbol.asyncDispose](),
  };
}
