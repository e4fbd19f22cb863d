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
