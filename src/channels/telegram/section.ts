import { z } from "zod";
import { flag, ids, optionalAddress, optionalText, whole } from "../../config/values.js";

/** The part of the config that Telegram has. */
export const telegram = z.strictObject({
  enabled: flag(false),
  /** From @BotFather. */
  token: optionalText,
  /** Numeric sender ids. Empty: strangers get a pairing code. `["*"]`: anyone. */
  allowFrom: ids,
  /** Ids of groups. Empty: any. Else only these, where everybody who addresses it may talk unless `allowFrom` says who. */
  allowGroups: ids,
  /** HTTP proxy for the Bot API. */
  proxy: optionalAddress,
  /** A Bot API server of your own. */
  apiRoot: optionalAddress,
  /** Telegram brings updates to `url`, which somebody passes on to `host` and `port`. Without both: it is polled. */
  webhook: z
    .strictObject({
      url: optionalAddress,
      /** Telegram shows it with each update. */
      secret: z
        .string()
        .trim()
        .regex(/^[\w-]{0,256}$/, "up to 256 letters, digits, _ or -")
        .transform((value) => (value === "" ? undefined : value))
        .optional(),
      host: z.string().trim().min(1, "an address such as 127.0.0.1").default("127.0.0.1"),
      port: whole(0, 65_535, 18_792),
    })
    .refine(({ url, secret }) => url === undefined || secret !== undefined, "a `secret` besides the `url`")
    .prefault({}),
});

export type TelegramSection = z.output<typeof telegram>;
