import { z } from "zod";
import { flag, ids, optionalAddress, optionalText } from "../../config/values.js";

/** The part of the config that Discord has. */
export const discord = z.strictObject({
  enabled: flag(false),
  /** From the Bot page of the developer portal. */
  token: optionalText,
  /** User ids. Empty: strangers get a pairing code. `["*"]`: anyone. */
  allowFrom: ids,
  /** Ids of channels in servers. Empty: any. Else only these, with their threads. */
  allowGroups: ids,
  /** A proxy for Discord's API. */
  apiRoot: optionalAddress,
});

export type DiscordSection = z.output<typeof discord>;
