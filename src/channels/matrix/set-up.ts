import type { Imports, SetUp } from "../platform.js";
import { whoMayTalk } from "../set-up.js";

/** A person, as Matrix vouches for them: `@name:server`. Names that people choose for themselves are never meant. */
export const personId = /^@[^:\s]+:[^\s/?#]+$/;
/** A room: newer ones have no server in their id. */
const roomId = /^![^\s/?#]+$/;

export const matrixSetUp: SetUp = {
  fields: [
    {
      key: "homeserver",
      kind: "text",
      label: { en: "The address of the homeserver", zh: "主服务器的地址" },
      hint: {
        en: "Such as https://matrix.org. In Element: All settings, Help & About.",
        zh: "例如 https://matrix.org。在 Element 中：所有设置，帮助及关于。",
      },
      asked: "The address of the bot's homeserver, such as https://matrix.org",
    },
    {
      key: "accessToken",
      kind: "secret",
      label: { en: "The bot's access token", zh: "机器人的访问令牌" },
      hint: {
        en: "In Element, logged in as the bot: All settings, Help & About, Access Token.",
        zh: "以机器人账号登录 Element：所有设置，帮助及关于，访问令牌。",
      },
      asked: "The bot's access token (in Element, logged in as the bot: All settings, Help & About, Access Token)",
    },
    whoMayTalk,
  ],
  person: {
    label: "Your Matrix id, such as @ann:example.org",
    mayBegin: true,
    pattern: personId.source,
    refusal: "not a Matrix id. It looks like @ann:example.org.",
  },
};

export const matrixImports: Imports = {
  keys: ["enabled", "homeserver", "accessToken", "userId", "password", "allowFrom"],
  loginKeys: ["accessToken", "password"],
  ids: { prefixes: ["matrix", "user"], pattern: personId },
  todo: ({ encryption, e2eeEnabled }) =>
    encryption === true || e2eeEnabled === true
      ? "the keys of its device stay behind: for encrypted rooms set userId, password and encryption, as docs/matrix.md says"
      : undefined,
  fromOpenclaw: ({ homeserver, accessToken, userId, password }, secret) => ({
    homeserver,
    userId,
    accessToken: secret(accessToken),
    password: secret(password),
  }),
  chatOf(written, kind = "channel") {
    const [, chatId = "", thread] = /^(?:room:)?(![^\s/?#]+?)(?::thread:(\$\S+))?$/.exec(written) ?? [];
    if (!roomId.test(chatId) || !/^(?:channel|group|direct|dm|room)$/.test(kind)) return undefined;
    return thread === undefined ? [chatId] : [chatId, thread];
  },
};
