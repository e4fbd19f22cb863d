import { asAccount, contextFor } from "../../../src/channels/account.js";
import type { ChannelContext } from "../../../src/channels/channel.js";
import { toTelegramHtml } from "../../../src/channels/formatting/dialects/telegram-html.js";
import { createTelegramChannel } from "../../../src/channels/telegram/telegram.js";
import { silentLog } from "../../../src/log.js";
import type { FarSide } from "../../contracts/channel/far-side.js";
import { testChannelContract } from "../../contracts/channel.js";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { parseTelegramHtml } from "../../support/rules/telegram-entities.js";
import { testContext } from "../../support/worlds/channels/over-fake.js";

/** `name`: the channel's. */
async function openTelegram(name = "telegram"): Promise<FarSide> {
  const telegram = await startFakeTelegram({ token: "4242:contract-secret" });
  const open = (
    token: string,
    cursor: (name: string) => Promise<string | undefined> = async () => undefined,
    more: Partial<ChannelContext> = {},
  ) => {
    const options = { token, apiRoot: telegram.url, pollTimeoutSeconds: 0.2, busyRetryMs: 20, log: silentLog };
    const context = { cursor, sendTimeoutMs: 1000, ...more };
    if (name === "telegram") return createTelegramChannel(options, context);
    const account = { platform: "telegram", name };
    return asAccount(createTelegramChannel(options, contextFor(account, testContext(context))), account);
  };
  const newest = (chatId: string) => {
    const sent = telegram.sent.findLast((message) => message.chatId === chatId);
    return telegram.edited.findLast(({ messageId }) => messageId === sent?.messageId) ?? sent;
  };
  return {
    open: (cursor, actsAtOnce) => open(telegram.token, cursor, { actsAtOnce }),
    openWithWrongSecret: () => open("4242:wrong-secret"),
    secrets: ["contract-secret", "wrong-secret"],
    chats: ["42", "43"],
    write: (chatId, text) => void telegram.pushText({ chatId, userId: chatId, text }),
    shown: () => telegram.sent.map(({ chatId, text }) => ({ chatId, text })),
    previewed: () => telegram.previewed,
    longestMessage: 4096,
    lengthOf(piece) {
      const parsed = parseTelegramHtml(toTelegramHtml(piece));
      return "text" in parsed ? parsed.text.length : Number.POSITIVE_INFINITY;
    },
    refuseNextSend: (how) =>
      telegram.failNext(
        how === "for good"
          ? { method: "sendMessage", status: 403 }
          : { method: "sendMessage", status: 429, retryAfter: 1 },
      ),
    passingRefusals: [401, 404].map((status) => () => telegram.failNext({ method: "sendMessage", status })),
    cutNextSend: () => telegram.cutNext({ method: "sendMessage", when: "before" }),
    hangNextSend: () => telegram.hangNext({ method: "sendMessage" }),
    buttons: {
      open: (press) => open(telegram.token, undefined, { press }),
      below: (chatId) =>
        newest(chatId)
          ?.buttons?.flat()
          .map(({ text }) => text) ?? [],
      text: (chatId) => newest(chatId)?.text ?? "",
      press: (chatId, label) =>
        void telegram.pushPress({ messageId: newest(chatId)?.messageId ?? 0, label, userId: chatId }),
      told: () => telegram.toasts.map(({ text, isAlert }) => ({ text, isLoud: isAlert })),
      failNextEdit: () => telegram.failNext({ method: "editMessageText", status: 400 }),
    },
    loseConnection: () => telegram.cutNext({ method: "getUpdates", when: "before" }),
    [Symbol.asyncDispose]: () => telegram.stop(),
  };
}

testChannelContract("telegram", () => openTelegram());
testChannelContract("telegram-work", () => openTelegram("telegram-work"));
