import { problemSentence } from "../../util/words/problem-sentences.js";
import type { Platform } from "../platform.js";
import { jidIn } from "./jid.js";
import { type XmppSection, xmpp, xmppLabels, xmppMeanings } from "./section.js";
import { xmppImports, xmppSetUp } from "./set-up.js";

export const xmppPlatform: Platform<XmppSection> = {
  words: { title: { en: "XMPP", zh: "XMPP" }, labels: xmppLabels, meanings: xmppMeanings },

  section: xmpp,

  lacks({ jid, password }) {
    if (jid === undefined) return problemSentence("channel_lacks", { name: "xmpp", missing: "jid" });
    return password === undefined ? problemSentence("channel_lacks", { name: "xmpp", missing: "password" }) : undefined;
  },

  readsLists: true,

  shape: async () => (await import("./shape.js")).xmppShape,

  async open({ jid, password, service, rooms, nick, allowFrom, allowGroups }, { context, log }) {
    if (jid === undefined || password === undefined) return {};
    const { XmppChannel } = await import("./xmpp.js");
    const login = { jid, password, service };
    return { channel: new XmppChannel({ login, rooms, nick, allowFrom, allowGroups, log }, context) };
  },

  async logIn({ jid = "", password = "", service }, _scope, signal) {
    const { tryLogin } = await import("./try-login.js");
    return await tryLogin({ jid, password, service }, signal);
  },

  checkup: {
    unshared: ({ jid }) => ({ jid: jid && jidIn(jid) }),
  },

  setUp: xmppSetUp,

  imports: xmppImports,
};
