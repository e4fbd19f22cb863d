import { z } from "zod";
import { contentPart } from "../../events/content.js";
import { roleOf } from "../../sessions/document/document-line.js";
import { type ExportFormat, exportOf, type SessionExport } from "../../sessions/document/export.js";

export type { ExportFormat, SessionExport } from "../../sessions/document/export.js";

const exported = z.looseObject({
  key: z.string(),
  title: z.string().optional(),
  messages: z.array(
    z.looseObject({
      role: z.string().transform(roleOf),
      content: z.string(),
      timestamp: z.string(),
      parts: z.array(contentPart).optional(),
    }),
  ),
  metadata: z.looseObject({ summary: z.string().optional() }),
});

/** A session's document, from its log or from a gateway, as a file. @throws {z.ZodError} for what is not one */
export function exportDocument(document: unknown, format: ExportFormat): SessionExport {
  return exportOf(exported.parse(document), format);
}
