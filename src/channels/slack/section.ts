import { z } from "zod";
import { flag, ids, optionalAddress, optionalText } from "../../config/values.js";

/** The part of the config that Slack has. */
export const slack = z.strictObject({
  enabled: flag(false).describe("Connect to Slack."),
  botToken: optionalText.describe("The bot's token, `xoxb-…`, from the page OAuth & Permissions of the app."),
  appToken: optionalText.describe(
    "The app-level token, `xapp-…`, with the right `connections:write`, from the page Basic Information.",
  ),
  allowFrom: ids.describe(
    "Ids of who may talk to the bot, such as `U012AB3CD`. Empty: strangers get a pairing code. `*`: anyone.",
  ),
  allowGroups: ids.describe("Ids of channels where it answers, such as `C012AB3CD`. Empty: in any it is invited to."),
  apiRoot: optionalAddress.describe("A proxy for Slack's API. Without it: Slack itself."),
});

export type SlackSection = z.output<typeof slack>;

/** What people call the keys, in English and in Chinese. */
export const slackLabels: Readonly<Record<string, readonly [en: string, zh: string]>> = {
  enabled: ["Connect to Slack", "连接 Slack"],
  botToken: ["Token of the bot", "机器人的令牌"],
  appToken: ["Token of the app", "应用的令牌"],
  allowFrom: ["People who may write", "可以写消息的人"],
  allowGroups: ["Channels where it answers", "会回答的频道"],
  apiRoot: ["Proxy to reach Slack", "访问 Slack 的代理"],
};

/** What the keys mean, in Chinese. */
export const slackMeanings: Readonly<Record<string, string>> = {
  enabled: "连接 Slack。",
  botToken: "机器人的令牌 `xoxb-…`，来自应用的 OAuth & Permissions 页面。",
  appToken: "应用级令牌 `xapp-…`，需要 `connections:write` 权限，来自 Basic Information 页面。",
  allowFrom: "可以与机器人交谈的人的 id，例如 `U012AB3CD`。留空：陌生人会收到配对码。`*`：任何人。",
  allowGroups: "机器人回答的频道 id，例如 `C012AB3CD`。留空：任何邀请了它的频道。",
  apiRoot: "Slack API 的代理。未设置时直接访问 Slack。",
};
