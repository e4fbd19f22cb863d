import type { SetUpField } from "./platform.js";

/** Questions that the set-up of most platforms has. */
export const whoMayTalk: SetUpField = {
  key: "allowFrom",
  kind: "ids",
  label: { en: "Who may write without asking first", zh: "谁可以直接写消息" },
  hint: {
    en: "Ids or addresses, with commas. Everyone else gets a code that you let in. Owners always may.",
    zh: "用逗号分隔的 ID 或地址。其他人会收到一个代码，由您批准。主人始终可以。",
  },
  isMore: true,
};

export const ownServer: SetUpField = {
  key: "apiRoot",
  kind: "text",
  label: { en: "A server of your own", zh: "自己的服务器" },
  hint: {
    en: "Instead of the platform's own address. Empty for almost everybody.",
    zh: "代替平台自己的地址。几乎所有人都可留空。",
  },
  isMore: true,
};

/** The token of a bot; `hint` says where people get it, `asked` the same in the terminal. */
export function botToken(hint: SetUpField["hint"], link: string, asked: string): SetUpField {
  return { key: "token", kind: "secret", label: { en: "The bot's token", zh: "机器人的令牌" }, hint, link, asked };
}

/** A person whose id is a number, which a name does not tell. */
export const numericPerson = {
  label: "Your id there, a number",
  pattern: "^\\d+$",
  refusal: "not an id. It is a number, such as 123456789, and not a name.",
} as const;
