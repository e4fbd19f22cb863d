import { z } from "zod";
import { flag, ids, optionalAddress, optionalText, whole } from "../../config/values.js";

/** The part of the config that Telegram has. */
export const telegram = z.strictObject({
  enabled: flag(false).describe("Connect to Telegram."),
  token: optionalText.describe("The bot's token, from @BotFather."),
  allowFrom: ids.describe("Ids of who may talk to the bot. Empty: strangers get a pairing code. `*`: anyone."),
  allowGroups: ids.describe("Ids of groups where it answers. Empty: in any group; else only in these."),
  proxy: optionalAddress.describe(
    "A proxy to reach Telegram, if it cannot be reached directly: `http://`, `https://`, `socks5://` or `socks5h://`.",
  ),
  apiRoot: optionalAddress.describe("A Bot API server of your own. Without it: Telegram's."),
  /** Telegram brings updates to `url`, which somebody passes on to `host` and `port`. Without both: it is polled. */
  webhook: z
    .strictObject({
      url: optionalAddress.describe(
        "Telegram brings new messages to this `https://` address. Without it the gateway asks for them.",
      ),
      secret: z
        .string()
        .trim()
        .regex(/^[\w-]{0,256}$/, "up to 256 letters, digits, _ or -")
        .transform((value) => (value === "" ? undefined : value))
        .optional()
        .describe("A password that Telegram sends with each message. It is needed beside the address."),
      host: z
        .string()
        .trim()
        .min(1, "an address such as 127.0.0.1")
        .default("127.0.0.1")
        .describe("The address of this machine where they arrive."),
      port: whole(0, 65_535, 18_792).describe("The port where they arrive."),
    })
    .refine(({ url, secret }) => url === undefined || secret !== undefined, "a `secret` besides the `url`")
    .prefault({}),
});

export type TelegramSection = z.output<typeof telegram>;
