import { z } from "zod";
import { flag, ids, optionalAddress, optionalText } from "../../config/values.js";

/** QQ's app ids are numbers, and people write them as such. */
const appId = z.preprocess((value) => (typeof value === "number" ? String(value) : value), optionalText);

/** The part of the config that QQ has. `appId` to `webhookPath` are the Go maxclaw's. */
export const qq = z.strictObject({
  enabled: flag(false).describe("Connect to QQ as an official bot."),
  appId: appId.describe("The bot's AppID, from q.qq.com."),
  appSecret: optionalText.describe("The bot's AppSecret, from the same page."),
  accessToken: optionalText.describe("Instead of both: `AppID:AppSecret` as one text."),
  allowFrom: ids.describe(
    "Openids of who may talk to the bot, and not QQ numbers. Empty: strangers get a pairing code. `*`: anyone.",
  ),
  allowGroups: ids.describe(
    "Groups where it answers, such as `group-` and the group's openid. Empty: in any; else only in these.",
  ),
  receiveBy: z
    .enum(["websocket", "webhook"])
    .default("websocket")
    .describe("How messages come in: over a connection to QQ, or brought by QQ to a web address of yours."),
  wsUrl: optionalAddress.describe("The gateway to connect to. Without it: the one that QQ names."),
  listenAddr: optionalText.describe(
    "With `webhook`: where to listen, such as `127.0.0.1:18793`. Without it: the path `/hooks/qq` of the gateway's own server.",
  ),
  webhookPath: z
    .string()
    .trim()
    .refine((value) => value === "" || value.startsWith("/"), "a path that begins with /")
    .transform((value) => (value === "" ? undefined : value))
    .optional()
    .describe("The path there. Without it: `/hooks/qq`."),
  apiRoot: optionalAddress.describe("A proxy for QQ's API, or its sandbox. Without it: QQ itself."),
  tokenRoot: optionalAddress.describe("A proxy for the server that gives access tokens. Without it: QQ's own."),
});

export type QqSection = z.output<typeof qq>;

/** What people call the keys, in English and in Chinese. */
export const qqLabels: Readonly<Record<string, readonly [en: string, zh: string]>> = {
  enabled: ["Connect to QQ", "连接 QQ"],
  appId: ["Number of the bot", "机器人的编号"],
  appSecret: ["Secret of the bot", "机器人的密钥"],
  accessToken: ["Number and secret in one", "编号与密钥合写"],
  allowFrom: ["People who may write", "可以写消息的人"],
  allowGroups: ["Groups where it answers", "会回答的群"],
  receiveBy: ["How messages arrive", "消息如何到达"],
  wsUrl: ["Address of the gateway at QQ", "QQ 网关的地址"],
  listenAddr: ["Address where QQ brings messages", "QQ 送达消息的地址"],
  webhookPath: ["Path where QQ brings messages", "QQ 送达消息的路径"],
  apiRoot: ["Proxy to reach QQ", "访问 QQ 的代理"],
  tokenRoot: ["Proxy to log in at QQ", "登录 QQ 的代理"],
};

/** What the keys mean, in Chinese. */
export const qqMeanings: Readonly<Record<string, string>> = {
  enabled: "以官方机器人身份连接 QQ。",
  appId: "机器人的 AppID，来自 q.qq.com。",
  appSecret: "机器人的 AppSecret，在同一页面。",
  accessToken: "代替以上两项：写成一段文字 `AppID:AppSecret`。",
  allowFrom: "可以与机器人交谈的人的 openid，不是 QQ 号。留空：陌生人会收到配对码。`*`：任何人。",
  allowGroups: "机器人回答的群，写作 `group-` 加群的 openid。留空：任何群；否则仅限这些。",
  receiveBy: "消息如何到达：通过与 QQ 的连接，或由 QQ 送到您的网址。",
  wsUrl: "要连接的网关。未设置时用 QQ 给出的。",
  listenAddr: "使用 `webhook` 时的监听地址，例如 `127.0.0.1:18793`。未设置时用网关自己服务器的 `/hooks/qq`。",
  webhookPath: "该地址上的路径。未设置时为 `/hooks/qq`。",
  apiRoot: "QQ API 的代理或沙箱。未设置时直接访问 QQ。",
  tokenRoot: "发放访问令牌的服务器的代理。未设置时用 QQ 自己的。",
};
