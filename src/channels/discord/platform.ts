import { z } from "zod";
import { problemSentence } from "../../util/words/problem-sentences.js";
import type { Imports, Platform, SetUp } from "../platform.js";
import { botToken, numericPerson, ownServer, whoMayTalk } from "../set-up.js";
import { type DiscordSection, discord, discordLabels, discordMeanings } from "./section.js";

const account = z.looseObject({ username: z.string() });

const discordSetUp: SetUp = {
  fields: [
    botToken(
      {
        en: "On the page Bot of your application. Switch on “Message Content Intent” there.",
        zh: "在您的应用的 Bot 页面。请在那里打开“Message Content Intent”。",
      },
      "https://discord.com/developers/applications",
      "The bot's token, from the page Bot of discord.com/developers",
    ),
    whoMayTalk,
    ownServer,
  ],
  person: numericPerson,
};

const discordImports: Imports = {
  keys: ["enabled", "token", "apiRoot", "allowFrom"],
  ids: { prefixes: ["discord", "user"], pattern: /^\d+$/ },
  fromOpenclaw: ({ token }, secret) => ({ token: secret(token) }),
  chatOf: (written, kind) =>
    kind === undefined || (/^(?:channel|group)$/.test(kind) && /^\d+$/.test(written)) ? [written] : undefined,
};

export const discordPlatform: Platform<DiscordSection> = {
  words: { title: { en: "Discord", zh: "Discord" }, labels: discordLabels, meanings: discordMeanings },

  section: discord,

  lacks: ({ token }) =>
    token === undefined ? problemSentence("channel_lacks", { name: "discord", missing: "token" }) : undefined,

  shape: async () => (await import("./shape.js")).discordShape,

  async open({ token, apiRoot }, { context, log }) {
    if (token === undefined) return {};
    const { createDiscordChannel } = await import("./discord.js");
    return { channel: createDiscordChannel({ token, apiRoot, commands: context.commands, log }, context) };
  },

  async logIn({ token = "", apiRoot }, _scope, signal) {
    const [{ openRest }, { callError, notDiscord }] = await Promise.all([
      import("./api.js"),
      import("./discord-error.js"),
    ]);
    const { client } = await openRest({ token, apiRoot });
    let said: unknown;
    try {
      said = await client.get("/users/@me", { signal });
    } catch (error) {
      throw signal.aborted ? error : callError(error, undefined);
    }
    const { data } = account.safeParse(said);
    if (data === undefined) throw notDiscord();
    return data.username;
  },

  checkup: {
    unshared: ({ token }) => ({ token }),
  },

  setUp: discordSetUp,

  imports: discordImports,
};
