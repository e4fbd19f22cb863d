/** The shapes that mail programs give to what is not the author's own, whatever language they speak. */

const longestLooked = 1000;
const address = /[^\s@<>()[\]:;,"]{1,64}@[^\s@<>()[\]:;,"]/u;
const addresses = /[^\s@<>()[\]:;,"]{1,64}@[^\s@<>()[\]:;,"]{1,255}/gu;
const numericDate =
  /(?<![\p{Nd}.])(?:\p{Nd}{4}\s?[./\-年년]\s?\p{Nd}{1,2}\s?[./\-月월]\s?\p{Nd}{1,2}|\p{Nd}{1,2}[./-]\s?\p{Nd}{1,2}[./-]\s?(?:\p{Nd}{4}|\p{Nd}{2}))(?![.]?\p{Nd})/u;
const time = /\p{Nd}{1,2}\s?[:.時时시h]\s?\p{Nd}{2}(?!\p{Nd})/u;
/** Also of calendars that count from elsewhere. */
const year = /(?<!\p{Nd})(?:(?:1[34]|19|2[05])[0-9]{2}|[^\P{Nd}0-9]{4})(?!\p{Nd})/u;

export function hasAddress(text: string): boolean {
  return address.test(text.slice(0, longestLooked));
}

/** In lower case. */
export function addressesOf(text: string): readonly string[] {
  return (text.slice(0, longestLooked).match(addresses) ?? []).map((found) => found.toLowerCase());
}

/** A day of some year, or a time with a day: a weekday, a price or a phone number is none. */
export function hasDate(text: string): boolean {
  const looked = text.slice(0, longestLooked).normalize("NFKC");
  const numbers = looked.match(/\p{Nd}+/gu)?.length ?? 0;
  return numericDate.test(looked) || (numbers >= 2 && year.test(looked)) || (numbers >= 3 && time.test(looked));
}

/** With a month or a weekday in words, as programs write it above a mail. */
export function hasWrittenDate(text: string): boolean {
  const looked = text.slice(0, longestLooked).normalize("NFKC");
  return year.test(looked) && time.test(looked) && /\p{L}{3}/u.test(looked);
}

/** Without marks of quotes, bold print, tables and directions of writing. */
export function bareLine(line: string): string {
  return line
    .replace(/^[>\s\u{feff}]+/u, "")
    .replace(/[\p{Cf}*|]/gu, "")
    .trim();
}

export interface Field {
  readonly label: string;
  readonly value: string;
}

/** A line such as `From: somebody`, in any script. */
export function fieldOf(line: string): Field | undefined {
  const [, label, value = ""] =
    /^([\p{L}\p{M}][\p{L}\p{M}\p{Zs}.'’/()-]{0,39})[:：](.*)$/u.exec(bareLine(line.slice(0, longestLooked))) ?? [];
  // The beginning of a web address is none.
  return label === undefined || value.startsWith("//") ? undefined : { label: label.trim(), value: value.trim() };
}

const forwardWords =
  /^(?:-{2,}\s*(?:Forwarded message|Weitergeleitete Nachricht|Message transféré|Mensaje reenviado|Messaggio inoltrato)\s*-{2,}|Begin forwarded message:|Anfang der weitergeleiteten (?:Nachricht|E-Mail):)$/i;
const originalWords =
  /^-{2,}\s*(?:Original Message|Original-Nachricht|Ursprüngliche Nachricht|Message d'origine|Mensaje original|Messaggio originale|原始邮件)\s*-{2,}$/i;
/** Words between two rows of dashes, also with more behind them. */
const dashedWords = /^[-–—_=]{4,}\s?([^-–—_=]{2,60})[-–—_=]{4,}/u;
const rule = /^[-–—_=]{10,}$/u;

export type Separator = "forward" | "original" | "rule";

/** A line that programs put above a mail of somebody. A `rule` alone says nothing, unless it is Outlook's. */
export function separatorOf(line: string): Separator | undefined {
  const bare = bareLine(line.slice(0, longestLooked));
  if (forwardWords.test(bare)) return "forward";
  if (originalWords.test(bare)) return "original";
  if (rule.test(bare)) return "rule";
  const words = dashedWords.exec(bare)?.[1] ?? "";
  if (!/\p{L}/u.test(words) || /^(?:BEGIN|END) /.test(words)) return undefined;
  return "forward";
}

/** Outlook's, which nobody draws by hand. */
export function isOutlookRule(line: string): boolean {
  return /^_{20,}$/.test(bareLine(line.slice(0, longestLooked)));
}

/** What a phone writes below a mail. */
export function isDeviceLine(line: string): boolean {
  return /^(?:Sent from my |Sent from Outlook|Get Outlook for |Von meinem .{1,60} gesendet|Envoyé de mon |Enviado desde mi )/i.test(
    line.trim(),
  );
}
