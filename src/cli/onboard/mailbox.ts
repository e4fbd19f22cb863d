import { platformIn } from "../../onboarding/set-up.js";
import { orBack } from "./fields-step.js";
import { problemOfOwner, usage } from "./flags.js";
import { type Setup, textAt } from "./setup.js";

/** It has questions of its own. */
export function isMailbox(name: string): boolean {
  return platformIn(name) === "email";
}

/**
 * What is there stays, unless somebody says otherwise. False: somebody wants to go back.
 *
 * @throws {CommandError} something lacks, and nobody can be asked
 */
export async function setMailbox(setup: Setup, name: string): Promise<boolean> {
  const { flags, given, prompts } = setup;
  if (flags.address !== undefined) setAddress(setup, name, flags.address);
  if (flags.imap !== undefined) setHost(setup, name, "imap", flags.imap);
  if (flags.smtp !== undefined) setHost(setup, name, "smtp", flags.smtp);
  if (given.token !== undefined) setPassword(setup, name, given.token);
  if (flags.consent === true) setup.draft.set(["channels", name, "consentGranted"], true);
  const lacks = lacksOfMailbox(setup, name);
  if (prompts === undefined) {
    if (lacks !== undefined) throw usage(`--channel ${name} needs more: ${lacks}`);
    return true;
  }
  if (lacks === undefined && (await prompts.confirm("Keep the mailbox that is there?"))) return true;
  return await askMailbox(setup, name);
}

/** The first thing that it cannot do without, with its flag. */
export function lacksOfMailbox(setup: Setup, name: string): string | undefined {
  const has = (key: string): boolean => textAt(setup, ["channels", name, key]) !== undefined;
  if (!has("imapUsername")) return "the address of the mailbox (--address).";
  if (!has("imapHost")) return "the server that it is read from (--imap).";
  if (!has("smtpHost")) return "the server that it sends through (--smtp).";
  const hasLogin = ["imapPassword", "accessToken", "accessTokenFile"].some(has) || has("oauth.refreshToken");
  if (!hasLogin && setup.draft.get(["channels", name, "oauth", "refreshToken"]) === undefined)
    return "its password (--token-env NAME or --token-stdin).";
  if (setup.draft.get(["channels", name, "consentGranted"]) !== true)
    return "the word of the mailbox's owner that a program may read it (--consent).";
  return undefined;
}

/** False: no address or no password was typed. */
export async function askMailbox(setup: Setup, name: string): Promise<boolean> {
  const { prompts } = setup;
  if (prompts === undefined) return true;
  const known = (key: string): string | undefined => textAt(setup, ["channels", name, key]);
  const problem = (typed: string): string | undefined => (typed === "" ? undefined : problemOfOwner(name, typed));
  const address = await prompts.line(orBack("The mailbox of the assistant"), {
    initial: known("imapUsername"),
    example: "assistant@example.org",
    problem,
  });
  if (address === "") return false;
  const domain = address.slice(address.indexOf("@") + 1);
  const guess = (kind: "imap" | "smtp"): string =>
    known(`${kind}Host`) ?? usualServers[domain]?.[kind] ?? `${kind}.${domain}`;
  const host = (typed: string): string | undefined =>
    /^[\w.-]+(?::\d{1,5})?$/.test(typed) ? undefined : "The name of a server, such as imap.example.org.";
  const imap = await prompts.line("The server that it is read from (IMAP)", { initial: guess("imap"), problem: host });
  const smtp = await prompts.line("The server that it sends through (SMTP)", { initial: guess("smtp"), problem: host });
  const password = await prompts.secret(orBack("Its password (many providers want one made for programs)"));
  if (password === "") return false;
  setAddress(setup, name, address);
  if (imap !== known("imapHost")) setHost(setup, name, "imap", imap);
  if (smtp !== known("smtpHost")) setHost(setup, name, "smtp", smtp);
  setPassword(setup, name, password);
  const isGranted = await prompts.confirm("May this program read all mail that comes into this mailbox?", false);
  setup.draft.set(["channels", name, "consentGranted"], isGranted);
  return true;
}

function setAddress({ draft }: Setup, name: string, address: string): void {
  draft.set(["channels", name, "imapUsername"], address);
  draft.set(["channels", name, "fromAddress"], address);
  draft.set(["channels", name, "smtpUsername"], address);
}

/** `host` or `host:port`. */
function setHost({ draft }: Setup, name: string, kind: "imap" | "smtp", server: string): void {
  const [host = "", port] = server.split(":");
  draft.set(["channels", name, `${kind}Host`], host);
  if (port === undefined) return;
  draft.set(["channels", name, `${kind}Port`], Number(port));
  // There TLS begins with the first byte.
  if (kind === "smtp") draft.set(["channels", name, "smtpUseSSL"], port === "465");
}

function setPassword({ draft }: Setup, name: string, password: string): void {
  draft.set(["channels", name, "imapPassword"], password);
  draft.set(["channels", name, "smtpPassword"], password);
}

const usualServers: Readonly<Record<string, { readonly imap: string; readonly smtp: string }>> = {
  "outlook.com": { imap: "outlook.office365.com", smtp: "smtp.office365.com" },
  "hotmail.com": { imap: "outlook.office365.com", smtp: "smtp.office365.com" },
  "icloud.com": { imap: "imap.mail.me.com", smtp: "smtp.mail.me.com" },
  "yahoo.com": { imap: "imap.mail.yahoo.com", smtp: "smtp.mail.yahoo.com" },
  "gmx.de": { imap: "imap.gmx.net", smtp: "mail.gmx.net" },
  "gmx.net": { imap: "imap.gmx.net", smtp: "mail.gmx.net" },
};
