import type { Archive } from "./archive.js";
import { readXml, relationsOf } from "./office-xml.js";
import type { DocumentText } from "./pdf.js";
import { counted, TextSink } from "./unreadable.js";

interface Workbook {
  readonly strings: readonly string[];
  /** By the index of a cell's style. */
  readonly isDate: readonly boolean[];
  /** Days are counted from 1904 on instead of 1900. */
  readonly from1904: boolean;
}

/** Empty columns at the left of a value that are still shown as such. */
const maxColumns = 200;
/** What one table of texts may take, so that a workbook cannot fill memory with them. */
const maxStrings = 1_000_000;

/** Excel: each sheet as rows of values with tabs between them, empty rows left out. */
export async function readXlsx(archive: Archive, main: string, limit: number): Promise<DocumentText> {
  const relations = await relationsOf(archive, main);
  const targets = new Map(relations.map(({ id, target }) => [id, target]));
  const partOf = (kind: string): string => relations.find(({ type }) => type.endsWith(`/${kind}`))?.target ?? "";
  const sheets: { readonly name: string; readonly target: string }[] = [];
  let from1904 = false;
  await readXml(archive, main, {
    open(tag, attributes) {
      const local = localName(tag);
      if (local === "workbookPr") from1904 = ["1", "true"].includes(attributes.date1904 ?? "");
      if (local === "sheet")
        sheets.push({ name: attributes.name ?? "", target: targets.get(attributes["r:id"] ?? "") ?? "" });
    },
  });
  const workbook: Workbook = {
    strings: await readStrings(archive, partOf("sharedStrings"), limit),
    isDate: await readDateStyles(archive, partOf("styles")),
    from1904,
  };
  const sink = new TextSink(limit);
  for (const { name, target } of sheets) {
    if (sink.isFull) break;
    sink.add(`\n\n[sheet ${name}]\n`);
    await readSheet(archive, target, workbook, sink);
  }
  return { ...sink.result(), size: counted(sheets.length, "sheet") };
}

async function readSheet(archive: Archive, name: string, workbook: Workbook, sink: TextSink): Promise<void> {
  let row: string[] = [];
  let cell: Attributes = {};
  let value = "";
  let isValue = false;
  await readXml(
    archive,
    name,
    {
      open(tag, attributes) {
        const local = localName(tag);
        if (local === "row") row = [];
        else if (local === "c") {
          cell = attributes;
          value = "";
        } else if (local === "v" || local === "t") isValue = true;
      },
      close(tag) {
        const local = localName(tag);
        if (local === "v" || local === "t") isValue = false;
        else if (local === "c" && value !== "") {
          const column = Math.min(columnOf(cell.r) ?? row.length, maxColumns);
          while (row.length < column) row.push("");
          row.push(shownValue(value, cell, workbook).replace(/\s+/g, " ").trim());
        } else if (local === "row" && row.length > 0) sink.add(`${row.join("\t")}\n`);
      },
      text(text) {
        if (isValue) value += text;
      },
    },
    () => sink.isFull,
  );
}

type Attributes = Readonly<Record<string, string>>;

function shownValue(value: string, { t, s }: Attributes, { strings, isDate, from1904 }: Workbook): string {
  if (t === "s") return strings[Number(value)] ?? "";
  if (t === "b") return value === "1" ? "TRUE" : "FALSE";
  if (t !== undefined && t !== "n") return value;
  return isDate[Number(s ?? 0)] ? dateOf(Number(value), from1904) : value;
}

/** Day 60 is the 29th of February 1900, which only Lotus and Excel know. */
function dateOf(serial: number, from1904: boolean): string {
  if (!Number.isFinite(serial) || serial < 0 || serial > 2_958_466) return String(serial);
  const days = from1904 ? serial + 1462 : serial < 60 ? serial + 1 : serial;
  const iso = new Date(Math.round((days - 25_569) * 86_400) * 1000).toISOString();
  if (serial < 1) return iso.slice(11, 19);
  return serial % 1 === 0 ? iso.slice(0, 10) : `${iso.slice(0, 10)} ${iso.slice(11, 16)}`;
}

async function readStrings(archive: Archive, name: string, limit: number): Promise<readonly string[]> {
  const strings: string[] = [];
  let current = "";
  let length = 0;
  let isText = false;
  let phonetic = 0;
  await readXml(
    archive,
    name,
    {
      open(tag) {
        const local = localName(tag);
        if (local === "si") current = "";
        else if (local === "rPh") phonetic += 1;
        else if (local === "t") isText = phonetic === 0;
      },
      close(tag) {
        const local = localName(tag);
        if (local === "t") isText = false;
        else if (local === "rPh") phonetic -= 1;
        else if (local === "si") {
          strings.push(current);
          length += current.length;
        }
      },
      text(text) {
        if (isText) current += text;
      },
    },
    () => strings.length > maxStrings || length > limit * 4,
  );
  return strings;
}

async function readDateStyles(archive: Archive, name: string): Promise<readonly boolean[]> {
  const formats = new Map<number, boolean>();
  const isDate: boolean[] = [];
  let isCellStyles = false;
  await readXml(archive, name, {
    open(tag, { numFmtId = "0", formatCode = "" }) {
      const local = localName(tag);
      if (local === "cellXfs") isCellStyles = true;
      else if (local === "numFmt") formats.set(Number(numFmtId), isDateFormat(formatCode));
      else if (local === "xf" && isCellStyles) isDate.push(formats.get(Number(numFmtId)) ?? isBuiltinDate(numFmtId));
    },
    close(tag) {
      if (localName(tag) === "cellXfs") isCellStyles = false;
    },
  });
  return isDate;
}

/** ECMA-376 part 1, 18.8.30: the formats that no file has to name. */
function isBuiltinDate(id: string): boolean {
  const number = Number(id);
  return (number >= 14 && number <= 22) || (number >= 27 && number <= 36) || (number >= 45 && number <= 58);
}

function isDateFormat(code: string): boolean {
  return /[ymdhs]/i.test(code.replace(/"[^"]*"|\\.|\[[^\]]*\]|General/gi, ""));
}

/** `C7` is the column 2, counted from 0. */
function columnOf(reference: string | undefined): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference ?? "")?.[0];
  if (letters === undefined) return undefined;
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}

/** Some programs write every name with a prefix. */
function localName(tag: string): string {
  return tag.slice(tag.indexOf(":") + 1);
}
