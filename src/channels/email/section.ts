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
  enabled: flag(false).describe("Connect to the mailbox."),
  consentGranted: flag(false).describe(
    "The owner of the mailbox agrees that a program reads it. Without that nothing is connected.",
  ),
  imapHost: optionalText.describe("The server where mail is read."),
  imapPort: whole(1, 65_535, 993).describe("The port of that server."),
  imapUsername: optionalText.describe("The user name there."),
  imapPassword: optionalText.describe("The password there. If the provider has app passwords, use one of these."),
  imapMailbox: z
    .string()
    .trim()
    .min(1, "the name of a mailbox")
    .default("INBOX")
    .describe("The folder of the mailbox that is read."),
  imapUseSSL: flag(true).describe("The connection is encrypted from the first byte."),
  imapUseTLS: flag(true).describe(
    "Where it is not encrypted from the first byte: it becomes so before the login (STARTTLS). Off: everything can be read on the way.",
  ),
  smtpHost: optionalText.describe("The server that sends mail."),
  smtpPort: whole(1, 65_535, 587).describe("The port of that server."),
  smtpUsername: optionalText.describe("The user name there. Without it mail is sent without a login."),
  smtpPassword: optionalText.describe("The password there."),
  smtpUseTLS: flag(true).describe(
    "The connection becomes encrypted before the login (STARTTLS). Off: everything can be read on the way.",
  ),
  smtpUseSSL: flag(false).describe("The connection is encrypted from the first byte, as on port 465."),
  fromAddress: address.describe("The address that people write to. Without it: the user name of the mailbox."),
  accessToken: optionalText.describe("An OAuth2 token instead of passwords."),
  accessTokenFile: optionalText.describe("A file that always holds a fresh token. It is read at each login."),
  /** Access tokens that are renewed here, by a login that somebody has made before. */
  oauth: z
    .strictObject({
      tokenUrl: optionalAddress.describe("The address where access tokens are renewed."),
      clientId: optionalText.describe("The id of the application that you have registered."),
      clientSecret: optionalText.describe("The secret of that application, if it has one."),
      refreshToken: optionalText.describe("The token from a login of yours. It switches OAuth2 on."),
      scope: optionalText.describe("What the login is for, if the provider asks for it again."),
    })
    .prefault({}),
  tlsCaFile: optionalText.describe("A PEM file with certificates to trust besides the system's."),
  allowFrom: z
    .array(z.string().trim().toLowerCase())
    .default([])
    .describe("Addresses of who may write. Empty: strangers get a pairing code. `*`: anyone."),
  authservId: optionalText.describe(
    "The name in your own server's `Authentication-Results`. Without it the signatures of mails are checked here.",
  ),
  verifySender: z
    .enum(["required", "off"])
    .default("required")
    .describe("`required`: a sender has to be proven. `off`: the `From` line is believed, and anyone can write it."),
  session: z
    .enum(["thread", "sender"])
    .default("thread")
    .describe("What is one conversation: each `thread`, or all mail of a `sender`."),
  autoReplyEnabled: flag(true).describe(
    "Answers are sent. Off: mail is read and answered in its conversation here, and nothing is sent.",
  ),
  pollIntervalSeconds: whole(5, 86_400, 30).meta({
    description: "How often to look for new mail, if the server does not announce it by itself.",
    unit: "seconds",
  }),
  markSeen: flag(true).describe("Mark accepted mail as read."),
  sentMailbox: optionalText.describe(
    "The folder with copies of sent mail. Without it: the one that the server marks as such.",
  ),
  sentCopy: z
    .enum(["auto", "never"])
    .default("auto")
    .describe("`auto`: put a copy there unless the server does it. `never`: no copy."),
  hourlyPerSender: whole(1, 10_000, 20).meta({
    description: "How many mails of one sender are accepted in an hour.",
    unit: "mails an hour",
  }),
});
export type EmailSection = z.output<typeof email>;
