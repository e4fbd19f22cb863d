import type { EmailSection } from "./section.js";

/** What a mailbox cannot be used without. Undefined: all is there. */
export function missingKey(section: EmailSection): string | undefined {
  const { imapHost, imapUsername, smtpHost, fromAddress, imapPassword, accessToken, accessTokenFile, oauth } = section;
  // Without consent it is off, whatever the rest says.
  if (!section.consentGranted) return undefined;
  if (imapHost === undefined) return "imapHost";
  if (imapUsername === undefined) return "imapUsername";
  if (smtpHost === undefined) return "smtpHost";
  if (!(fromAddress ?? imapUsername).includes("@")) return "fromAddress, and imapUsername is not an address";
  if (oauth.refreshToken !== undefined) {
    if (oauth.tokenUrl === undefined) return "oauth.tokenUrl";
    return oauth.clientId === undefined ? "oauth.clientId" : undefined;
  }
  const hasLogin = [imapPassword, accessToken, accessTokenFile].some((login) => login !== undefined);
  return hasLogin ? undefined : "imapPassword, oauth, accessToken or accessTokenFile";
}
