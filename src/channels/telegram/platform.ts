import type { Platform } from "../platform.js";
import { type TelegramSection, telegram } from "./section.js";

export const telegramPlatform: Platform<TelegramSection> = {
  section: telegram,

  lacks: ({ token }) => (token === undefined ? "channels.telegram is enabled but has no token" : undefined),

  shape: async () => (await import("./shape.js")).telegramShape,

  async open({ token, apiRoot, proxy, webhook }, { context, commands, log }) {
    if (token === undefined) return {};
    const { createTelegramChannel } = await import("./telegram.js");
    const { url, secret, ...listen } = webhook;
    const pushed = url === undefined || secret === undefined ? undefined : { url, secret, ...listen };
    return { channel: createTelegramChannel({ token, apiRoot, proxy, webhook: pushed, commands, log }, context) };
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
};
