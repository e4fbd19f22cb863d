import type { Imports, SetUp } from "../platform.js";
import { whoMayTalk } from "../set-up.js";

/** People and groups, as QQ names them to a bot. */
export const openid = /^[0-9A-F]{32}$/i;

export const qqSetUp: SetUp = {
  fields: [
    {
      key: "appId",
      kind: "text",
      label: { en: "The bot's AppID", zh: "机器人的 AppID" },
      hint: { en: "At q.qq.com, on the page Development settings of your bot.", zh: "在 q.qq.com 的“开发设置”页面。" },
      asked: "The bot's AppID, from q.qq.com",
      link: "https://q.qq.com/",
    },
    {
      key: "appSecret",
      kind: "secret",
      label: { en: "The bot's AppSecret", zh: "机器人的 AppSecret" },
      hint: {
        en: "On the same page. QQ shows it once: copy it at once.",
        zh: "在同一页面。只显示一次，请立即复制。",
      },
      link: "https://q.qq.com/",
    },
    whoMayTalk,
  ],
  person: {
    label: "Your openid there, 32 letters and digits",
    pattern: "^[0-9A-Fa-f]{32}$",
    refusal: "not an openid. It has 32 letters and digits, and is not your QQ number.",
  },
};

export const qqImports: Imports = {
  otherNames: ["qqbot"],
  fromNanobot: ({ secret }) => ({ appSecret: secret }),
  keys: ["enabled", "appId", "appSecret", "wsUrl", "accessToken", "listenAddr", "webhookPath", "allowFrom"],
  loginKeys: ["appId", "accessToken"],
  // In guilds people have long numbers.
  ids: { prefixes: ["qqbot", "qq", "c2c", "user"], pattern: /^(?:[0-9A-F]{32}|\d{15,})$/i },
  fromOpenclaw: ({ appId, clientSecret }, secret) => ({ appId, appSecret: secret(clientSecret) }),
  chatOf(written, kind = "direct") {
    const [, before = kind, id = ""] = /^(?:(c2c|direct|dm|group|channel):)?([^:]+)$/.exec(written) ?? [];
    if (before === "group" || before === "channel") return [`${before}-${id}`];
    return id !== "" && /^(?:c2c|direct|dm)$/.test(before) ? [id] : undefined;
  },
  directChatOf: (address) => /^(?:qqbot:)?(?:c2c:)?([0-9A-F]{32})$/i.exec(address)?.[1],
};
