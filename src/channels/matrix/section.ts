import { z } from "zod";
import { flag, ids, optionalAddress, optionalText } from "../../config/values.js";

/** The part of the config that Matrix has. */
export const matrix = z.strictObject({
  enabled: flag(false).describe("Connect to Matrix."),
  homeserver: optionalAddress.describe("The address of the bot's homeserver, such as `https://matrix.org`."),
  accessToken: optionalText.describe("The access token of the bot's account."),
  userId: optionalText.describe("Without an access token: the bot's account, such as `@max:example.org`."),
  password: optionalText.describe("The password of this account. The gateway logs in once and keeps the token."),
  allowFrom: ids.describe(
    "Who may talk to the bot, such as `@ann:example.org`. Empty: strangers get a pairing code. `*`: anyone.",
  ),
  allowGroups: ids.describe(
    "Ids of rooms where it answers, such as `!abc:example.org`. Empty: in any that it is in. Direct chats are not meant.",
  ),
  invites: z
    .enum(["allowed", "everyone"])
    .default("allowed")
    .describe("Whose invitations it accepts: of owners and people who may talk to it, or of everyone."),
  encryption: flag(false).describe("Read and write in encrypted rooms. Needs `maxclaw add matrix-crypto`."),
  recoveryKey: optionalText.describe(
    "The recovery key of the bot's account, so that its device is verified. Needed where another login has verified devices.",
  ),
});

export type MatrixSection = z.output<typeof matrix>;

/** What people call the keys, in English and in Chinese. */
export const matrixLabels: Readonly<Record<string, readonly [en: string, zh: string]>> = {
  enabled: ["Connect to Matrix", "连接 Matrix"],
  homeserver: ["Address of the homeserver", "主服务器的地址"],
  accessToken: ["Access token of the bot", "机器人的访问令牌"],
  userId: ["Account of the bot", "机器人的账号"],
  password: ["Password of the bot", "机器人的密码"],
  allowFrom: ["People who may write", "可以写消息的人"],
  allowGroups: ["Rooms where it answers", "会回答的房间"],
  invites: ["Invitations that it accepts", "接受谁的邀请"],
  encryption: ["Encrypted rooms", "加密房间"],
  recoveryKey: ["Recovery key of the bot", "机器人的恢复密钥"],
};

/** What the keys mean, in Chinese. */
export const matrixMeanings: Readonly<Record<string, string>> = {
  enabled: "连接 Matrix。",
  homeserver: "机器人主服务器的地址，例如 `https://matrix.org`。",
  accessToken: "机器人账号的访问令牌。",
  userId: "没有访问令牌时：机器人的账号，例如 `@max:example.org`。",
  password: "该账号的密码。网关只登录一次并保存令牌。",
  allowFrom: "可以与机器人交谈的人，例如 `@ann:example.org`。留空：陌生人会收到配对码。`*`：任何人。",
  allowGroups: "机器人回答的房间 id，例如 `!abc:example.org`。留空：它所在的任何房间。不包括私聊。",
  encryption: "在加密房间中读写。需要先运行 `maxclaw add matrix-crypto`。",
  recoveryKey: "机器人账号的恢复密钥，用于验证它的设备。其他登录已验证过设备时需要。",
  invites: "接受谁的邀请：仅主人和可以与它交谈的人，或任何人。",
};
