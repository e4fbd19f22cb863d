import type { Readable } from "node:stream";
import { readAuthResults } from "./auth-results.js";
import { mailClient } from "./client-address.js";
import type { Header, MailHead } from "./headers.js";
import type { EmailOptions } from "./options.js";

/** Whether the author is who the mail says. `later`: nobody could be asked at the moment. */
export type SenderCheck =
  | { readonly verdict: "verified" }
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

/**
 * Checks the author's address: by what one's own server says where it is named, else by DKIM, SPF and DMARC.
 * `source` gives the whole mail.
 */
export async function checkSender(
  { headers, from, date }: MailHead,
  arrivedAt: Date,
  source: () => Promise<Buffer | Readable>,
  { authservId, resolver }: Pick<EmailOptions, "authservId" | "resolver">,
): Promise<SenderCheck> {
  const address = from?.address ?? "";
  const domain = address.slice(address.lastIndexOf("@") + 1);
  const twice = single.find((name) => headers.filter((header) => header.name === name).length > 1);
  if (twice !== undefined) return { verdict: "unverified", why: `it has ${twice} twice` };
  if (date !== undefined && arrivedAt.getTime() - date.getTime() > longestJourneyMs)
    return { verdict: "unverified", why: "it was written more than 6 days before it arrived" };
  return authservId === undefined
    ? await checkByKeys(headers, domain, await source(), resolver)
    : checkByServer(headers, domain, authservId);
}

function checkByServer(headers: readonly Header[], domain: string, authservId: string): SenderCheck {
  const results = readAuthResults(headers, authservId);
  if (results === undefined) return { verdict: "unverified", why: `it has no Authentication-Results of ${authservId}` };
  const dmarc = results.find(({ method }) => method === "dmarc");
  const isDomain = (value: string | undefined): boolean => domainOf(value) === domain;
  if (dmarc?.result === "pass" && isDomain(dmarc.properties.get("header.from"))) return { verdict: "verified" };
  if (dmarc?.result === "fail") return { verdict: "unverified", why: `${authservId} says dmarc=fail` };
  const passing = results.some(({ method, result, properties }) => {
    if (result !== "pass") return false;
    if (method === "dkim") return isAligned(domainOf(properties.get("header.d") ?? properties.get("header.i")), domain);
    return method === "spf" && isAligned(domainOf(properties.get("smtp.mailfrom")), domain);
  });
  if (passing) return { verdict: "verified" };
  const said = results.map(({ method, result }) => `${method}=${result}`).join(", ");
  return { verdict: "unverified", why: `${authservId} says ${said === "" ? "nothing" : said} for ${domain}` };
}

async function checkByKeys(
  headers: readonly Header[],
  domain: string,
  source: Buffer | Readable,
  resolver: EmailOptions["resolver"],
): Promise<SenderCheck> {
  const { authenticate } = await import("mailauth");
  const { dkim, spf, dmarc } = await authenticate(source, {
    ...(resolver === undefined ? {} : { resolver }),
    // Left to itself it believes the first `Received` in which it finds a name, and any address in it.
    trustReceived: false,
    ...mailClient(headers),
    disableArc: true,
    disableBimi: true,
  });
  // A signature of only a part of the mail proves nothing of the rest.
  const hasSubject = headers.some(({ name }) => name === "subject");
  const signatures = dkim.results.filter((each) => !each.status.underSized && (!hasSubject || signsSubject(each)));
  if (signatures.some(({ status, signingDomain }) => status.result === "pass" && isAligned(signingDomain, domain)))
    return { verdict: "verified" };
  const isWhole = signatures.length === dkim.results.length;
  if (dmarc !== false && dmarc.status.result === "pass" && isWhole && isPartOf(domain, dmarc.domain))
    return { verdict: "verified" };
  const spfDomain = spf !== false && spf.status.result === "pass" ? spf.domain : undefined;
  const isDenied = dmarc !== false && dmarc.status.result === "fail";
  if (!isDenied && isAligned(spfDomain, domain)) return { verdict: "verified" };
  const results = [
    ...dkim.results.map((each) => {
      const part = signatures.includes(each) ? "" : ", of a part only";
      return `dkim=${each.status.result} (${each.signingDomain}${part})`;
    }),
    ...(spf === false ? [] : [`spf=${spf.status.result}`]),
    ...(dmarc === false ? [] : [`dmarc=${dmarc.status.result}`]),
  ];
  const why = results.length === 0 ? "it is not signed" : results.join(", ");
  return { verdict: /=temp/.test(why) ? "later" : "unverified", why: why.slice(0, longestWhy) };
}

function signsSubject(result: object): boolean {
  // mailauth's types do not name it.
  const { signingHeaders } = result as { readonly signingHeaders?: { readonly keys?: string } };
  return signingHeaders?.keys?.toLowerCase().split(": ").includes("subject") === true;
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
