import {
  bareLine,
  type Field,
  fieldOf,
  hasAddress,
  hasDate,
  hasWrittenDate,
  isOutlookRule,
  separatorOf,
} from "./shapes.js";

/** The lines that say whose mail begins below them. */
export interface Head {
  /** How many lines it has, from where it was looked for. */
  readonly length: number;
  /** A mail that is passed on, as far as that can be told. */
  readonly isForward: boolean;
}

const mostLines = 40;
const fromWord =
  /^(?:From|Von|De|De la|Da|Van|Od|От|От кого|Від|Från|Fra|Lähettäjä|Kimden|Gönderen|Feladó|Από|Nadawca|Odesílatel|发件人|寄件者|差出人|보낸 사람|מאת|من)$/iu;
const subjectWord =
  /^(?:Subject|Betreff|Objet|Asunto|Oggetto|Assunto|Onderwerp|主题|主旨|件名|제목|Тема|Temat|Ämne|Emne|Aihe|Předmět|Konu|נושא|الموضوع)$/iu;

/** The beginning of somebody's mail at this line: a separator, lines of its headers, or both. */
export function headAt(lines: readonly string[], at: number): Head | undefined {
  const line = lines[at] ?? "";
  const separator = separatorOf(line);
  if (separator === undefined) {
    const { fields, length } = fieldsAt(lines, at);
    return isHead(fields) ? { length, isForward: true } : undefined;
  }
  const next = skipBlank(lines, at + 1);
  const { fields, length } = fieldsAt(lines, next);
  if (separator === "rule") {
    if (isHead(fields) || isHeadBelowRule(fields)) return { length: next + length - at, isForward: false };
    return isOutlookRule(line) ? { length: 1, isForward: false } : undefined;
  }
  return { length: fields.length === 0 ? 1 : next + length - at, isForward: separator === "forward" };
}

/** Lines of the shape `Word: value` below each other, with the lines that their values go on in. */
function fieldsAt(
  lines: readonly string[],
  from: number,
): { readonly fields: readonly Field[]; readonly length: number } {
  const fields: Field[] = [];
  const end = Math.min(lines.length, from + mostLines);
  let at = from;
  let length = 0;
  while (at < end) {
    const line = lines[at] ?? "";
    const field = fieldOf(line);
    const last = fields.at(-1);
    if (field !== undefined) fields.push(field);
    else if (last === undefined) break;
    else if (bareLine(line) === "") {
      // Some programs make a paragraph of each line, or put the value below its word.
      if (last.value !== "" && fieldOf(lines[at + 1] ?? "") === undefined) break;
      at += 1;
      continue;
    } else if (
      last.value === "" ||
      /[,;]$/.test(last.value) ||
      /^[>\s]*[ \t]\S/.test(line) ||
      bareLine(line).startsWith("<")
    )
      fields[fields.length - 1] = { ...last, value: `${last.value} ${bareLine(line)}`.trim() };
    else break;
    at += 1;
    length = at - from;
  }
  return { fields, length };
}

/**
 * An address in one and a date in another. What somebody lists by themselves (`From: Berlin`, `To: Hamburg`) has no
 * address. Inside of companies programs leave addresses out: there the words are looked at.
 */
function isHead(fields: readonly Field[]): boolean {
  if (fields.length < 2) return false;
  const dates = fields.filter(({ value }) => hasDate(value));
  const addresses = fields.filter(({ value }) => hasAddress(value));
  if (addresses.some((field) => dates.some((date) => date !== field))) return true;
  const hasSubject = fields.some(({ label }) => subjectWord.test(label));
  const hasFrom = fields.some(({ label }) => fromWord.test(label));
  if (hasSubject) return hasFrom || dates.length > 0;
  return hasFrom && fields.length >= 3 && fields.some(({ value }) => hasWrittenDate(value));
}

function isHeadBelowRule(fields: readonly Field[]): boolean {
  const isKnown = ({ label, value }: Field): boolean => fromWord.test(label) || hasAddress(value) || hasDate(value);
  return fields.length >= 2 && fields.some(isKnown);
}

function skipBlank(lines: readonly string[], from: number): number {
  const end = Math.min(lines.length, from + 3);
  let at = from;
  while (at < end && bareLine(lines[at] ?? "") === "") at += 1;
  return at;
}
