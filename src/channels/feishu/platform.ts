import { findingSentence } from "../../util/words/finding-sentences.js";
import { problemSentence } from "../../util/words/problem-sentences.js";
import type { Platform } from "../platform.js";
import { parseListenAddr } from "../wire/webhook.js";
import { type FeishuSection, feishu, feishuLabels, feishuMeanings } from "./section.js";
import { feishuImports, feishuSetUp } from "./set-up.js";

const roots = { feishu: "https://open.feishu.cn", lark: "https://open.larksuite.com" } as const;

/** The Go maxclaw knew no connection: a section of it has an address, and is taken as it was meant there. */
function isByWebhook({ receiveBy, listenAddr }: FeishuSection): boolean {
  return receiveBy === undefined ? listenAddr !== undefined : receiveBy === "webhook";
}

function rootOf({ apiRoot, domain }: FeishuSection): string {
  return apiRoot ?? roots[domain];
}

export const feishuPlatform: Platform<FeishuSection> = {
  words: { title: { en: "Feishu / Lark", zh: "飞书 / Lark" }, labels: feishuLabels, meanings: feishuMeanings },

  section: feishu,

  lacks(section) {
    const { appId, appSecret, encryptKey, verificationToken } = section;
    if (appId === undefined) return problemSentence("channel_lacks", { name: "feishu", missing: "appId" });
    if (appSecret === undefined) return problemSentence("channel_lacks", { name: "feishu", missing: "appSecret" });
    return isByWebhook(section) && encryptKey === undefined && verificationToken === undefined
      ? "channels.feishu listens for messages and has no encryptKey and no verificationToken, so that anybody could send it some. Set one of them, or receiveBy to connection"
      : undefined;
  },

  shape: async () => (await import("./shape.js")).feishuShape,

  async open(section, { context, log }) {
    const { appId, appSecret, encryptKey, verificationToken, listenAddr, webhookPath: path } = section;
    if (appId === undefined || appSecret === undefined || feishuPlatform.lacks?.(section) !== undefined) return {};
    const { createFeishuChannel } = await import("./feishu.js");
    const webhook = isByWebhook(section) ? { listenAddr, path } : undefined;
    const login = { appId, appSecret, apiRoot: rootOf(section), encryptKey, verificationToken };
    return { channel: createFeishuChannel({ ...login, webhook, log }, context) };
  },

  async logIn(section, _scope, signal) {
    const { Account } = await import("./account.js");
    const { appId = "", appSecret = "" } = section;
    return (await new Account({ appId, appSecret, apiRoot: rootOf(section) }).whoAmI(signal)).name;
  },

  checkup: {
    unshared: ({ appId }) => ({ appId }),
    listensOn(section) {
      const where = section.listenAddr === undefined ? undefined : parseListenAddr(section.listenAddr);
      return isByWebhook(section) && where !== undefined ? { key: "listenAddr", ...where } : undefined;
    },
    risks: (section) =>
      isByWebhook(section) && section.encryptKey === undefined
        ? [
            {
              about: "access",
              level: "warn",
              found: findingSentence("channel_unsigned", { name: "feishu" }),
              todo: findingSentence("channel_unsigned_todo", { name: "feishu" }),
            },
          ]
        : [],
  },

  setUp: { ...feishuSetUp, canListen: (section) => !isByWebhook(section) },

  imports: feishuImports,
};
