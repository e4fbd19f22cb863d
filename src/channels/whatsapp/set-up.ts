import type { Imports, SetUp } from "../platform.js";
import { whoMayTalk } from "../set-up.js";
import { personOf } from "./jid.js";

export const whatsappSetUp: SetUp = {
  fields: [
    {
      key: "bridgeUrl",
      kind: "text",
      label: { en: "The bridge's address", zh: "网桥的地址" },
      hint: {
        en: "A program of its own that is logged in to WhatsApp as a device of yours, such as ws://127.0.0.1:3001. It shows the code to scan, and so does this page.",
        zh: "一个单独的程序，作为您的设备登录 WhatsApp，例如 ws://127.0.0.1:3001。它会显示要扫描的代码，本页面也会。",
      },
      asked: "The address of the WhatsApp bridge, such as ws://127.0.0.1:3001",
    },
    {
      key: "bridgeToken",
      kind: "secret",
      label: { en: "The bridge's token", zh: "网桥的令牌" },
      hint: { en: "Its BRIDGE_TOKEN. Empty if it has none.", zh: "它的 BRIDGE_TOKEN。没有则留空。" },
      asked: "The bridge's BRIDGE_TOKEN, empty if it has none",
      isOptional: true,
    },
    whoMayTalk,
  ],
  person: {
    label: "Your phone number, with the country",
    pattern: "^(?:\\d{6,20}|\\d+@lid)$",
    refusal: "not a phone number as WhatsApp has it. It is digits alone with the country first, such as 491701234567.",
  },
};

export const whatsappImports: Imports = {
  keys: ["enabled", "bridgeUrl", "bridgeToken", "allowFrom", "allowSelf"],
  loginKeys: ["bridgeUrl"],
  todo: ({ bridgeUrl }) =>
    bridgeUrl === undefined
      ? "its login cannot be moved: start a bridge, link the phone again, and set enabled, as docs/whatsapp.md says"
      : undefined,
  fromOpenclaw: () => ({ enabled: false }),
  ids: { prefixes: ["whatsapp"], pattern: /^\+?\d+(?:@\S+)?$/ },
  chatOf: (written, kind = "direct") =>
    /^(?:direct|dm)$/.test(kind) && /^\+?\d+(?:@(?:s\.whatsapp\.net|lid))?$/.test(written)
      ? [personOf(written)]
      : undefined,
};
