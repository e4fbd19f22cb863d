import type { Logger } from "../../log.js";
import type { Tokens } from "./auth/tokens.js";

/** A server, and who logs in there. */
export interface MailServerLogin {
  readonly host: string;
  readonly port: number;
  readonly password?: string | undefined;
  /** TLS from the first byte. */
  readonly useSSL: boolean;
  /** Without `useSSL`: STARTTLS, and nothing is said before it. False: everything is readable on the way. */
  readonly useTLS: boolean;
}

export interface ImapOptions extends MailServerLogin {
  readonly username: string;
  readonly mailbox: string;
}

export interface SmtpOptions extends MailServerLogin {
  /** Without a name nobody logs in. */
  readonly username?: string | undefined;
}

/** What opens both servers, beside their passwords. */
export interface AccessOptions {
  /** An OAuth2 access token, used by both servers instead of passwords. */
  readonly accessToken?: string | undefined;
  /** A file that always holds a fresh access token; read at each login. */
  readonly accessTokenFile?: string | undefined;
  /** Where access tokens come from that are renewed here; before the two above. */
  readonly tokens?: Tokens | undefined;
  /** A PEM file with certificates to trust besides the system's. */
  readonly tlsCaFile?: string | undefined;
}

export interface ReceivingOptions {
  /** The name by which one's own server signs its `Authentication-Results`. */
  readonly authservId?: string | undefined;
  readonly verifySender: "required" | "off";
  readonly session: "thread" | "sender";
  /** For servers that do not announce new mail by themselves. */
  readonly pollIntervalSeconds: number;
  readonly markSeen: boolean;
  /** Mails of one sender that are taken, by the hour in which they arrived. */
  readonly hourlyPerSender: number;
  /** DNS for the senders' keys. Default: the system's. */
  readonly resolver?: ((domain: string, type: string) => Promise<string[][] | string[]>) | undefined;
  /** How soon a mail that could not be taken is tried again. */
  readonly busyRetryMs?: number | undefined;
  /** How soon a sender whose keys could not be asked for is checked again; later each time. */
  readonly verifyRetryMs?: number | undefined;
}

export interface SendingOptions {
  /** False: nothing is ever sent. */
  readonly autoReplyEnabled: boolean;
  /** Default: the folder that the server marks as the one for sent mail. */
  readonly sentMailbox?: string | undefined;
  /** Whether a copy of what is sent is put there: `auto` where the server does not do it by itself. */
  readonly sentCopy: "auto" | "never";
  readonly timeoutMs?: number | undefined;
  /** The pause before the sent mail is looked through once more for what may have arrived. */
  readonly sentLookMs?: number | undefined;
}

export interface EmailOptions {
  /** The address that people write to. */
  readonly fromAddress: string;
  readonly imap: ImapOptions;
  readonly smtp: SmtpOptions;
  readonly access: AccessOptions;
  readonly receiving: ReceivingOptions;
  readonly sending: SendingOptions;
  readonly log: Logger;
}

export function accountOf({ username, host, mailbox }: ImapOptions): string {
  return `${username}@${host}/${mailbox}`;
}
