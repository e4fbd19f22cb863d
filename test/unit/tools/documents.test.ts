import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { type Extraction, type ExtractOptions, extractFile } from "../../../src/documents/extract-text.js";
import { bombPage, makeDocx, makePdf, makePptx, makeXlsx, makeZip } from "../../support/documents.js";

async function extract(bytes: Buffer, options: Partial<ExtractOptions> = {}): Promise<Extraction> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "maxclaw-documents-")));
  try {
    const file = path.join(folder, "file");
    writeFileSync(file, bytes);
    await using handle = await open(file);
    return await extractFile(handle, { signal: new AbortController().signal, ...options });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const paragraph = (text: string, style = ""): string => `<w:p>${style}<w:r><w:t>${text}</w:t></w:r></w:p>`;
const page = (text: string): string => `BT /F1 12 Tf 72 720 Td (${text}) Tj ET`;

test("a PDF's text is read page by page", async () => {
  const result = await extract(makePdf([page("Weekly report"), page("Second page")]));
  assert.deepEqual(result, {
    ok: true,
    text: "[page 1]\nWeekly report\n\n[page 2]\nSecond page",
    truncated: false,
    size: "2 pages",
  });
});

test("a Chinese PDF in an encoding of its own is read as Chinese", async () => {
  const font =
    "<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /GBK-EUC-H /DescendantFonts [<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 2 >> /FontDescriptor << /Type /FontDescriptor /FontName /STSong-Light /Flags 4 >> >>] >>";
  // 周报 in GBK.
  const result = await extract(makePdf(["BT /F1 12 Tf 72 720 Td <D6DCB1A8> Tj ET"], { font }));
  assert.equal(result.ok && result.text, "[page 1]\n周报");
});

test("a Word file gives headings, lists, tables and text, without what was deleted or is there twice", async () => {
  const result = await extract(
    makeDocx(
      [
        paragraph("Report", '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>'),
        paragraph("A &amp; B 周"),
        paragraph("item", "<w:pPr><w:numPr/></w:pPr>"),
        `<w:tbl><w:tr><w:tc>${paragraph("a")}</w:tc><w:tc>${paragraph("b")}${paragraph("c")}</w:tc></w:tr></w:tbl>`,
        `<w:p><w:del><w:r><w:t>gone</w:t></w:r></w:del><mc:AlternateContent><mc:Choice><w:r><w:t>once</w:t></w:r></mc:Choice><mc:Fallback><w:r><w:t>twice</w:t></w:r></mc:Fallback></mc:AlternateContent></w:p>`,
      ].join(""),
    ),
  );
  assert.deepEqual(result, {
    ok: true,
    text: "# Report\nA & B 周\n- item\na | b c\n\nonce",
    truncated: false,
    size: "4 paragraphs",
  });
});

test("the notes of a Word file are at its end, under the marks that they have in the text", async () => {
  const notes = [
    `<w:footnote w:type="separator" w:id="-1">${paragraph("")}</w:footnote>`,
    `<w:footnote w:id="2">${paragraph("The source is a guess.", '<w:pPr><w:pStyle w:val="FootnoteText"/></w:pPr>')}</w:footnote>`,
  ];
  const body = `<w:p><w:r><w:t>Sales doubled</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>`;
  const result = await extract(makeDocx(body, { notes: notes.join("") }));
  assert.equal(result.ok && result.text, "Sales doubled[^2]\n\n[^2] The source is a guess.");
});

test("an Excel file gives its sheets with shared texts, dates, truth and empty columns", async () => {
  const rows = [
    '<row><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>Since</t></is></c></row>',
    '<row><c r="A2" t="s"><v>1</v></c><c r="B2"><v>3.5</v></c><c r="C2" s="1"><v>46347</v></c><c r="D2" t="b"><v>1</v></c></row>',
    '<row><c r="C3" s="2"><v>46347.5</v></c><c r="D3" t="str"><f>A1</f><v>sum</v></c></row>',
    '<row><c r="A4" s="1"/></row>',
  ];
  const result = await extract(makeXlsx(rows.join("")));
  assert.equal(
    result.ok && result.text,
    "[sheet Zahlen & 数]\nName\t\tSince\nLi Lei\t3.5\t2026-11-21\tTRUE\n\t\t2026-11-21 12:00\tsum",
  );
});

test("a PowerPoint file gives its slides in the order in which they are shown, with tables and notes", async () => {
  const result = await extract(makePptx());
  assert.deepEqual(result, {
    ok: true,
    text: "[slide 1]\nBeginning <1>\n[notes] Say hello\n\n[slide 2]\na | b",
    truncated: false,
    size: "2 slides",
  });
});

test("what is longer than the limit is cut, and says so", async () => {
  for (const bytes of [
    makeDocx(paragraph("word ".repeat(500)).repeat(20)),
    makePdf(Array(20).fill(page("x".repeat(900)))),
  ]) {
    const result = await extract(bytes, { limit: 2000 });
    assert.ok(result.ok && result.truncated && result.text.length <= 2000 && result.text.length > 1500);
  }
});

test("protected, damaged, old, scanned and other files each give a sentence", async () => {
  const encryption = `<< /Filter /Standard /V 1 /R 2 /O <${"00".repeat(32)}> /U <${"11".repeat(32)}> /P -44 >>`;
  const old = Buffer.from("d0cf11e0a1b11ae1", "hex");
  const whole = makeDocx(paragraph("x".repeat(2000)));
  const cases: readonly [Buffer, RegExp][] = [
    [
      makePdf([page("x")], { trailer: "/Encrypt 6 0 R /ID [<00> <00>]", more: [encryption] }),
      /protected by a password/,
    ],
    [makeDocx(paragraph("x"), { isEncrypted: true }), /protected by a password/],
    [Buffer.concat([old, Buffer.from("EncryptedPackage", "utf16le")]), /protected by a password/],
    [Buffer.concat([old, Buffer.alloc(100)]), /Office before 2007/],
    [Buffer.from("%PDF-1.7\nnothing of a PDF"), /is damaged/],
    [whole.subarray(0, whole.length / 2), /is damaged/],
    [makeDocx(paragraph("x".repeat(500)), { claims: 10 }), /is damaged/],
    [makePdf(["0 0 10 10 re f"]), /holds no text/],
    [makeZip({ "a.txt": "hello" }), /not docx, xlsx or pptx/],
    [Buffer.from("plain text"), /not a PDF, docx/],
  ];
  for (const [bytes, sentence] of cases) {
    const result = await extract(bytes);
    assert.match(result.ok ? `text: ${result.text}` : result.sentence, sentence);
  }
});

test("archives and PDFs that explode end with a sentence, and the process does not grow by what they unpack to", async () => {
  const before = process.memoryUsage.rss();
  const zip = await extract(makeDocx(paragraph(" ".repeat(220 * 1024 * 1024))));
  assert.match(zip.ok ? zip.text.slice(0, 50) : zip.sentence, /more than 200 MB|too much memory/);
  const pdf = await extract(makePdf([bombPage(400 * 1024 * 1024)]), { memoryMb: 150 });
  assert.match(pdf.ok ? pdf.text.slice(0, 50) : pdf.sentence, /too much memory|damaged/);
  assert.ok(process.memoryUsage.rss() - before < 900 * 1024 * 1024);
});

test("a document that takes too long is given up, and one that is no longer wanted as well", async () => {
  const slow = makePdf(Array(3000).fill(page("y".repeat(500))));
  const late = await extract(slow, { timeoutMs: 50 });
  assert.match(late.ok ? "text" : late.sentence, /within 0\.05 seconds/);
  const stopping = new AbortController();
  const stopped = extract(slow, { signal: stopping.signal });
  setImmediate(() => stopping.abort(new Error("stopped")));
  await assert.rejects(stopped, /stopped/);
});
