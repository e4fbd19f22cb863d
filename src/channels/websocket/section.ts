import { z } from "zod";
import { flag, ids, optionalText, whole } from "../../config/values.js";

/** A door for other programs. */
export const websocket = z.strictObject({
  enabled: flag(false).describe("Open a door for other programs."),
  host: z
    .string()
    .trim()
    .min(1, "an address such as 127.0.0.1")
    .default("127.0.0.1")
    .describe("The address where it listens. Any address that others can reach needs a token."),
  port: whole(0, 65_535, 18_791).describe("The port where it listens."),
  path: z
    .string()
    .trim()
    .regex(/^\/[^?#\s]*$/, "a path such as /ws")
    .default("/ws")
    .describe("The path of the door."),
  token: optionalText.describe("Programs send it when they connect."),
  allowOrigins: z.array(z.string().trim()).default([]).describe("Web pages that may connect, by origin."),
  allowFrom: ids.describe("Ids of who may talk. Empty: strangers get a pairing code. `*`: anyone."),
  allowGroups: ids.describe("Ids of groups. Empty: any; else only these."),
});

export type WebSocketSection = z.output<typeof websocket>;

/** What people call the keys, in English and in Chinese. */
export const websocketLabels: Readonly<Record<string, readonly [en: string, zh: string]>> = {
  enabled: ["Let other programs connect", "允许其他程序连接"],
  host: ["Address of the door", "入口的地址"],
  port: ["Port of the door", "入口的端口"],
  path: ["Path in the address", "地址中的路径"],
  token: ["Password for programs", "程序的密码"],
  allowOrigins: ["Web pages that may connect", "可以连接的网页"],
  allowFrom: ["Who may write", "谁可以写消息"],
  allowGroups: ["Groups where it answers", "会回答的群组"],
};

/** What the keys mean, in Chinese. */
export const websocketMeanings: Readonly<Record<string, string>> = {
  enabled: "为其他程序打开入口。",
  host: "监听的地址。凡是他人能访问的地址都必须设置令牌。",
  port: "监听的端口。",
  path: "入口的路径。",
  token: "程序连接时须提供的令牌。",
  allowOrigins: "可以连接的网页（按来源）。",
  allowFrom: "可以交谈的人的 id。留空：陌生人会收到配对码。`*`：任何人。",
  allowGroups: "群组 id。留空：任何群组；否则仅限这些。",
};
