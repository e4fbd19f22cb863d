import { openArchive } from "./archive.js";
import { readDocx } from "./docx.js";
import { relationsOf } from "./office-xml.js";
import type { DocumentText } from "./pdf.js";
import { readPptx } from "./pptx.js";
import { UnreadableError } from "./unreadable.js";
import { readXlsx } from "./xlsx.js";

/** @throws {UnreadableError} for what is protected, damaged or no Office document */
export async function readOffice(bytes: Uint8Array, limit: number): Promise<DocumentText> {
  const archive = await openArchive(bytes);
  const relations = await relationsOf(archive, "");
  const main = relations.find(({ type }) => type.endsWith("/officeDocument"))?.target;
  if (main === undefined || !archive.has(main)) throw new UnreadableError("is an archive, but not docx, xlsx or pptx.");
  if (main.startsWith("word/")) return readDocx(archive, main, limit);
  if (main.startsWith("xl/")) return readXlsx(archive, main, limit);
  if (main.startsWith("ppt/")) return readPptx(archive, main, limit);
  throw new UnreadableError("is an Office document of an unknown kind.");
}
