import { resolve } from "node:path";
import type { Channel, ChannelContext } from "../channels/channel.js";
import type { EmailOptions } from "../channels/email/options.js";
import type { EmailConfig } from "../config/email-schema.js";
import { messageOf } from "../errors.js";
import type { Logger } from "../log.js";

export interface OpenedEmail {
  readonly channel?: Channel;
  /** Why it is off although it is switched on. */
  readonly off?: string;
  /** What its owner should know, as sentences. */
  readonly problems: readonly string[];
}

const unverified =
  'channels.email.verifySender is "off": whoever writes the address of somebody who may talk counts as them. Anybody can do that.';

/** The mailbox of the config, or a sentence for what it lacks. */
export async function openEmail(
  config: EmailConfig,
  scope: { readonly home: string; readonly context: ChannelContext; readonly log: Logger },
): Promise<OpenedEmail> {
  const { home, context, log } = scope;
  const options = toOptions(config, home, log);
  if (typeof options === "string") return { off: options, problems: [`channels.email is off: ${options}`] };
  const { createEmailChannel, loadMailPackages } = await import("../channels/email/email.js");
  try {
    await loadMailPackages();
  } catch (error) {
    log.warn("the mail packages could not be loaded", { error: messageOf(error) });
    const off = "the packages for mail are not installed: npm install imapflow mailparser nodemailer mailauth";
    return { off, problems: [`channels.email is off: ${off}`] };
  }
  const problems = options.verifySender === "off" ? [unverified] : [];
  for (const problem of problems) log.warn(problem);
  return { channel: createEmailChannel(options, context), problems };
}

function toOptions(config: EmailConfig, home: string, log: Logger): EmailOptions | string {
  const { enabled: _enabled, consentGranted, allowFrom: _allowFrom, ...rest } = config;
  const { imapHost, smtpHost, imapUsername, imapPassword, accessToken, accessTokenFile, tlsCaFile } = rest;
  if (!consentGranted) return "consentGranted is false: set it to true to let this mailbox be read";
  if (imapHost === undefined || imapUsername === undefined) return "imapHost and imapUsername are needed";
  if (smtpHost === undefined) return "smtpHost is needed";
  const fromAddress = config.fromAddress ?? imapUsername.toLowerCase();
  if (!fromAddress.includes("@")) return "fromAddress is needed, as imapUsername is no address";
  const hasToken = accessToken !== undefined || accessTokenFile !== undefined;
  if (imapPassword === undefined && !hasToken) return "imapPassword, accessToken or accessTokenFile is needed";
  const inHome = (path: string | undefined): string | undefined =>
    path === undefined ? undefined : resolve(home, path);
  return {
    ...rest,
    imapHost,
    smtpHost,
    imapUsername,
    fromAddress,
    smtpUsername: rest.smtpUsername ?? (hasToken ? imapUsername : undefined),
    accessTokenFile: inHome(accessTokenFile),
    tlsCaFile: inHome(tlsCaFile),
    log,
  };
}
