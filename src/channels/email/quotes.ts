import { trimEndWhere } from "../../util/trim-where.js";

/** A mail's text, taken apart. */
export interface SplitText {
  /** What the author wrote. */
  readonly own: string;
  /** What stands below or above it of earlier mails; empty where the author has answered between its lines. */
  readonly quoted: string;
  /** The quoted mail was passed on, and is no answered one. */
  readonly isForward: boolean;
}

const forwarded =
  /^(?:-{2,}\s*(?:Forwarded message|Forwarded Message|Weitergeleitete Nachricht|Message transféré|Mensaje reenviado|Messaggio inoltrato)\s*-{2,}|Begin forwarded message:|Anfang der weitergeleiteten (?:Nachricht|E-Mail):)\s*$/i;
const original =
  /^-{2,}\s*(?:Original Message|Original-Nachricht|Ursprüngliche Nachricht|Message d'origine|Mensaje original|Messaggio originale|原始邮件)\s*-{2,}\s*$/i;
const attribution =
  /^(?:On\s.+\swrote|Am\s.+\sschrieb.*|Le\s.+\sa écrit|El\s.+\sescribió|Il\s.+\sha scritto|Op\s.+\sschreef.*|Den\s.+\sskrev.*|.+\swrote|在.+写道|[^<]+<[^<>\s@]+@[^<>\s@]+>.*)\s*[:：]\s*$/s;
const headLine = /^\s*\*?(?:From|Von|De|Da|Van|发件人)\s*[:：]\*?\s/i;
const sentLine =
  /^\s*\*?(?:Sent|Date|Gesendet|Datum|Envoyé|Enviado|Inviato|Verzonden|To|An|À|Para|A|Subject|Betreff|发送时间)\s*[:：]/i;
const rule = /^(?:_{10,}|-{10,})\s*$/;
const device =
  /^(?:Sent from my |Sent from Outlook|Get Outlook for |Von meinem .+ gesendet|Envoyé de mon |Enviado desde mi )/i;
/** Where a program has put an attribution over several lines. */
const longestAttribution = 3;

export function splitText(text: string): SplitText {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const mark = findMark(lines);
  if (mark === undefined) return { own: ownText(lines), quoted: "", isForward: false };
  const before = lines.slice(0, mark.at);
  const after = lines.slice(mark.at + mark.length);
  if (mark.kind !== "answered")
    return { own: ownText(before), quoted: clean(after), isForward: mark.kind === "forwarded" };
  const blocks = blocksOf(after);
  if (!blocks.some(({ isQuote }) => isQuote)) return { own: ownText(before), quoted: clean(after), isForward: false };
  const answers = blocks.filter(({ isQuote }) => !isQuote);
  const isBetween =
    answers.length > 1 || blocks.findIndex(({ isQuote }) => !isQuote) < blocks.findLastIndex(({ isQuote }) => isQuote);
  if (answers.length > 0 && isBetween) return { own: clean([...before, ...after]), quoted: "", isForward: false };
  const quoted = blocks.filter(({ isQuote }) => isQuote).flatMap((block) => block.lines);
  return {
    own: ownText([...before, ...answers.flatMap((block) => block.lines)]),
    quoted: clean(quoted.map((line) => line.replace(/^>\s?/, ""))),
    isForward: false,
  };
}

interface Mark {
  readonly at: number;
  readonly length: number;
  readonly kind: "forwarded" | "original" | "answered";
}

function findMark(lines: readonly string[]): Mark | undefined {
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]?.trim() ?? "";
    if (line === "") continue;
    if (forwarded.test(line)) return { at, length: 1, kind: "forwarded" };
    if (original.test(line)) return { at, length: 1, kind: "original" };
    const isRule = rule.test(line);
    const head = isRule ? at + 1 : at;
    if (headLine.test(lines[head] ?? "") && lines.slice(head + 1, head + 4).some((each) => sentLine.test(each)))
      return { at, length: isRule ? 1 : 0, kind: "original" };
    if (line.startsWith(">")) return { at, length: 0, kind: "answered" };
    for (let length = 1; length <= longestAttribution; length++) {
      const whole = lines
        .slice(at, at + length)
        .join("\n")
        .trim();
      if (whole.length > 400 || lines[at + length - 1]?.trim() === "") break;
      // It ends with a colon: cheaper to see than all the rest of it.
      if (!/[:：]$/.test(whole.slice(-1))) continue;
      if (attribution.test(whole) && isFollowedByQuote(lines, at + length)) return { at, length, kind: "answered" };
    }
  }
  return undefined;
}

/** The next line with something in it begins with `>`; of programs that do not mark it, the words before are enough. */
function isFollowedByQuote(lines: readonly string[], from: number): boolean {
  let at = from;
  while (at < lines.length && lines[at]?.trim() === "") at += 1;
  const next = lines[at];
  if (next === undefined || next.startsWith(">")) return true;
  return /^(?:On|Am|Le|El|Il|Op|Den|在)\s?.*\d{4}/s.test(
    lines.slice(Math.max(0, from - longestAttribution), from).join(" "),
  );
}

interface Block {
  readonly isQuote: boolean;
  readonly lines: string[];
}

/** Blank lines belong to what is before them. */
function blocksOf(lines: readonly string[]): readonly Block[] {
  const blocks: Block[] = [];
  for (const line of lines) {
    const last = blocks.at(-1);
    if (line.trim() === "") {
      last?.lines.push(line);
      continue;
    }
    const isQuote = line.startsWith(">");
    if (last?.isQuote === isQuote) last.lines.push(line);
    else blocks.push({ isQuote, lines: [line] });
  }
  return withoutSignature(blocks);
}

/** A signature below a quote is no answer. */
function withoutSignature(blocks: Block[]): readonly Block[] {
  const last = blocks.at(-1);
  if (last === undefined || last.isQuote) return blocks;
  return ownText(last.lines) === "" ? blocks.slice(0, -1) : blocks;
}

function ownText(lines: readonly string[]): string {
  const signature = lines.findIndex((line) => line === "-- " || line === "--");
  const kept = signature === -1 ? [...lines] : lines.slice(0, signature);
  while (kept.length > 0 && (kept.at(-1)?.trim() === "" || device.test(kept.at(-1)?.trim() ?? ""))) kept.pop();
  return clean(kept);
}

function clean(lines: readonly string[]): string {
  return lines
    .map((line) => trimEndWhere(line, (unit) => unit === " " || unit === "\t"))
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}
