import { z } from "zod";
import { flag, ids, optionalText } from "../../config/values.js";
import { jidIn } from "./jid.js";
import { addressIn } from "./stream/address.js";

const people = ids.transform((list) => list.map((jid) => jidIn(jid) ?? jid));
const optionalJid = optionalText.refine(
  (value) => value === undefined || jidIn(value) !== undefined,
  "an address such as max@example.org",
);

/** The part of the config that XMPP has. */
export const xmpp = z.strictObject({
  enabled: flag(false).describe("Connect to XMPP."),
  jid: optionalJid.describe("The address of the assistant's own account, such as `max@example.org`."),
  password: optionalText.describe("The password of that account."),
  service: optionalText
    .refine(
      (value) => value === undefined || addressIn(value) !== undefined,
      "an address such as xmpp://host:5222, xmpps://host:5223 or wss://host/path",
    )
    .describe(
      "Where the server is, when its domain does not say so: `xmpp://host:5222`, `xmpps://host:5223` or `wss://host/path`.",
    ),
  rooms: people.describe("Rooms that it enters, such as `team@rooms.example.org`."),
  nick: optionalText.describe("Its name in rooms. Without it: the part of `jid` before the `@`."),
  allowFrom: people.describe(
    "Addresses of who may talk to the assistant, such as `ann@example.org`. Empty: strangers get a pairing code. `*`: anyone.",
  ),
  allowGroups: people.describe("Rooms where it answers. Empty: in all that it is in."),
});

export type XmppSection = z.output<typeof xmpp>;

/** What people call the keys, in English and in Chinese. */
export const xmppLabels: Readonly<Record<string, readonly [en: string, zh: string]>> = {
  enabled: ["Connect to XMPP", "连接 XMPP"],
  jid: ["Address of the account", "账号地址"],
  password: ["Password of the account", "账号密码"],
  service: ["Address of the server", "服务器地址"],
  rooms: ["Rooms that it enters", "会加入的聊天室"],
  nick: ["Its name in rooms", "在聊天室中的名字"],
  allowFrom: ["People who may write", "可以写消息的人"],
  allowGroups: ["Rooms where it answers", "会回答的聊天室"],
};

/** What the keys mean, in Chinese. */
export const xmppMeanings: Readonly<Record<string, string>> = {
  enabled: "连接 XMPP。",
  jid: "助手自己的账号地址，例如 `max@example.org`。",
  password: "该账号的密码。",
  service: "服务器的位置，仅在其域名没有说明时需要：`xmpp://host:5222`、`xmpps://host:5223` 或 `wss://host/path`。",
  rooms: "会加入的聊天室，例如 `team@rooms.example.org`。",
  nick: "在聊天室中的名字。未设置时：`jid` 中 `@` 之前的部分。",
  allowFrom: "可以与助手交谈的人的地址，例如 `ann@example.org`。留空：陌生人会收到配对码。`*`：任何人。",
  allowGroups: "会回答的聊天室。留空：它所在的所有聊天室。",
};
