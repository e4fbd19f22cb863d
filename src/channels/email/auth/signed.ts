import { z } from "zod";
import { addressesIn } from "../addresses.js";
import type { Header } from "../header-lines.js";

/** What a signature that has passed says besides who wrote the mail: whom its author wrote it to. */
export type Recipients =
  | { readonly addresses: readonly string[] }
  /** Somebody on the way could have made it another mail. */
  | { readonly doubt: string };

/** mailauth's types do not name all of it. */
const result = z.object({
  status: z.object({ result: z.string() }),
  signingDomain: z.string(),
  algo: z.string(),
  signTime: z.coerce.date().nullish(),
  canonBodyLengthLimited: z.boolean().optional(),
  signingHeaders: z.object({ keys: z.string(), headers: z.array(z.string()) }),
});
export type Signature = z.infer<typeof result>;

/** The signatures of a mail that cover who wrote it, its subject and all of its text (RFC 6376, sections 5.4 and 8.2). */
export function wholeSignatures(results: readonly unknown[], headers: readonly Header[]): readonly Signature[] {
  return results.flatMap((each) => {
    const { data } = result.safeParse(each);
    const isWhole =
      data !== undefined &&
      data.canonBodyLengthLimited !== true &&
      !/sha1$/i.test(data.algo) &&
      isCovered("from", data, headers) &&
      isCovered("subject", data, headers);
    return isWhole ? [data] : [];
  });
}

/** Whom the author wrote to, as far as the signature holds it. */
export function signedRecipients(signature: Signature, headers: readonly Header[], body: Buffer): Recipients {
  const twice = ["to", "cc"].find((name) => headers.filter((header) => header.name === name).length > 1);
  if (twice !== undefined) return { doubt: `it has ${twice} twice` };
  const bare = ["to", "cc", "message-id"].find((name) => !isCovered(name, signature, headers));
  if (bare !== undefined) return { doubt: `its ${bare} is not signed` };
  // Without one it could be sent again and again as a new mail, or years later.
  if (!headers.some(({ name }) => name === "message-id")) return { doubt: "it has no Message-ID" };
  const hasDate = headers.some(({ name }) => name === "date") && isCovered("date", signature, headers);
  if (!hasDate && !signature.signTime) return { doubt: "nobody has signed when it was written" };
  if (!isCovered("content-type", signature, headers) && !isPlainlyBuilt(headers, body))
    return { doubt: "how it is built is not signed" };
  const lines = signature.signingHeaders.headers.map((line) => /^(?:to|cc)\s*:(.*)$/is.exec(line)?.[1] ?? "");
  return { addresses: lines.flatMap((line) => addressesIn(line.replace(/\r?\n/g, ""))) };
}

/** Each header of that name is signed: a signature takes them from below, so that one more on top is anybody's. */
function isCovered(name: string, { signingHeaders }: Signature, headers: readonly Header[]): boolean {
  const count = headers.filter((header) => header.name === name).length;
  const signed = signingHeaders.keys.split(":").filter((key) => key.trim().toLowerCase() === name).length;
  return signed >= count && (count > 0 || name !== "from");
}

/**
 * Many providers do not sign `Content-Type`. Another one would make other text of the same bytes, where the body is not
 * built just as the header says.
 */
function isPlainlyBuilt(headers: readonly Header[], body: Buffer): boolean {
  const type = headers.find(({ name }) => name === "content-type")?.value ?? "text/plain";
  const start = body.subarray(0, 2000).toString("latin1").trimStart();
  if (/^text\/plain\b/i.test(type)) {
    const charset = /charset\s*=\s*"?([\w.:-]{1,40})/i.exec(type)?.[1] ?? "us-ascii";
    return !start.startsWith("--") && /^(?:utf-8|us-ascii|iso-8859-\d+|windows-125\d)$/i.test(charset);
  }
  const boundary = /boundary\s*=\s*(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(type);
  const mark = boundary?.[1] ?? boundary?.[2];
  const preamble = "This is a multi-part message in MIME format.";
  const first = (start.startsWith(preamble) ? start.slice(preamble.length).trimStart() : start).split(/\r?\n/, 1)[0];
  return mark !== undefined && /^multipart\//i.test(type) && first?.trimEnd() === `--${mark}`;
}
