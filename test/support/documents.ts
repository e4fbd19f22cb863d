import { crc32, deflateRawSync, deflateSync } from "node:zlib";

/** A zip archive; a size in `claims` is written instead of the true one. */
export function makeZip(
  files: Readonly<Record<string, string | Buffer>>,
  options: { readonly claims?: number; readonly isEncrypted?: boolean } = {},
): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const data = Buffer.from(content);
    const packed = deflateRawSync(data);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(options.isEncrypted ? 0x801 : 0x800, 2);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc32(data), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(options.claims ?? data.length, 18);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), common, Buffer.from(name), packed]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    const madeBy = Buffer.from([20, 0]);
    directory.push(Buffer.concat([Buffer.from("PK\x01\x02", "latin1"), madeBy, common, tail, Buffer.from(name)]));
    parts.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", 0, "latin1");
  end.writeUInt16LE(directory.length, 8);
  end.writeUInt16LE(directory.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, central, end]);
}

const officeRelations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

function relations(entries: readonly (readonly [id: string, kind: string, target: string])[]): string {
  const lines = entries.map(([id, kind, target]) => {
    return `<Relationship Id="${id}" Type="${officeRelations}/${kind}" Target="${target}"/>`;
  });
  return `<?xml version="1.0"?><Relationships>${lines.join("")}</Relationships>`;
}

/** A Word file with this body, and footnotes. */
export function makeDocx(body: string, options: Parameters<typeof makeZip>[1] & { notes?: string } = {}): Buffer {
  const { notes } = options;
  return makeZip(
    {
      ...(notes === undefined
        ? {}
        : {
            "word/_rels/document.xml.rels": relations([["rId1", "footnotes", "footnotes.xml"]]),
            "word/footnotes.xml": `<w:footnotes>${notes}</w:footnotes>`,
          }),
      "_rels/.rels": relations([["rId1", "officeDocument", "word/document.xml"]]),
      "word/document.xml": `<?xml version="1.0" encoding="UTF-8"?><w:document><w:body>${body}</w:body></w:document>`,
    },
    options,
  );
}

/** One sheet of an Excel file: its rows as the format has them. */
export function makeXlsx(rows: string): Buffer {
  return makeZip({
    "_rels/.rels": relations([["rId1", "officeDocument", "xl/workbook.xml"]]),
    "xl/workbook.xml": '<workbook><sheets><sheet name="Zahlen &amp; 数" sheetId="1" r:id="rId7"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": relations([
      ["rId7", "worksheet", "worksheets/sheet1.xml"],
      ["rId8", "sharedStrings", "/xl/sharedStrings.xml"],
      ["rId9", "styles", "styles.xml"],
    ]),
    "xl/sharedStrings.xml":
      "<sst><si><t>Name</t></si><si><r><t>Li </t></r><r><t>Lei</t></r><rPh><t>x</t></rPh></si></sst>",
    "xl/styles.xml":
      '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy&quot;年&quot;"/></numFmts>' +
      '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/></cellXfs></styleSheet>',
    "xl/worksheets/sheet1.xml": `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
  });
}

/** A PowerPoint file whose slides stand in another order than their names; the first one shown has notes. */
export function makePptx(): Buffer {
  const slide = (text: string): string => `<p:sld><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:sld>`;
  return makeZip({
    "_rels/.rels": relations([["rId1", "officeDocument", "ppt/presentation.xml"]]),
    "ppt/presentation.xml":
      '<p:presentation><p:sldIdLst><p:sldId id="256" r:id="rId3"/><p:sldId id="257" r:id="rId2"/></p:sldIdLst></p:presentation>',
    "ppt/_rels/presentation.xml.rels": relations([
      ["rId2", "slide", "slides/slide1.xml"],
      ["rId3", "slide", "slides/slide2.xml"],
    ]),
    "ppt/slides/slide1.xml": `<p:sld><a:tbl><a:tr><a:tc><a:p><a:r><a:t>a</a:t></a:r></a:p></a:tc><a:tc><a:p><a:r><a:t>b</a:t></a:r></a:p></a:tc></a:tr></a:tbl></p:sld>`,
    "ppt/slides/slide2.xml": slide("Beginning &lt;1&gt;"),
    "ppt/slides/_rels/slide2.xml.rels": relations([["rId1", "notesSlide", "../notesSlides/notesSlide1.xml"]]),
    "ppt/notesSlides/notesSlide1.xml": slide("Say hello"),
  });
}

/** A PDF with one page for each content stream, e.g. `BT /F1 12 Tf 72 720 Td (Hello) Tj ET`. */
export function makePdf(
  pages: readonly (string | { readonly filter: string; readonly data: Buffer })[],
  options: { readonly font?: string; readonly trailer?: string; readonly more?: readonly string[] } = {},
): Buffer {
  const font = options.font ?? "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";
  const objects: (string | Buffer)[] = ["", "", font];
  const kids: number[] = [];
  for (const page of pages) {
    const { filter, data } = typeof page === "string" ? { filter: "", data: Buffer.from(page, "latin1") } : page;
    const head = `<< /Length ${data.length}${filter === "" ? "" : ` /Filter ${filter}`} >>\nstream\n`;
    const content = objects.push(Buffer.concat([Buffer.from(head), data, Buffer.from("\nendstream")]));
    kids.push(
      objects.push(
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${content} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
      ),
    );
  }
  objects[0] = "<< /Type /Catalog /Pages 2 0 R >>";
  objects[1] = `<< /Type /Pages /Count ${kids.length} /Kids [${kids.map((kid) => `${kid} 0 R`).join(" ")}] >>`;
  objects.push(...(options.more ?? []));
  const parts: Buffer[] = [Buffer.from("%PDF-1.7\n")];
  const offsets: number[] = [];
  let length = 9;
  for (const [index, object] of objects.entries()) {
    const part = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), Buffer.from(object), Buffer.from("\nendobj\n")]);
    offsets.push(length);
    parts.push(part);
    length += part.length;
  }
  const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const trailer = `<< /Size ${objects.length + 1} /Root 1 0 R ${options.trailer ?? ""} >>`;
  parts.push(
    Buffer.from(
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}trailer\n${trailer}\nstartxref\n${length}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}

/** A page that unpacks to this many bytes, packed twice so that it is small. */
export function bombPage(bytes: number): { readonly filter: string; readonly data: Buffer } {
  return {
    filter: "[/FlateDecode /FlateDecode]",
    data: deflateSync(deflateSync(Buffer.alloc(bytes, " "), { level: 1 })),
  };
}
