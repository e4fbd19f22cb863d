import path from "node:path";
import type { getDocument } from "pdfjs-dist/legacy/build/pdf.mjs";
import { z } from "zod";
import { findPackage } from "../util/packages/folder.js";
import { loadPackage } from "../util/packages/load.js";
import { counted, TextSink, UnreadableError } from "./unreadable.js";

const pdfjs = z.object({ getDocument: z.custom<typeof getDocument>((value) => typeof value === "function") });

export interface DocumentText {
  readonly text: string;
  readonly truncated: boolean;
  readonly size: string;
}

/** @throws {UnreadableError} for what is protected, damaged or only pictures */
export async function readPdf(bytes: Uint8Array, limit: number, home?: string): Promise<DocumentText> {
  const library = pdfjs.parse(await loadPackage("pdfjs-dist/legacy/build/pdf.mjs", home));
  const root = findPackage("pdfjs-dist", home) ?? "";
  const task = library.getDocument({
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
