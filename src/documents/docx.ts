import type { Archive } from "./archive.js";
import { type Attributes, readXml, relationsOf, type XmlListener } from "./office-xml.js";
import type { DocumentText } from "./pdf.js";
import { counted, TextSink } from "./unreadable.js";

/**
 * Word: headings with `#`, list items with `-`, one line for each row of a table, notes at the end. Deleted text is left
 * out.
 */
export async function readDocx(archive: Archive, main: string, limit: number): Promise<DocumentText> {
  const sink = new TextSink(limit);
  let paragraphs = 0;
  let paragraph = "";
  let prefix = "";
  let isText = false;
  let skipped = 0;
  const cells: string[][] = [];
  const endParagraph = (): void => {
    const cell = cells.at(-1);
    if (cell === undefined) {
      if (paragraph !== "") paragraphs += 1;
      sink.add(`${prefix}${paragraph}\n`);
    } else if (paragraph !== "") cell[cell.length - 1] = `${cell.at(-1) ?? ""} ${paragraph}`.trim();
    paragraph = "";
    prefix = "";
  };
  const readPart = (part: string): Promise<void> => readXml(archive, part, listener, () => sink.isFull);
  const listener: XmlListener = {
    open(name, attributes) {
      // What newer programs draw is there a second time for older ones.
      if (name === "mc:Fallback" || name === "w:del") skipped += 1;
      if (skipped > 0) return;
      if (name === "w:t") isText = true;
      else if (name === "w:tab") paragraph += paragraph === "" ? "" : "\t";
      else if (name === "w:br" || name === "w:cr") paragraph += "\n";
      else if (name === "w:pStyle") prefix = headingOf(attributes["w:val"]) ?? prefix;
      else if (name === "w:numPr" && prefix === "") prefix = "- ";
      else if (name === "w:footnoteReference" || name === "w:endnoteReference") paragraph += noteMark(attributes);
      // Those with a type are the lines between text and notes.
      else if (name === "w:footnote" || name === "w:endnote")
        prefix = attributes["w:type"] === undefined ? `${noteMark(attributes)} ` : "";
      else if (name === "w:tr") cells.push([]);
      else if (name === "w:tc") cells.at(-1)?.push("");
    },
    close(name) {
      if (name === "mc:Fallback" || name === "w:del") skipped -= 1;
      if (skipped > 0) return;
      if (name === "w:t") isText = false;
      else if (name === "w:p") endParagraph();
      else if (name === "w:tr") {
        const row = (cells.pop() ?? []).map((cell) => cell.replace(/\s+/g, " ")).join(" | ");
        const outer = cells.at(-1);
        if (outer === undefined) sink.add(`${row}\n`);
        else outer[outer.length - 1] = `${outer.at(-1) ?? ""} ${row}`.trim();
      } else if (name === "w:tbl" && cells.length === 0) sink.add("\n");
    },
    text(text) {
      if (isText && skipped === 0) paragraph += text;
    },
  };
  await readPart(main);
  const size = counted(paragraphs, "paragraph");
  sink.add("\n");
  for (const { type, target } of await relationsOf(archive, main))
    if (/\/(foot|end)notes$/.test(type)) await readPart(target);
  return { ...sink.result(), size };
}

function noteMark({ "w:id": id = "" }: Attributes): string {
  return `[^${id}]`;
}

function headingOf(style: string | undefined): string | undefined {
  const level = /^(?:heading|überschrift|berschrift|标题)\s*([1-6])$/i.exec(style ?? "")?.[1];
  if (level !== undefined) return `${"#".repeat(Number(level))} `;
  return style === "Title" ? "# " : undefined;
}
