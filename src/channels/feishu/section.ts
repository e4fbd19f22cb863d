import { z } from "zod";
import { flag, ids, optionalAddress, optionalText } from "../../config/values.js";

/** The part of the config that Feishu and Lark have. `appId` to `webhookPath` are the Go maxclaw's. */
export const feishu = z.strictObject({
  enabled: flag(false).describe("Connect to Feishu or Lark."),
  appId: optionalText.describe("The App ID, `cli_…`, from the page Credentials & Basic Info of the app."),
  appSecret: optionalText.describe("The App Secret, from the same page."),
  verificationToken: optionalText.describe(
    "The Verification Token, from the page Events & Callbacks → Encryption Strategy. A webhook needs it, or `encryptKey`.",
  ),
  encryptKey: optionalText.describe(
    "The Encrypt Key, from the same page. With it each request of a webhook is signed and encrypted.",
  ),
  allowFrom: ids.describe(
    "Ids of who may talk to the bot, such as `ou_7d8a6e6df7621556ce0d21922b676706`. Empty: strangers get a pairing code. `*`: anyone.",
  ),
  allowGroups: ids.describe(
    "Ids of groups where it answers, such as `oc_5ad11d72b830411d72b836c20`. Empty: in any it is added to.",
  ),
  receiveBy: z
    .enum(["connection", "webhook"])
    .optional()
    .describe(
      "How messages come in: over a connection to Feishu, or brought by Feishu to a web address of yours. Without it: a webhook where `listenAddr` is set.",
    ),
  listenAddr: optionalText.describe(
    "Where a webhook listens, such as `127.0.0.1:18792`. Without it: `/hooks/feishu` of the gateway's own server.",
  ),
  webhookPath: z
    .string()
    .trim()
    .regex(/^(?:\/[\w./-]*)?$/, "a path such as /feishu/events")
    .transform((value) => (value === "" ? undefined : value))
    .optional()
    .describe("The path at that address. Without it: `/hooks/feishu`."),
  domain: z
    .enum(["feishu", "lark"])
    .default("feishu")
    .describe("`feishu` (open.feishu.cn) in China, `lark` (open.larksuite.com) elsewhere."),
  apiRoot: optionalAddress.describe("A proxy for the API, or a server of your own. Without it: that of `domain`."),
});

export type FeishuSection = z.output<typeof feishu>;

/** What people call the keys, in English and in Chinese. */
export const feishuLabels: Readonly<Record<string, readonly [en: string, zh: string]>> = {
  enabled: ["Connect to Feishu", "连接飞书"],
  appId: ["Number of the app", "应用的编号"],
  appSecret: ["Secret of the app", "应用的密钥"],
  verificationToken: ["Token that events carry", "事件携带的令牌"],
  encryptKey: ["Key that encrypts events", "加密事件的密钥"],
  allowFrom: ["People who may write", "可以写消息的人"],
  allowGroups: ["Groups where it answers", "会回答的群"],
  receiveBy: ["How messages arrive", "消息如何到达"],
  listenAddr: ["Address where Feishu brings messages", "飞书送达消息的地址"],
  webhookPath: ["Path where Feishu brings messages", "飞书送达消息的路径"],
  domain: ["Feishu or Lark", "飞书或 Lark"],
  apiRoot: ["Proxy to reach Feishu", "访问飞书的代理"],
};

/** What the keys mean, in Chinese. */
export const feishuMeanings: Readonly<Record<string, string>> = {
  enabled: "连接飞书或 Lark。",
  appId: "App ID `cli_…`，来自应用的“凭证与基础信息”页面。",
  appSecret: "App Secret，在同一页面。",
  verificationToken: "Verification Token，来自“事件与回调 → 加密策略”页面。使用 webhook 时需要它或 `encryptKey`。",
  encryptKey: "Encrypt Key，在同一页面。设置后，webhook 的每个请求都会签名并加密。",
  allowFrom:
    "可以与机器人交谈的人的 id，例如 `ou_7d8a6e6df7621556ce0d21922b676706`。留空：陌生人会收到配对码。`*`：任何人。",
  allowGroups: "机器人回答的群 id，例如 `oc_5ad11d72b830411d72b836c20`。留空：任何加入的群。",
  receiveBy: "消息如何到达：通过与飞书的长连接，或由飞书送到您的网址。未设置时，有 `listenAddr` 则为 webhook。",
  listenAddr: "使用 `webhook` 时的监听地址，例如 `127.0.0.1:18792`。未设置时用网关自己服务器的 `/hooks/feishu`。",
  webhookPath: "该地址上的路径。未设置时为 `/hooks/feishu`。",
  domain: "中国用 `feishu`（open.feishu.cn），其他地区用 `lark`（open.larksuite.com）。",
  apiRoot: "API 的代理，或自己的服务器。未设置时用 `domain` 对应的地址。",
};
