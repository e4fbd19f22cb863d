import { domainToASCII } from "node:url";

const longestValue = 20_000;

/**
 * The addresses in the value of a To, Cc or From, in lower case. What is in names, quotes and comments is none: anyone who
 * was answered has chosen it.
 */
export function addressesIn(value: string): readonly string[] {
  return splitAddresses(value.slice(0, longestValue)).flatMap((item) => {
    const open = item.indexOf("<");
    const close = item.indexOf(">", open);
    const address = (open === -1 ? item : item.slice(open + 1, close === -1 ? undefined : close)).trim().toLowerCase();
    const isOdd = open !== -1 && (close === -1 || item.slice(close + 1).trim() !== "");
    return isOdd || !isAddress(address) ? [] : [asciiDomain(address)];
  });
}

/** One that can be part of a session's key and of an SMTP command. */
export function isAddress(text: string): boolean {
  if (text.length > 254) return false;
  const at = text.indexOf("@");
  const isPlain = (part: string): boolean => /^[^\s@<>()[\]\\,;:"\p{Cc}]+$/u.test(part);
  return isPlain(text.slice(0, Math.max(0, at))) && isPlain(text.slice(at + 1)) && !text.endsWith(".");
}

function asciiDomain(address: string): string {
  const at = address.lastIndexOf("@");
  return `${address.slice(0, at)}@${domainToASCII(address.slice(at + 1)) || address.slice(at + 1)}`;
}

/** Cut at commas, and at what begins and ends a group, without quotes and comments. */
function splitAddresses(value: string): readonly string[] {
  const items: string[] = [];
  let item = "";
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < value.length; at++) {
    const letter = value.charAt(at);
    if (letter === "\\" && (isQuoted || depth > 0)) at += 1;
    else if (letter === '"' && depth === 0) {
      isQuoted = !isQuoted;
      // An address with a quoted part is not a plain one.
      item += '"';
    } else if (isQuoted) continue;
    else if (letter === "(") depth += 1;
    else if (depth > 0) depth -= letter === ")" ? 1 : 0;
    else if (letter === "," || letter === ";" || (letter === ":" && !item.includes("<"))) {
      items.push(letter === ":" ? "" : item);
      item = "";
    } else item += letter;
  }
  return [...items, item];
}
