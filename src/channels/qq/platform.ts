import { findingSentence } from "../../util/words/finding-sentences.js";
import { problemSentence } from "../../util/words/problem-sentences.js";
import type { Platform } from "../platform.js";
import { parseListenAddr } from "../wire/webhook.js";
import { credentialsOf } from "./credentials.js";
import { type QqSection, qq, qqLabels, qqMeanings } from "./section.js";
import { openid, qqImports, qqSetUp } from "./set-up.js";

export const qqPlatform: Platform<QqSection> = {
  words: { title: { en: "QQ", zh: "QQ" }, labels: qqLabels, meanings: qqMeanings },

  section: qq,

  lacks: (section) =>
    credentialsOf(section) === undefined
      ? problemSentence("channel_lacks", { name: "qq", missing: "appId and appSecret" })
      : undefined,

  readsLists: true,

  shape: async () => (await import("./shape.js")).qqShape,

  async open(section, { context, log }) {
    const credentials = credentialsOf(section);
    if (credentials === undefined) return {};
    const { QqChannel } = await import("./qq.js");
    const { receiveBy, wsUrl, listenAddr, webhookPath: path, apiRoot, tokenRoot } = section;
    const webhook = receiveBy === "webhook" ? { listenAddr, path } : undefined;
    return {
      channel: new QqChannel({ ...credentials, wsUrl, webhook, apiRoot, tokenRoot, log }, context),
      problems: strangeIds(section).map(foundNumber),
    };
  },

  async logIn(section, _scope, signal) {
    const { Account } = await import("./account.js");
    const { apiRoot, tokenRoot } = section;
    const account = new Account({ appId: "", appSecret: "", ...credentialsOf(section), apiRoot, tokenRoot });
    return (await account.whoAmI(signal)).username;
  },

  checkup: {
    unshared: (section) => ({ appId: credentialsOf(section)?.appId }),
    listensOn({ receiveBy, listenAddr }) {
      const where = listenAddr === undefined ? undefined : parseListenAddr(listenAddr);
      return receiveBy === "webhook" && where !== undefined ? { key: "listenAddr", ...where } : undefined;
    },
    risks: (section) =>
      strangeIds(section).map((id) => ({
        about: "people",
        level: "warn",
        found: foundNumber(id),
        todo: findingSentence("number_for_id_todo"),
      })),
  },

  setUp: { ...qqSetUp, canListen: ({ receiveBy }) => receiveBy === "websocket" },

  imports: qqImports,
};

function foundNumber(id: string): string {
  return findingSentence("number_for_id", { name: "qq", id, title: "QQ", same: "QQ" });
}

/** QQ numbers, which the Go maxclaw took as if everybody may write. */
function strangeIds({ allowFrom }: Pick<QqSection, "allowFrom">): readonly string[] {
  return allowFrom.filter((id) => /^\d{5,12}$/.test(id) && !openid.test(id));
}
