import type { Imports, SetUp } from "../platform.js";
import { whoMayTalk } from "../set-up.js";

const console = "https://developers.facebook.com/apps";

export const whatsappBusinessSetUp: SetUp = {
  fields: [
    {
      key: "accessToken",
      kind: "secret",
      label: { en: "The access token", zh: "访问令牌" },
      hint: {
        en: "Of a system user in the business settings, with the right whatsapp_business_messaging. The token on the page API Setup ends after a day.",
        zh: "来自商务设置中的系统用户，需要 whatsapp_business_messaging 权限。API Setup 页面上的令牌一天后失效。",
      },
      link: "https://business.facebook.com/settings/system-users",
      asked: "The access token of a system user, with the right whatsapp_business_messaging",
    },
    {
      key: "phoneNumberId",
      kind: "text",
      label: { en: "The phone number id", zh: "电话号码 id" },
      hint: {
        en: "On the page WhatsApp → API Setup of your app, below the number. It is not the number itself.",
        zh: "在您的应用的 WhatsApp → API Setup 页面，号码下方。它不是号码本身。",
      },
      link: console,
    },
    {
      key: "appSecret",
      kind: "secret",
      label: { en: "The app secret", zh: "应用密钥" },
      hint: { en: "On the page App settings → Basic of your app.", zh: "在您的应用的 App settings → Basic 页面。" },
      link: console,
    },
    {
      key: "verifyToken",
      kind: "secret",
      label: { en: "A verify token that you make up", zh: "您自己编的验证令牌" },
      hint: {
        en: "Enter the same one on the page WhatsApp → Configuration, beside the address that ends in /hooks/whatsapp-business. Subscribe to “messages” there.",
        zh: "在 WhatsApp → Configuration 页面填写同一个，地址以 /hooks/whatsapp-business 结尾。请在那里订阅“messages”。",
      },
      link: console,
    },
    whoMayTalk,
    {
      key: "listenAddr",
      kind: "text",
      label: { en: "Where messages arrive", zh: "消息到达的地址" },
      hint: {
        en: "Such as 127.0.0.1:18794. Empty: the gateway's own address.",
        zh: "例如 127.0.0.1:18794。留空：网关自己的地址。",
      },
      isMore: true,
    },
    {
      key: "template",
      kind: "text",
      label: { en: "A template for late messages", zh: "用于迟到消息的模板" },
      hint: {
        en: "An approved template with one variable. It carries messages to people who last wrote more than 24 hours ago.",
        zh: "已批准、带一个变量的模板。对方超过 24 小时没有写消息时用它发送。",
      },
      isMore: true,
    },
  ],
  person: {
    label: "Your phone number, with the country",
    pattern: "^\\d{6,20}$",
    refusal: "not a phone number as WhatsApp has it. It is digits alone with the country first, such as 491701234567.",
  },
};

export const whatsappBusinessImports: Imports = {
  keys: [],
  loginKeys: ["accessToken"],
  ids: { prefixes: ["whatsapp-business", "whatsapp"], pattern: /^\d+$/ },
};
