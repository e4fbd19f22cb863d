import { freePort } from "../../../fakes/network/free-port.js";
import { FakeWhatsApp } from "../../../fakes/whatsapp/fake-whatsapp.js";
import type { ChannelHarness } from "../channel-harness.js";
import { harnessOver } from "../over-fake.js";

/** People who write to a business number. */
export async function openWhatsAppBusinessHarness(): Promise<ChannelHarness> {
  const fake = await FakeWhatsApp.start();
  const listenAddr = `127.0.0.1:${await freePort()}`;
  fake.line.open(`http://${listenAddr}/hooks/whatsapp-business`);
  const person = (id: string) => ({ senderId: id, chatId: id });
  return {
    ...harnessOver(fake.platform),
    channel: "whatsapp-business",
    config: { ...fake.config, listenAddr },
    people: [person("15551230001"), person("15551230002")],
    hasVoice: true,
    quotesById: true,
    // It gives no word on a repeat, but it tells by a status that it has a message.
    knowsRepeats: false,
    async write({ from, text, files, answers }) {
      const quoted = fake.chats.in(from.chatId).find((shown) => shown.text === answers?.text);
      return fake.write({
        from: from.chatId,
        text,
        files,
        answers: quoted === undefined ? undefined : `wamid.${quoted.id}`,
      });
    },
    // A webhook has no connection to lose: what is on its way is cut, and comes again.
    loseConnection: () => fake.line.cutNext(),
    [Symbol.asyncDispose]: () => fake[Symbol.asyncDispose](),
  };
}
