import { z } from "zod";
import type { Platform } from "../platform.js";
import { type DiscordSection, discord } from "./section.js";

const account = z.looseObject({ username: z.string() });

export const discordPlatform: Platform<DiscordSection> = {
  section: discord,

  lacks: ({ token }) => (token === undefined ? "channels.discord is enabled but has no token" : undefined),

  shape: async () => (await import("./shape.js")).discordShape,

  async open({ token, apiRoot }, { context, commands, log }) {
    if (token === undefined) return {};
    const { createDiscordChannel } = await import("./discord.js");
    return { channel: createDiscordChannel({ token, apiRoot, commands, log }, context) };
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
};
