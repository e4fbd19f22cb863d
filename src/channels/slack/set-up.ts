import type { Imports, SetUp } from "../platform.js";
import { ownServer, whoMayTalk } from "../set-up.js";

const apps = "https://api.slack.com/apps";

export const slackSetUp: SetUp = {
  fields: [
    {
      key: "botToken",
      kind: "secret",
      label: { en: "The bot's token (xoxb-…)", zh: "机器人的令牌（xoxb-…）" },
      hint: {
        en: "On the page OAuth & Permissions of your app, once it is installed.",
        zh: "安装应用后，在其 OAuth & Permissions 页面上。",
      },
      asked: "The bot's token (xoxb-…), from the page OAuth & Permissions of your app at api.slack.com/apps",
      link: apps,
    },
    {
      key: "appToken",
      kind: "secret",
      label: { en: "The app-level token (xapp-…)", zh: "应用级令牌（xapp-…）" },
      hint: {
        en: "On the page Basic Information: App-Level Tokens, with connections:write.",
        zh: "在 Basic Information 页面的 App-Level Tokens 中，权限为 connections:write。",
      },
      asked: "The app-level token (xapp-…), from the page Basic Information, with the right connections:write",
      link: apps,
    },
    whoMayTalk,
    ownServer,
  ],
  person: {
    label: "Your member id there, such as U012AB3CD (your profile, ⋮, Copy member ID)",
    mayBegin: true,
    pattern: "^[UW][A-Z0-9]{2,}$",
    refusal: "not a member id. It looks like U012AB3CD: in Slack, your profile, ⋮, Copy member ID.",
  },
};

export const slackImports: Imports = {
  keys: ["enabled", "botToken", "appToken", "allowFrom"],
  loginKeys: ["botToken", "appToken"],
  ids: { prefixes: ["slack", "user"], pattern: /^[UW][A-Z0-9]+$/ },
  fromOpenclaw: ({ botToken, appToken }, secret) => ({ botToken: secret(botToken), appToken: secret(appToken) }),
  chatOf(written, kind = "channel") {
    const [, chatId, thread] = /^([CDG][A-Z0-9]+)(?::(?:thread:)?(\d{10}\.\d{6}))?$/i.exec(written) ?? [];
    if (chatId === undefined || !/^(?:channel|group|direct|dm)$/.test(kind)) return undefined;
    return thread === undefined ? [chatId.toUpperCase()] : [chatId.toUpperCase(), thread];
  },
};
