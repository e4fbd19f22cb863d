import type { Imports, SetUp } from "../platform.js";
import { botToken, numericPerson, ownServer, whoMayTalk } from "../set-up.js";

export const telegramSetUp: SetUp = {
  fields: [
    botToken(
      {
        en: "In Telegram, write /newbot to @BotFather. At the end it shows the token.",
        zh: "在 Telegram 中给 @BotFather 发送 /newbot，最后会显示令牌。",
      },
      "https://t.me/BotFather",
      "The bot's token, from @BotFather",
    ),
    whoMayTalk,
    ownServer,
  ],
  person: numericPerson,
};

export const telegramImports: Imports = {
  keys: ["enabled", "token", "proxy", "apiRoot", "allowFrom"],
  ids: { prefixes: ["telegram", "tg", "user"], pattern: /^\d+$/ },
  fromOpenclaw: ({ botToken: token }, secret) => ({ token: secret(token) }),
  chatOf(written, kind = "direct") {
    const [, chatId, thread] = /^(-?\d+)(?::(?:topic:|thread:)?(\d+))?$/.exec(written) ?? [];
    if (chatId === undefined || !/^(?:direct|dm|group)$/.test(kind)) return undefined;
    return thread === undefined ? [chatId] : [chatId, thread];
  },
  directChatOf: (address) => /^(?:telegram:)?(\d+)$/.exec(address)?.[1],
};
