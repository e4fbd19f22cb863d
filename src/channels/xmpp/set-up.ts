import type { Imports, SetUp } from "../platform.js";
import { whoMayTalk } from "../set-up.js";
import { jidIn } from "./jid.js";

export const xmppSetUp: SetUp = {
  fields: [
    {
      key: "password",
      kind: "secret",
      label: { en: "The password of its account", zh: "助手账号的密码" },
      hint: { en: "Of the assistant's own account, not of yours.", zh: "助手自己账号的密码，不是您的。" },
    },
    {
      key: "jid",
      kind: "text",
      label: { en: "The address of its account", zh: "助手账号的地址" },
      hint: {
        en: "Such as max@example.org. Make an account of its own for it, as for a person.",
        zh: "例如 max@example.org。请像为一个人那样为它单独注册账号。",
      },
    },
    {
      key: "rooms",
      kind: "ids",
      label: { en: "Rooms that it enters", zh: "会加入的聊天室" },
      hint: {
        en: "Addresses with commas, such as team@rooms.example.org.",
        zh: "用逗号分隔，例如 team@rooms.example.org。",
      },
      isMore: true,
      isOptional: true,
    },
    whoMayTalk,
    {
      key: "service",
      kind: "text",
      label: { en: "The address of the server", zh: "服务器地址" },
      hint: {
        en: "Only when the domain does not say where it is: xmpps://host:5223.",
        zh: "仅在域名没有说明时需要：xmpps://host:5223。",
      },
      isMore: true,
      isOptional: true,
    },
  ],
  person: {
    label: "Your address there, such as ann@example.org",
    isLowerCase: true,
    mayBegin: true,
    pattern: "^[^@\\s/]+@[^@\\s/]+$",
    refusal: "not an address. It looks like ann@example.org.",
  },
};

export const xmppImports: Imports = {
  keys: ["enabled", "jid", "password", "allowFrom", "rooms", "nick"],
  loginKeys: ["password"],
  ids: { prefixes: ["xmpp"], pattern: /^[^@\s/]+@[^@\s/]+$/ },
  fromOpenclaw: ({ jid, password, rooms, nick }, secret) => ({ jid, password: secret(password), rooms, nick }),
  chatOf(written, kind = "direct") {
    const jid = jidIn(written);
    return jid === undefined || !/^(?:channel|group|direct|dm)$/.test(kind) ? undefined : [jid];
  },
  directChatOf: (address) => jidIn(address),
};
