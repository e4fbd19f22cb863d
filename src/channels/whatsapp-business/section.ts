import { z } from "zod";
import { flag, ids, optionalAddress, optionalText } from "../../config/values.js";

/** People write numbers as `+49 170 123-45`; WhatsApp has the digits alone. */
const phoneNumbers = ids.transform((list) =>
  list.map((one) => (/^[+\d\s().-]+$/.test(one) ? one.replace(/\D/g, "") : one)),
);

/** A business number by Meta's own interface. */
export const whatsappBusiness = z.strictObject({
  enabled: flag(false).describe("Connect to the business number."),
  phoneNumberId: optionalText.describe(
    "The id of the business number, from the page API Setup. It is not the number itself.",
  ),
  accessToken: optionalText.describe(
    "The token of a system user with the right `whatsapp_business_messaging`. The one on the page API Setup ends after a day.",
  ),
  appSecret: optionalText.describe("The app secret, from the page App settings → Basic. Messages are signed with it."),
  verifyToken: optionalText.describe(
    "A password that you make up. Meta shows it once, when you enter the webhook's address.",
  ),
  allowFrom: phoneNumbers.describe(
    "Phone numbers of who may talk to the assistant, with the country. Empty: strangers get a pairing code. `*`: anyone.",
  ),
  listenAddr: optionalText.describe(
    "Where messages arrive, such as `127.0.0.1:18794`. Without it: `/hooks/whatsapp-business` of the gateway's own address.",
  ),
  webhookPath: z
    .string()
    .trim()
    .regex(/^(?:\/[\w./-]*)?$/, "a path such as /whatsapp")
    .transform((value) => (value === "" ? undefined : value))
    .optional()
    .describe("The path at that address. Without it: `/hooks/whatsapp-business`."),
  template: optionalText.describe(
    "The name of an approved template with one variable in its text. It carries messages to people who last wrote more than 24 hours ago.",
  ),
  templateLanguage: z
    .string()
    .trim()
    .min(2, "a language such as en or zh_CN")
    .default("en")
    .describe("The template's language."),
  apiRoot: optionalAddress.describe(
    "A proxy for Meta's API, with the version. Without it: `https://graph.facebook.com/v24.0`.",
  ),
});

export type WhatsAppBusinessSection = z.output<typeof whatsappBusiness>;

export const whatsappBusinessLabels: Readonly<Record<string, readonly [en: string, zh: string]>> = {
  enabled: ["Connect to WhatsApp Business", "连接 WhatsApp Business"],
  phoneNumberId: ["Business number, as Meta counts it", "商业号码在 Meta 的编号"],
  accessToken: ["Token of the system user", "系统用户的令牌"],
  appSecret: ["Secret of the app", "应用的密钥"],
  verifyToken: ["Password of the webhook", "Webhook 的密码"],
  allowFrom: ["People who may write", "可以写消息的人"],
  listenAddr: ["Address where messages arrive", "消息到达的地址"],
  webhookPath: ["Path where messages arrive", "消息到达的路径"],
  template: ["Template for late messages", "用于迟到消息的模板"],
  templateLanguage: ["Language of that template", "模板的语言"],
  apiRoot: ["Proxy to reach Meta", "访问 Meta 的代理"],
};

/** What the keys mean, in Chinese. */
export const whatsappBusinessMeanings: Readonly<Record<string, string>> = {
  enabled: "连接企业号码。",
  phoneNumberId: "企业号码的 id，来自 API Setup 页面。它不是号码本身。",
  accessToken: "系统用户的令牌，需要 `whatsapp_business_messaging` 权限。API Setup 页面上的令牌一天后失效。",
  appSecret: "应用密钥，来自 App settings → Basic 页面。消息用它签名。",
  verifyToken: "您自己编的密码。您填写 webhook 地址时，Meta 会出示一次。",
  allowFrom: "可以与助手交谈的电话号码，带国家代码。留空：陌生人会收到配对码。`*`：任何人。",
  listenAddr: "消息到达的地址，例如 `127.0.0.1:18794`。未设置时用网关自己地址的 `/hooks/whatsapp-business`。",
  webhookPath: "该地址上的路径。未设置时为 `/hooks/whatsapp-business`。",
  template: "已批准的模板名称，正文中有一个变量。对方超过 24 小时没有写消息时用它发送。",
  templateLanguage: "模板的语言。",
  apiRoot: "Meta 接口的代理，带版本。未设置时为 `https://graph.facebook.com/v24.0`。",
};
