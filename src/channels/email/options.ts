import type { Logger } from "../../log.js";
import type { Tokens } from "./auth/tokens.js";

export interface EmailOptions {
  readonly imapHost: string;
  readonly imapPort: number;
  readonly imapUsername: string;
  readonly imapPassword?: string | undefined;
  readonly imapMailbox: string;
  /** TLS from the first byte. */
  readonly imapUseSSL: boolean;
  /** Without `imapUseSSL`: STARTTLS, and nothing is said before it. False: everything is readable on the way. */
  readonly imapUseTLS: boolean;
  readonly smtpHost: string;
  readonly smtpPort: number;
  /** Without a name nobody logs in at the SMTP server. */
  readonly smtpUsername?: string | undefined;
  readonly smtpPassword?: string | undefined;
  readonly smtpUseTLS: boolean;
  readonly smtpUseSSL: boolean;
  /** The address that people write to. */
  readonly fromAddress: string;
  /** An OAuth2 access token, used by both servers instead of passwords. */
  readonly accessToken?: string | undefined;
  /** A file that always holds a fresh access token; read at each login. */
  readonly accessTokenFile?: string | undefined;
  /** Where access tokens come from that are renewed here; before the two above. */
  readonly tokens?: Tokens | undefined;
  /** A PEM file with certificates to trust besides the system's. */
  readonly tlsCaFile?: string | undefined;
  /** The name by which one's own server signs its `Authentication-Results`. */
  readonly authservId?: string | undefined;
  readonly verifySender: "required" | "off";
  readonly session: "thread" | "sender";
  /** False: nothing is ever sent. */
  readonly autoReplyEnabled: boolean;
  /** Where the server does not tell about new mail by itself. */
  readonly pollIntervalSeconds: number;
  readonly markSeen: boolean;
  /** Default: the folder that the server marks as the one for sent mail. */
  readonly sentMailbox?: string | undefined;
  /** Whether a copy of what is sent is put there: `auto` where the server does not do it by itself. */
  readonly sentCopy: "auto" | "never";
  /** Mails of one sender that are taken, by the hour in which they arrived. */
  readonly hourlyPerSender: number;
  /** DNS for the senders' keys. Default: the system's. */
  readonly resolver?: ((domain: string, type: string) => Promise<string[][] | string[]>) | undefined;
  readonly sendTimeoutMs?: number | undefined;
  /** The pause before the sent mail is looked through once more for what may have arrived. */
  readonly sentLookMs?: number | undefined;
  /** How soon a mail that could not be taken is tried again. */
  readonly busyRetryMs?: number | undefined;
  /** How soon a sender whose keys could not be asked for is checked again; later each time. */
  readonly verifyRetryMs?: number | undefined;
  readonly log: Logger;
}

export function accountOf({ imapUsername, imapHost, imapMailbox }: EmailOptions): string {
  return `${imapUsername}@${imapHost}/${imapMailbox}`;
}
