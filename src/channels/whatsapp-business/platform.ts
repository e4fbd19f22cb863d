import { problemSentence } from "../../util/words/problem-sentences.js";
import type { Platform } from "../platform.js";
import {
  type WhatsAppBusinessSection,
  whatsappBusiness,
  whatsappBusinessLabels,
  whatsappBusinessMeanings,
} from "./section.js";
import { whatsappBusinessImports, whatsappBusinessSetUp } from "./set-up.js";

const needed = ["phoneNumberId", "accessToken", "appSecret", "verifyToken"] as const;

export const whatsappBusinessPlatform: Platform<WhatsAppBusinessSection> = {
  words: {
    title: { en: "WhatsApp Business", zh: "WhatsApp Business" },
    labels: whatsappBusinessLabels,
    meanings: whatsappBusinessMeanings,
  },

  section: whatsappBusiness,

  lacks(section) {
    const missing = needed.filter((key) => section[key] === undefined);
    return missing.length === 0
      ? undefined
      : problemSentence("channel_lacks", { name: "whatsapp-business", missing: missing.join(" and no ") });
  },

  shape: async () => (await import("./shape.js")).whatsappBusinessShape,

  async open(section, { context, log }) {
    const { phoneNumberId, accessToken, appSecret, verifyToken, template, templateLanguage: language } = section;
    if (
      phoneNumberId === undefined ||
      accessToken === undefined ||
      appSecret === undefined ||
      verifyToken === undefined
    )
      return {};
    const { listenAddr, webhookPath, apiRoot } = section;
    const { createWhatsAppBusinessChannel } = await import("./whatsapp-business.js");
    const login = { phoneNumberId, accessToken, appSecret, verifyToken, apiRoot };
    const options = {
      ...login,
      listenAddr,
      webhookPath,
      template: template === undefined ? undefined : { name: template, language },
      log,
    };
    return { channel: createWhatsAppBusinessChannel(options, context) };
  },

  async logIn({ phoneNumberId = "", accessToken = "", appSecret = "", apiRoot }, _scope, signal) {
    const { Graph } = await import("./graph.js");
    return await new Graph({ phoneNumberId, accessToken, appSecret, apiRoot }).look(signal);
  },

  checkup: {
    unshared: ({ phoneNumberId }) => ({ phoneNumberId }),
    listensOn: ({ listenAddr }) => placeOf(listenAddr),
  },

  // What people write comes to an address that only the gateway has.
  setUp: { ...whatsappBusinessSetUp, canListen: () => false },

  imports: whatsappBusinessImports,
};

function placeOf(listenAddr: string | undefined) {
  const [, host = "", port = ""] = /^(.*):(\d{1,5})$/.exec(listenAddr ?? "") ?? [];
  return port === "" ? undefined : { key: "listenAddr", host: host === "" ? "0.0.0.0" : host, port: Number(port) };
}
