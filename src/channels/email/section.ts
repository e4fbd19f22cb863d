import { z } from "zod";
import { flag, optionalAddress, optionalText, whole } from "../../config/values.js";

const address = z
  .string()
  .trim()
  .toLowerCase()
  .refine((value) => value === "" || /^[^\s@<>]+@[^\s@<>]+$/.test(value), "an address such as assistant@example.org")
  .transform((value) => (value === "" ? undefined : value))
  .optional();

/** A mailbox by IMAP and SMTP. */
export const email = z.strictObject({
  enabled: flag(false),
  /** The mailbox's owner agrees that its mail is read by a program. Without it nothing is connected. */
  consentGranted: flag(false),
  imapHost: optionalText,
  imapPort: whole(1, 65_535, 993),
  imapUsername: optionalText,
  imapPassword: optionalText,
  imapMailbox: z.string().trim().min(1, "the name of a mailbox").default("INBOX"),
  /** TLS from the first byte. */
  imapUseSSL: flag(true),
  /** Without `imapUseSSL`: STARTTLS. False: everything can be read on the way. */
  imapUseTLS: flag(true),
  smtpHost: optionalText,
  smtpPort: whole(1, 65_535, 587),
  smtpUsername: optionalText,
  smtpPassword: optionalText,
  smtpUseTLS: flag(true),
  smtpUseSSL: flag(false),
  /** What people write to. Default: `imapUsername`. */
  fromAddress: address,
  /** OAuth2 instead of passwords: a token, or a file that always holds a fresh one. */
  accessToken: optionalText,
  accessTokenFile: optionalText,
  /** Access tokens that are renewed here, by a login that somebody has made before. */
  oauth: z
    .strictObject({
      tokenUrl: optionalAddress,
      clientId: optionalText,
      clientSecret: optionalText,
      refreshToken: optionalText,
      scope: optionalText,
    })
    .prefault({}),
  /** A PEM file with certificates to trust besides the system's. */
  tlsCaFile: optionalText,
  /** Addresses. Empty: strangers get a pairing code. `["*"]`: anyone. */
  allowFrom: z.array(z.string().trim().toLowerCase()).default([]),
  /** The name in the `Authentication-Results` of your own server. Without it each mail's signature is checked here. */
  authservId: optionalText,
  /** `off`: anyone who writes somebody's address counts as them. */
  verifySender: z.enum(["required", "off"]).default("required"),
  /** What is one conversation: each `thread`, or all mail of a `sender`. */
  session: z.enum(["thread", "sender"]).default("thread"),
  /** False: mail is read and answered in its session, and nothing is sent. */
  autoReplyEnabled: flag(true),
  /** Where the server does not tell about new mail by itself. */
  pollIntervalSeconds: whole(5, 86_400, 30),
  markSeen: flag(true),
  /** Default: the one that the server marks as such. */
  sentMailbox: optionalText,
  /** `auto`: what is sent is put there where the server does not do it by itself. */
  sentCopy: z.enum(["auto", "never"]).default("auto"),
  /** Mails of one sender that are taken in an hour. */
  hourlyPerSender: whole(1, 10_000, 20),
});
export type EmailSection = z.output<typeof email>;
