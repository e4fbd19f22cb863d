import { problemSentence } from "../../util/words/problem-sentences.js";
import type { Platform } from "../platform.js";
import { type TelegramSection, telegram, telegramLabels, telegramMeanings } from "./section.js";
import { telegramImports, telegramSetUp } from "./set-up.js";

export const telegramPlatform: Platform<TelegramSection> = {
  words: { title: { en: "Telegram", zh: "Telegram" }, labels: telegramLabels, meanings: telegramMeanings },

  section: telegram,

  lacks: ({ token }) =>
    token === undefined ? problemSentence("channel_lacks", { name: "telegram", missing: "token" }) : undefined,

  shape: async () => (await import("./shape.js")).telegramShape,

  async open({ token, apiRoot, proxy, webhook }, { context, log }) {
    if (token === undefined) return {};
    const { createTelegramChannel } = await import("./telegram.js");
    const { url, secret, ...listen } = webhook;
    const pushed = url === undefined || secret === undefined ? undefined : { url, secret, ...listen };
    return {
      channel: createTelegramChannel(
        { token, apiRoot, proxy, webhook: pushed, commands: context.commands, log },
        context,
      ),
    };
  },

  async logIn({ token = "", apiRoot, proxy }, _scope, signal) {
    const [{ openApi, toGrammySignal }, { pollError }] = await Promise.all([
      import("./api.js"),
      import("./telegram-error.js"),
    ]);
    const { api } = await openApi({ token, apiRoot, proxy });
    try {
      return `@${(await api.getMe(toGrammySignal(signal))).username}`;
    } catch (error) {
      throw signal.aborted ? error : pollError(error, false);
    }
  },

  checkup: {
    unshared: ({ token, webhook }) => ({ token, "webhook.url": webhook.url }),
    listensOn: ({ webhook: { url, host, port } }) =>
      url === undefined ? undefined : { key: "webhook.port", host, port },
  },

  setUp: { ...telegramSetUp, canListen: ({ webhook }) => webhook.url === undefined },

  imports: telegramImports,
};
