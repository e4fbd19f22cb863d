import { z } from "zod";
import { flag, ids, optionalAddress, optionalText, whole } from "../../config/values.js";

/** The part of the config that Telegram has. */
export const telegram = z.strictObject({
  enabled: flag(false).describe("Connect to Telegram."),
  token: optionalText.describe("The bot's token, from @BotFather."),
  allowFrom: ids.describe("Ids of who may talk to the bot. Empty: strangers get a pairing code. `*`: anyone."),
  allowGroups: ids.describe("Ids of groups where it answers. Empty: in any group; else only in these."),
  proxy: optionalAddress.describe(
    "A proxy to reach Telegram, if it cannot be reached directly: `http://`, `https://`, `socks5://` or `socks5h://`.",
  ),
  apiRoot: optionalAddress.describe("A Bot API server of your own. Without it: Telegram's."),
  /** Telegram brings updates to `url`, which somebody passes on to `host` and `port`. Without both: it is polled. */
  webhook: z
    .strictObject({
      url: optionalAddress.describe(
        "Telegram brings new messages to this `https://` address. Without it the gateway asks for them.",
      ),
      secret: z
        .string()
        .trim()
        .regex(/^[\w-]{0,256}$/, "up to 256 letters, digits, _ or -")
        .transform((value) => (value === "" ? undefined : value))
        .optional()
        .describe("A password that Telegram sends with each message. It is needed beside the address."),
      host: z
        .string()
        .trim()
        .min(1, "an address such as 127.0.0.1")
        .default("127.0.0.1")
        .describe("The address of this machine where they arrive."),
      port: whole(0, 65_535, 18_792).describe("The port where they arrive."),
    })
    .refine(({ url, secret }) => url === undefined || secret !== undefined, "a `secret` besides the `url`")
    .prefault({}),
});

export type TelegramSection = z.output<typeof telegram>;

/** What people call the keys, in English and in Chinese. */
export const telegramLabels: Readonly<Record<string, readonly [en: string, zh: string]>> = {
  enabled: ["Connect to Telegram", "连接 Telegram"],
  token: ["Token of the bot", "机器人的令牌"],
  allowFrom: ["People who may write", "可以写消息的人"],
  allowGroups: ["Groups where it answers", "会回答的群组"],
  proxy: ["Proxy to reach Telegram", "访问 Telegram 的代理"],
  apiRoot: ["Bot API server of your own", "自己的 Bot API 服务器"],
  "webhook.url": ["Webhook: public address", "Webhook：公开地址"],
  "webhook.secret": ["Webhook: password", "Webhook：密码"],
  "webhook.host": ["Webhook: address of this machine", "Webhook：本机地址"],
  "webhook.port": ["Webhook: port of this machine", "Webhook：本机端口"],
};

/** What the keys mean, in Chinese. */
export const telegramMeanings: Readonly<Record<string, string>> = {
  enabled: "连接 Telegram。",
  token: "机器人的令牌，从 @BotFather 获得。",
  allowFrom: "可以与机器人交谈的人的 id。留空：陌生人会收到配对码。`*`：任何人。",
  allowGroups: "机器人回答的群组 id。留空：任何群组；否则仅限这些群组。",
  proxy: "无法直接访问 Telegram 时所用的代理：`http://`、`https://`、`socks5://` 或 `socks5h://`。",
  apiRoot: "您自己的 Bot API 服务器。未设置时用 Telegram 的。",
  "webhook.url": "Telegram 将新消息送到这个 `https://` 地址。未设置时由网关去取。",
  "webhook.secret": "Telegram 随每条消息发送的密码，设置地址时必须有它。",
  "webhook.host": "消息到达本机的地址。",
  "webhook.port": "消息到达的端口。",
};
