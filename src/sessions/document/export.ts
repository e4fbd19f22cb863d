import { plainName } from "../../util/files/file-name.js";
import { cutText } from "../../util/text/cut-text.js";
import type { DocumentMessage, SessionDocument } from "../session.js";

export type ExportFormat = "markdown" | "json";

/** A conversation as a file to take away, piece by piece. */
export interface SessionExport {
  /** After the title, or the key. */
  readonly filename: string;
  readonly mimeType: string;
  readonly pieces: Iterable<string>;
}

/** Of a document what a file of it shows. */
type Exported = Pick<SessionDocument, "key" | "title"> & {
  readonly messages: readonly Pick<DocumentMessage, "role" | "content" | "timestamp" | "parts">[];
  readonly metadata: { readonly summary?: string | undefined };
};

const mostNameChars = 80;

const names: Readonly<Record<DocumentMessage["role"], string>> = {
  user: "User",
  assistant: "Assistant",
  tool: "Tool",
  system: "Note",
  error: "Error",
};

/** In the order in which it was seen. JSON has all that is known of it, Markdown what people read. */
export function exportOf(document: Exported, format: ExportFormat): SessionExport {
  const stem = cutText(plainName(document.title ?? document.key), mostNameChars);
  return format === "json"
    ? { filename: `${stem}.json`, mimeType: "application/json", pieces: jsonOf(document) }
    : { filename: `${stem}.md`, mimeType: "text/markdown", pieces: markdownOf(document) };
}

function* jsonOf({ messages, ...head }: Exported): Iterable<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"messages":[`;
  for (const [index, message] of messages.entries()) yield `${index === 0 ? "" : ","}\n${JSON.stringify(message)}`;
  yield "\n]}\n";
}

function* markdownOf({ key, title, messages, metadata: { summary } }: Exported): Iterable<string> {
  yield `# ${oneLine(title ?? summary ?? key)}\n\nConversation \`${key}\`\n`;
  for (const { role, content, timestamp, parts = [] } of messages) {
    yield `\n---\n\n**${names[role]}** · ${timeOf(timestamp)}\n`;
    const files = parts.flatMap((part) =>
      part.type === "file" || part.type === "image" ? [part.filename ?? part.path] : [],
    );
    // A person's message has a line for each file already.
    const text = role === "user" && files.length > 0 ? textOf(parts) : content;
    if (text.trim() !== "") yield `\n${text.trimEnd()}\n`;
    if (files.length > 0) yield `\n${files.map((file) => `- File: ${oneLine(file)}`).join("\n")}\n`;
  }
}

function textOf(parts: NonNullable<DocumentMessage["parts"]>): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** `2026-11-23 02:15:00 UTC`; another clock's words stay as they are. */
function timeOf(timestamp: string): string {
  return /^\d{4}-\d\d-\d\dT[\d:]{8}(?:\.\d+)?Z$/.test(timestamp)
    ? `${timestamp.slice(0, 10)} ${timestamp.slice(11, 19)} UTC`
    : timestamp;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
