import { z } from "zod";
import { flag, ids, optionalAddress, optionalText } from "../../config/values.js";

/** The part of the config that Discord has. */
export const discord = z.strictObject({
  enabled: flag(false).describe("Connect to Discord."),
  token: optionalText.describe("The bot's token, from the Bot page of the developer portal."),
  allowFrom: ids.describe(
    "Ids of who may talk to the bot. Empty: strangers get a pairing code. `*`: anyone. The ids are long: in the file, write them in quotes.",
  ),
  allowGroups: ids.describe(
    "Ids of channels in servers where it answers. Empty: in any; else only in these, with their threads.",
  ),
  apiRoot: optionalAddress.describe("A proxy for Discord's API. Without it: Discord itself."),
});

export type DiscordSection = z.output<typeof discord>;

/** What people call the keys, in English and in Chinese. */
export const discordLabels: Readonly<Record<string, readonly [en: string, zh: string]>> = {
  enabled: ["Connect to Discord", "连接 Discord"],
  token: ["Token of the bot", "机器人的令牌"],
  allowFrom: ["People who may write", "可以写消息的人"],
  allowGroups: ["Server channels where it answers", "会回答的服务器频道"],
  apiRoot: ["Proxy to reach Discord", "访问 Discord 的代理"],
};

/** What the keys mean, in Chinese. */
export const discordMeanings: Readonly<Record<string, string>> = {
  enabled: "连接 Discord。",
  token: "机器人的令牌，来自开发者门户的 Bot 页面。",
  allowFrom: "可以与机器人交谈的人的 id。留空：陌生人会收到配对码。`*`：任何人。id 很长，在文件中请加引号。",
  allowGroups: "机器人回答的服务器频道 id。留空：任何频道；否则仅限这些频道及其子区。",
  apiRoot: "Discord API 的代理。未设置时直接访问 Discord。",
};
