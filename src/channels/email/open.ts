import { join, resolve } from "node:path";
import { ChannelError } from "../../errors.js";
import type { Logger } from "../../log.js";
import { statusSentence } from "../../util/words/status-sentences.js";
import type { OpenedPlatform, PlatformScope } from "../platform.js";
import type { OAuthLogin, Tokens } from "./auth/tokens.js";
import { missingKey } from "./missing-key.js";
import type { EmailOptions } from "./options.js";
import type { EmailSection } from "./section.js";

const unverified = statusSentence("senders_unchecked", { name: "email" });

/** The mailbox of the config, or a sentence for what it lacks. */
export async function openEmail(config: EmailSection, scope: PlatformScope): Promise<OpenedPlatform> {
  const { home, context, log } = scope;
  // Anyone who reads the gateway's log later must see that senders were not checked.
  const noted = config.verifySender === "off" ? [{ key: "channels.email.verifySender", to: "off" }] : [];
  const found = toOptions(config, home, log);
  if (typeof found === "string")
    return { off: found, problems: [statusSentence("channel_is_off", { name: "email", reason: found })], noted };
  const [{ createEmailChannel }, { createTokens }] = await Promise.all([
    import("./email.js"),
    import("./auth/tokens.js"),
  ]);
  const { login, ...options } = found;
  const problems = config.verifySender === "off" ? [unverified] : [];
  for (const problem of problems) log.warn(problem);
  const tokens = login === undefined ? undefined : createTokens(login, tokensFile(scope));
  return { channel: createEmailChannel(withTokens(options, tokens), context), problems, noted };
}

/** Logs in at the mailbox's server once. Resolves with the address that people write to. @throws {ChannelError} */
export async function logIn(
  config: EmailSection,
  scope: Pick<PlatformScope, "account" | "home" | "log">,
  signal: AbortSignal,
): Promise<string> {
  const found = toOptions(config, scope.home, scope.log);
  if (typeof found === "string") throw new ChannelError(`The mailbox cannot be used: ${found}.`);
  const { openImap } = await import("./receiving/imap.js");
  const { login, ...options } = found;
  const { createTokens } = await import("./auth/tokens.js");
  const tokens = login === undefined ? undefined : createTokens(login, tokensFile(scope));
  using connection = await openImap(withTokens(options, tokens), signal);
  await connection.command((client) => client.noop());
  return found.fromAddress;
}

function tokensFile({ account = "email", home }: Pick<PlatformScope, "account" | "home">): string {
  return join(home, `${account}-auth.json`);
}

function withTokens(options: EmailOptions, tokens: Tokens | undefined): EmailOptions {
  return { ...options, access: { ...options.access, tokens } };
}

type FoundOptions = EmailOptions & { readonly login: OAuthLogin | undefined };

function toOptions(config: EmailSection, home: string, log: Logger): FoundOptions | string {
  const { consentGranted, oauth, imapHost, smtpHost, imapUsername, imapPassword, accessToken } = config;
  if (!consentGranted) return "consentGranted is false: set it to true to let this mailbox be read";
  const missing = missingKey(config);
  if (missing !== undefined || imapHost === undefined || imapUsername === undefined || smtpHost === undefined)
    return `it has no ${missing}`;
  const fromAddress = config.fromAddress ?? imapUsername.toLowerCase();
  const login = toLogin(oauth);
  if (typeof login === "string") return login;
  const hasToken = login !== undefined || accessToken !== undefined || config.accessTokenFile !== undefined;
  const inHome = (path: string | undefined): string | undefined =>
    path === undefined ? undefined : resolve(home, path);
  const { verifySender, session, pollIntervalSeconds, markSeen, hourlyPerSender, authservId } = config;
  const { autoReplyEnabled, sentMailbox, sentCopy } = config;
  return {
    fromAddress,
    imap: {
      host: imapHost,
      port: config.imapPort,
      username: imapUsername,
      password: imapPassword,
      mailbox: config.imapMailbox,
      useSSL: config.imapUseSSL,
      useTLS: config.imapUseTLS,
    },
    smtp: {
      host: smtpHost,
      port: config.smtpPort,
      username: config.smtpUsername ?? (hasToken ? imapUsername : undefined),
      password: config.smtpPassword,
      useSSL: config.smtpUseSSL,
      useTLS: config.smtpUseTLS,
    },
    access: { accessToken, accessTokenFile: inHome(config.accessTokenFile), tlsCaFile: inHome(config.tlsCaFile) },
    receiving: { verifySender, session, pollIntervalSeconds, markSeen, hourlyPerSender, authservId },
    sending: { autoReplyEnabled, sentMailbox, sentCopy },
    login,
    log,
  };
}

function toLogin({
  tokenUrl,
  clientId,
  refreshToken,
  ...more
}: EmailSection["oauth"]): OAuthLogin | string | undefined {
  if (refreshToken === undefined) return undefined;
  if (tokenUrl === undefined || clientId === undefined) return "oauth.tokenUrl and oauth.clientId are needed";
  return { ...more, tokenUrl, clientId, refreshToken };
}
