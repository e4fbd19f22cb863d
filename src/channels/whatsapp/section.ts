import { z } from "zod";
import { flag, ids, optionalText } from "../../config/values.js";
import { personOf } from "./jid.js";

const people = ids.transform((list) => list.map(personOf));

/** A personal number by a bridge, with the keys of the Go maxclaw. */
export const whatsapp = z.strictObject({
  enabled: flag(false).describe("Connect to the bridge."),
  bridgeUrl: optionalText
    .refine((value) => value === undefined || /^wss?:\/\/\S+$/i.test(value), "an address such as ws://127.0.0.1:3001")
    .describe(
      "The address of the bridge, which is logged in to WhatsApp: our own or that of the Go maxclaw, both `ws://127.0.0.1:3001`.",
    ),
  bridgeToken: optionalText.describe("The bridge's `BRIDGE_TOKEN`, if it has one."),
  allowFrom: people.describe(
    "Phone numbers of who may talk to the assistant, with the country. Empty: strangers get a pairing code. `*`: anyone.",
  ),
  allowGroups: ids.describe(
    "Ids of groups (`…@g.us`) where it answers. Empty: in any. Groups need a bridge that says who wrote; that of the Go maxclaw does not.",
  ),
  allowSelf: flag(false).describe(
    "Messages that you write from your own phone count too, in chats that `allowFrom` names: name your own number to write to yourself.",
  ),
});

export type WhatsAppSection = z.output<typeof whatsapp>;

export const whatsappLabels: Readonly<Record<string, readonly [en: string, zh: string]>> = {
  enabled: ["Connect to WhatsApp", "连接 WhatsApp"],
  bridgeUrl: ["Address of the bridge", "网桥的地址"],
  bridgeToken: ["Token of the bridge", "网桥的令牌"],
  allowFrom: ["People who may write", "可以写消息的人"],
  allowGroups: ["Groups where it answers", "会回答的群组"],
  allowSelf: ["Hear what I write myself", "听取我自己写的消息"],
};

/** What the keys mean, in Chinese. */
export const whatsappMeanings: Readonly<Record<string, string>> = {
  enabled: "连接网桥。",
  bridgeUrl: "已登录 WhatsApp 的网桥地址：我们自己的或 Go 版 maxclaw 的，都是 `ws://127.0.0.1:3001`。",
  bridgeToken: "网桥的 `BRIDGE_TOKEN`（如果有）。",
  allowFrom: "可以与助手交谈的电话号码，带国家代码。留空：陌生人会收到配对码。`*`：任何人。",
  allowGroups: "回答的群组 id（`…@g.us`）。留空：任何群组。群组需要能说明是谁写的网桥；Go 版 maxclaw 的网桥不能。",
  allowSelf: "您用自己手机写的消息也算，仅限 `allowFrom` 中的聊天：要给自己写，请填上自己的号码。",
};
