import type { Imports, SetUp } from "../platform.js";
import { ownServer, whoMayTalk } from "../set-up.js";

const console = "https://open.feishu.cn/app";
/** People, as Feishu names them to an app. */
const openId = /^ou_[0-9a-f]{32}$/;

export const feishuSetUp: SetUp = {
  fields: [
    {
      key: "appId",
      kind: "text",
      label: { en: "The App ID (cli_…)", zh: "App ID（cli_…）" },
      hint: {
        en: "On the page Credentials & Basic Info of your app at open.feishu.cn, or open.larksuite.com for Lark.",
        zh: "在 open.feishu.cn 您的应用的“凭证与基础信息”页面；Lark 为 open.larksuite.com。",
      },
      asked: "The App ID (cli_…), from the page Credentials & Basic Info at open.feishu.cn/app",
      link: console,
    },
    {
      key: "appSecret",
      kind: "secret",
      label: { en: "The App Secret", zh: "App Secret" },
      hint: { en: "On the same page.", zh: "在同一页面。" },
      link: console,
    },
    {
      key: "domain",
      kind: "choice",
      label: { en: "Feishu or Lark", zh: "飞书或 Lark" },
      hint: { en: "feishu in China, lark elsewhere.", zh: "中国用 feishu，其他地区用 lark。" },
      choices: ["feishu", "lark"],
      isOptional: true,
    },
    whoMayTalk,
    {
      key: "encryptKey",
      kind: "secret",
      label: { en: "The Encrypt Key, for a webhook", zh: "Encrypt Key，用于 webhook" },
      hint: {
        en: "On the page Events & Callbacks → Encryption Strategy. Empty while messages come over a connection.",
        zh: "在“事件与回调 → 加密策略”页面。使用长连接时留空。",
      },
      link: console,
      isMore: true,
      isOptional: true,
    },
    ownServer,
  ],
  person: {
    label: "Your open_id there (ou_…), as the pairing code's list shows it",
    mayBegin: true,
    pattern: "^ou_[0-9a-f]{32}$",
    refusal: "not an open_id. It begins with ou_, and 32 letters and digits follow.",
  },
};

export const feishuImports: Imports = {
  keys: [
    ...["enabled", "appId", "appSecret", "verificationToken", "encryptKey", "listenAddr", "webhookPath", "allowFrom"],
    ...["receiveBy", "domain"],
  ],
  loginKeys: ["appId"],
  ids: { prefixes: ["feishu", "lark", "user", "open_id"], pattern: openId },
  fromOpenclaw: ({ appId, appSecret, encryptKey, verificationToken, domain, connectionMode }, secret) => ({
    appId: secret(appId),
    appSecret: secret(appSecret),
    encryptKey: secret(encryptKey),
    verificationToken: secret(verificationToken),
    ...(domain === "lark" ? { domain } : {}),
    ...(connectionMode === "webhook" ? { receiveBy: "webhook" } : {}),
  }),
  chatOf(written, kind = "direct") {
    const [, id, root] = /^((?:ou|oc)_[0-9a-f]{16,64})(?::(?:thread|topic):(om_\w+))?$/.exec(written) ?? [];
    if (id === undefined || !/^(?:direct|dm|group|channel)$/.test(kind)) return undefined;
    return root === undefined ? [id] : [id, root];
  },
  directChatOf: (address) => /^(?:(?:feishu|lark|user):)*(ou_[0-9a-f]{32})$/.exec(address)?.[1],
};
