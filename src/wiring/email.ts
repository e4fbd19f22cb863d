import { join, resolve } from "node:path";
import type { Channel, ChannelContext } from "../channels/channel.js";
import type { OAuthLogin } from "../channels/email/auth/tokens.js";
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
  const found = toOptions(config, home, log);
  if (typeof found === "string") return { off: found, problems: [`channels.email is off: ${found}`] };
  const [{ createEmailChannel, loadMailPackages }, { createTokens }] = await Promise.all([
    import("../channels/email/email.js"),
    import("../channels/email/auth/tokens.js"),
  ]);
  try {
    await loadMailPackages();
  } catch (error) {
    log.warn("the mail packages could not be loaded", { error: messageOf(error) });
    const off =
      "the packages for mail are not installed: npm install imapflow mailparser nodemailer mailauth htmlparser2";
    return { off, problems: [`channels.email is off: ${off}`] };
  }
  const { login, ...options } = found;
  const problems = options.verifySender === "off" ? [unverified] : [];
  for (const problem of problems) log.warn(problem);
  const tokens = login === undefined ? undefined : createTokens(login, join(home, "email-auth.json"));
  return { channel: createEmailChannel({ ...options, tokens }, context), problems };
}

/** Logs in at the mailbox's server once. @throws {ChannelError} */
export async function logIn(
  config: EmailConfig,
  scope: { home: string; log: Logger },
  signal: AbortSignal,
): Promise<void> {
  const found = toOptions(config, scope.home, scope.log);
  if (typeof found === "string") throw new Error(found);
  const { openImap } = await import("../channels/email/receiving/imap.js");
  const { login, ...options } = found;
  const { createTokens } = await import("../channels/email/auth/tokens.js");
  const tokens = login === undefined ? undefined : createTokens(login, join(scope.home, "email-auth.json"));
  using connection = await openImap({ ...options, tokens }, signal);
  await connection.command((client) => client.noop());
}

type FoundOptions = EmailOptions & { readonly login: OAuthLogin | undefined };

function toOptions(config: EmailConfig, home: string, log: Logger): FoundOptions | string {
  const { enabled: _enabled, consentGranted, allowFrom: _allowFrom, oauth, ...rest } = config;
  const { imapHost, smtpHost, imapUsername, imapPassword, accessToken, accessTokenFile, tlsCaFile } = rest;
  if (!consentGranted) return "consentGranted is false: set it to true to let this mailbox be read";
  if (imapHost === undefined || imapUsername === undefined) return "imapHost and imapUsername are needed";
  if (smtpHost === undefined) return "smtpHost is needed";
  const fromAddress = config.fromAddress ?? imapUsername.toLowerCase();
  if (!fromAddress.includes("@")) return "fromAddress is needed, as imapUsername is no address";
  const login = toLogin(oauth);
  if (typeof login === "string") return login;
  const hasToken = login !== undefined || accessToken !== undefined || accessTokenFile !== undefined;
  if (imapPassword === undefined && !hasToken) return "imapPassword, oauth, accessToken or accessTokenFile is needed";
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
    login,
    log,
  };
}

function toLogin({ tokenUrl, clientId, refreshToken, ...more }: EmailConfig["oauth"]): OAuthLogin | string | undefined {
  if (refreshToken === undefined) return undefined;
  if (tokenUrl === undefined || clientId === undefined) return "oauth.tokenUrl and oauth.clientId are needed";
  return { ...more, tokenUrl, clientId, refreshToken };
}
