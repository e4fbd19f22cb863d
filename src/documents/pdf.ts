import { createRequire } from "node:module";
import path from "node:path";
import { counted, TextSink, UnreadableError } from "./unreadable.js";

const require = createRequire(import.meta.url);

export interface DocumentText {
  readonly text: string;
  readonly truncated: boolean;
  readonly size: string;
}

/** @throws {UnreadableError} for what is protected, damaged or only pictures */
export async function readPdf(bytes: Uint8Array, limit: number): Promise<DocumentText> {
  const { getDocument } = await import("pdfjs-dist/legacy/build/pdf.mjs");
  const root = path.dirname(require.resolve("pdfjs-dist/package.json"));
  const task = getDocument({
    // The library takes the buffer away, and refuses a Buffer.
    data: new Uint8Array(bytes),
    // Old Chinese and Japanese files need the tables of their encodings.
    cMapUrl: `${path.join(root, "cmaps")}/`,
    cMapPacked: true,
    standardFontDataUrl: `${path.join(root, "standard_fonts")}/`,
    isEvalSupported: false,
    useSystemFonts: false,
    disableFontFace: true,
    verbosity: 0,
  });
  const pdf = await task.promise.catch((error: unknown) => {
    throw error instanceof Error && error.name === "PasswordException"
      ? new UnreadableError("is protected by a password.")
      : new UnreadableError("is damaged and cannot be read.");
  });
  const sink = new TextSink(limit);
  let hasText = false;
  for (let number = 1; number <= pdf.numPages && !sink.isFull; number++) {
    const text = await textOfPage(pdf, number);
    hasText ||= text.trim() !== "";
    sink.add(`${number > 1 ? "\n\n" : ""}[page ${number}]\n${text}`);
  }
  if (!hasText) throw new UnreadableError("holds no text: its pages are pictures, as scanners make them.");
  return { ...sink.result(), size: counted(pdf.numPages, "page") };
}

interface PdfPages {
  getPage(number: number): Promise<{
    getTextContent(): Promise<{ readonly items: readonly object[] }>;
    cleanup(): boolean;
  }>;
}

async function textOfPage(pdf: PdfPages, number: number): Promise<string> {
  try {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    page.cleanup();
    let text = "";
    for (const item of items) {
      if ("str" in item && typeof item.str === "string") text += item.str;
      if ("hasEOL" in item && item.hasEOL === true) text += "\n";
    }
    return text;
  } catch {
    return "[This page is damaged.]";
  }
}
