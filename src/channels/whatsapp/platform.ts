import { ChannelError } from "../../errors.js";
import { problemSentence } from "../../util/words/problem-sentences.js";
import { statusSentence } from "../../util/words/status-sentences.js";
import type { Platform } from "../platform.js";
import { type WhatsAppSection, whatsapp, whatsappLabels, whatsappMeanings } from "./section.js";
import { whatsappImports, whatsappSetUp } from "./set-up.js";

const noOwnChat = statusSentence("own_chat_absent", { name: "whatsapp", same: "whatsapp" });

export const whatsappPlatform: Platform<WhatsAppSection> = {
  words: { title: { en: "WhatsApp", zh: "WhatsApp" }, labels: whatsappLabels, meanings: whatsappMeanings },

  section: whatsapp,

  lacks: ({ bridgeUrl }) =>
    bridgeUrl === undefined ? problemSentence("channel_lacks", { name: "whatsapp", missing: "bridgeUrl" }) : undefined,

  readsLists: true,

  shape: async () => (await import("./shape.js")).whatsappShape,

  async open({ bridgeUrl, bridgeToken, allowFrom, allowSelf }, { context, log }) {
    if (bridgeUrl === undefined) return {};
    const { createWhatsAppChannel } = await import("./whatsapp.js");
    const named = allowFrom.filter((one) => one !== "*");
    const ownChats = new Set(allowSelf ? named : []);
    return {
      channel: createWhatsAppChannel({ bridgeUrl, bridgeToken, ownChats, log }, context),
      problems: allowSelf && named.length === 0 ? [noOwnChat] : [],
    };
  },

  async logIn({ bridgeUrl = "", bridgeToken }, { log }, signal) {
    const { lookAtBridge } = await import("./look.js");
    const { isConnected, isWaiting } = await lookAtBridge({ bridgeUrl, bridgeToken, log }, signal);
    if (isConnected || isWaiting) return undefined;
    throw new ChannelError(
      "The WhatsApp bridge runs, but it is not connected to WhatsApp, and it shows no code to scan",
    );
  },

  checkup: {
    unshared: ({ bridgeUrl }) => ({ bridgeUrl }),
  },

  setUp: whatsappSetUp,

  imports: whatsappImports,
};
