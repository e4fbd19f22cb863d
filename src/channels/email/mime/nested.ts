import { parseHead } from "../headers.js";
import { type PartFile, readParts } from "./read-parts.js";

const deepest = 5;
const mostMails = 20;
const longestText = 20_000;

/**
 * The mails inside of a mail, with what is above each: whose it was, and from when. What lies deeper than a few levels
 * is named and not read.
 */
export async function readNestedMails(files: readonly PartFile[]): Promise<string> {
  const state = { left: mostMails };
  return (await mailsIn(files, 1, state)).join("\n\n");
}

async function mailsIn(files: readonly PartFile[], depth: number, state: { left: number }): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { contentType, content } of files.filter(isMail)) {
    const { from, subject, date } = await parseHead(content);
    const name = subject === "" ? "a mail without a subject" : `the mail “${subject.slice(0, 200)}”`;
    if (depth > deepest || state.left === 0) {
      found.push(`[Not read, because it is nested too deep or there are too many: ${name}.]`);
      continue;
    }
    state.left -= 1;
    const inner = await readParts(content);
    const names = inner.files.filter((file) => !isMail(file)).map((file) => file.filename ?? file.contentType);
    found.push(
      [
        `[${contentType === "message/rfc822" ? "A mail in this mail" : "A message in this mail"}]`,
        ...(from === undefined
          ? []
          : [`From: ${from.name === undefined ? from.address : `${from.name} <${from.address}>`}`]),
        ...(subject === "" ? [] : [`Subject: ${subject}`]),
        ...(date === undefined ? [] : [`Date: ${date.toUTCString()}`]),
        ...(names.length === 0 ? [] : [`Files: ${names.slice(0, 20).join(", ")}`]),
        "",
        inner.text.trim().slice(0, longestText),
      ].join("\n"),
      ...(await mailsIn(inner.files, depth + 1, state)),
    );
  }
  return found;
}

function isMail({ contentType }: PartFile): boolean {
  return contentType === "message/rfc822" || contentType === "message/global";
}
