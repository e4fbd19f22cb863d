import { isIP } from "node:net";
import type { Header } from "../header-lines.js";

/** From which address one's own server had a mail, and with which envelope: what SPF is asked about. */
export interface MailClient {
  readonly ip: string;
  readonly sender: string;
}

/** `HELO (name [address])` as most servers write it, and `[address] (helo=…)` as Exim does of those without a name. */
const shape = /^from\s+(?:\S+\s+\((?:\S+\s+)?\[[^\s[\]]+\]|\[[^\s[\]]+\](?::\d+)?\s+\(helo=)/i;

const longestPath = 320;
const longestLine = 4096;

/**
 * What the topmost `Received` says, which is the only one of one's own server for sure. It quotes how the client has
 * greeted, so that a line with a second address says nothing: one of the two may be the client's invention.
 */
export function mailClient(headers: readonly Header[]): MailClient | undefined {
  const at = headers.findIndex(({ name }) => name === "received");
  const path = headers.slice(0, Math.max(0, at)).find(({ name }) => name === "return-path");
  const sender = /^<?([^<>\s]+@[^<>\s]+?)>?$/.exec(path?.value.slice(0, longestPath) ?? "")?.[1];
  const line = headers[at]?.value.slice(0, longestLine) ?? "";
  const words = line.split(/[\s()[\];<>="',]+/).map((word) => word.replace(/^IPv6:/i, ""));
  const [ip, ...others] = new Set(words.filter((word) => isIP(word) !== 0));
  if (sender === undefined || ip === undefined || others.length > 0 || !shape.test(line)) return undefined;
  return { ip, sender };
}
