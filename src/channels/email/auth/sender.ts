import type { Readable } from "node:stream";
import { type Header, headerBlock } from "../header-lines.js";
import type { MailHead } from "../headers.js";
import type { ReceivingOptions } from "../options.js";
import { readAuthResults } from "./auth-results.js";
import { mailClient } from "./client-address.js";
import { type Recipients, signedRecipients, wholeSignatures } from "./signed.js";

/** Whether the author is who the mail says. `later`: nobody could be asked at the moment. */
export type SenderCheck =
  | { readonly verdict: "verified"; readonly recipients: Recipients }
  | { readonly verdict: "unverified"; readonly why: string }
  | { readonly verdict: "later"; readonly why: string };

/** Of these a signature covers one: a second one above it is anybody's words (RFC 6376, section 8.15). */
const single = [
  ...["subject", "date", "message-id", "in-reply-to", "references"],
  ...["content-type", "content-transfer-encoding"],
];
/** One line of the log, however many signatures a mail has. */
const longestWhy = 300;
/** A mail that is sent again much later has been replayed: what was read of it may be forgotten by then. */
const longestJourneyMs = 6 * 24 * 3600 * 1000;
/** SPF and DMARC prove the way that a mail has taken, and neither whom it was written to. */
const unsigned: Recipients = { doubt: "nobody has signed all of it" };
const tooOld = "it was written more than 6 days before it arrived";

/** A mail that is to be checked. `source` gives all of it, `start` is its beginning. */
export interface CheckedMail {
  readonly head: MailHead;
  readonly arrivedAt: Date;
  readonly start: Buffer;
  readonly source: () => Promise<Buffer | Readable>;
}

/** Checks the author's address: by what one's own server says where it is named, else by DKIM, SPF and DMARC. */
export async function checkSender(
  mail: CheckedMail,
  options: Pick<ReceivingOptions, "authservId" | "resolver">,
): Promise<SenderCheck> {
  const { headers, from, date, fault } = mail.head;
  const address = from?.address ?? "";
  const domain = address.slice(address.lastIndexOf("@") + 1);
  const twice = single.find((name) => headers.filter((header) => header.name === name).length > 1);
  if (fault !== undefined) return { verdict: "unverified", why: fault };
  if (twice !== undefined) return { verdict: "unverified", why: `it has ${twice} twice` };
  if (date !== undefined && isTooOld(mail, date)) return { verdict: "unverified", why: tooOld };
  if (options.authservId === undefined) return await checkByKeys(mail, domain, options.resolver);
  const why = deniedByServer(headers, domain, options.authservId);
  if (why !== undefined) return { verdict: "unverified", why };
  // It says that a signature has passed, and not what the signature covers.
  return { verdict: "verified", recipients: await verifyRecipients(mail, domain, options.resolver) };
}

function isTooOld({ arrivedAt }: CheckedMail, writtenAt: Date): boolean {
  return arrivedAt.getTime() - writtenAt.getTime() > longestJourneyMs;
}

/** Why one's own server does not say that the author's domain has sent the mail. */
function deniedByServer(headers: readonly Header[], domain: string, authservId: string): string | undefined {
  const results = readAuthResults(headers, authservId);
  if (results === undefined) return `it has no Authentication-Results of ${authservId}`;
  const dmarc = results.find(({ method }) => method === "dmarc");
  const isDomain = (value: string | undefined): boolean => domainOf(value) === domain;
  if (dmarc?.result === "pass" && isDomain(dmarc.properties.get("header.from"))) return undefined;
  if (dmarc?.result === "fail") return `${authservId} says dmarc=fail`;
  const passing = results.some(({ method, result, properties }) => {
    if (result !== "pass") return false;
    if (method === "dkim") return isAligned(domainOf(properties.get("header.d") ?? properties.get("header.i")), domain);
    return method === "spf" && isAligned(domainOf(properties.get("smtp.mailfrom")), domain);
  });
  if (passing) return undefined;
  const said = results.map(({ method, result }) => `${method}=${result}`).join(", ");
  return `${authservId} says ${said === "" ? "nothing" : said} for ${domain}`;
}

async function checkByKeys(
  mail: CheckedMail,
  domain: string,
  resolver: ReceivingOptions["resolver"],
): Promise<SenderCheck> {
  const { headers } = mail.head;
  const { authenticate } = await import("mailauth");
  const { dkim, spf, dmarc } = await authenticate(await mail.source(), {
    ...(resolver === undefined ? {} : { resolver }),
    // Left to itself it believes the first `Received` in which it finds a name, and any address in it.
    trustReceived: false,
    ...mailClient(headers),
    disableArc: true,
    disableBimi: true,
  });
  const recipients = recipientsIn(dkim.results, mail, domain);
  if (recipients === "old") return { verdict: "unverified", why: tooOld };
  if (recipients !== undefined) return { verdict: "verified", recipients };
  const whole = wholeSignatures(dkim.results, headers);
  const areWhole = dkim.results.every(({ status }) => status.result === "none") || whole.length === dkim.results.length;
  if (dmarc !== false && dmarc.status.result === "pass" && areWhole && isPartOf(domain, dmarc.domain))
    return { verdict: "verified", recipients: unsigned };
  const spfDomain = spf !== false && spf.status.result === "pass" ? spf.domain : undefined;
  const isDenied = dmarc !== false && dmarc.status.result === "fail";
  if (!isDenied && isAligned(spfDomain, domain)) return { verdict: "verified", recipients: unsigned };
  const results = [
    ...dkim.results.map(({ status, signingDomain }) => {
      const isWhole = whole.some((each) => each.signingDomain === signingDomain);
      return `dkim=${status.result} (${signingDomain}${isWhole ? "" : ", of a part only"})`;
    }),
    ...(spf === false ? [] : [`spf=${spf.status.result}`]),
    ...(dmarc === false ? [] : [`dmarc=${dmarc.status.result}`]),
  ];
  const why = results.length === 0 ? "it is not signed" : results.join(", ");
  return { verdict: /=temp/.test(why) ? "later" : "unverified", why: why.slice(0, longestWhy) };
}

/** Whom the mail was written to, by the signatures of the author's domain; undefined where none has passed. */
function recipientsIn(results: readonly unknown[], mail: CheckedMail, domain: string): Recipients | "old" | undefined {
  const { headers } = mail.head;
  const passing = wholeSignatures(results, headers).filter(
    ({ status, signingDomain }) => status.result === "pass" && isAligned(signingDomain, domain),
  );
  const fresh = passing.filter(({ signTime }) => !signTime || !isTooOld(mail, signTime));
  if (fresh.length === 0) return passing.length === 0 ? undefined : "old";
  const body = mail.start.subarray(headerBlock(mail.start).length);
  const found = fresh.map((signature) => signedRecipients(signature, headers, body));
  return found.find((each) => "addresses" in each) ?? found[0];
}

async function verifyRecipients(
  mail: CheckedMail,
  domain: string,
  resolver: ReceivingOptions["resolver"],
): Promise<Recipients> {
  if (!mail.head.headers.some(({ name }) => name === "dkim-signature")) return unsigned;
  const { dkimVerify } = await import("mailauth");
  const { results } = await dkimVerify(await mail.source(), resolver === undefined ? {} : { resolver });
  const recipients = recipientsIn(results, mail, domain);
  return recipients === undefined || recipients === "old" ? unsigned : recipients;
}

/** Signed by the author's domain itself, or by one above it. */
function isAligned(signer: string | undefined, domain: string): boolean {
  return signer?.includes(".") === true && isPartOf(domain, signer);
}

function isPartOf(domain: string, whole: string | undefined): boolean {
  const above = whole?.toLowerCase() ?? "";
  return above !== "" && (domain === above || domain.endsWith(`.${above}`));
}

function domainOf(value: string | undefined): string | undefined {
  return value?.slice(value.lastIndexOf("@") + 1).toLowerCase();
}
