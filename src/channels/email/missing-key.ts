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
  const hasLogin = [imapPassword, accessToken, accessTokenFile, oauth.refreshToken].some(
    (login) => login !== undefined,
  );
  return hasLogin ? undefined : "imapPassword, oauth, accessToken or accessTokenFile";
}
