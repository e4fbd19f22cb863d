import type { AttachmentStream } from "mailparser";
import { decodeWindows } from "../../../util/text/windows-charset.js";
import { unflow } from "../text/flowed.js";
import { loadHtmlReader } from "../text/html-text.js";

/** What the parser tells about a part beyond its types. Its version is pinned, and tests of this folder hold what is used. */
interface PartHead {
  contentType: string | false;
  disposition: string | false;
  readonly encoding: string;
  readonly filename: string | false;
  flowed: boolean;
  readonly delSp: boolean;
  readonly _boundary: Buffer | false;
}

interface Part {
  readonly node: PartHead;
  readonly contentType: string | false;
  readonly isAttachment?: boolean;
  readonly children: readonly Part[];
  readonly textContent?: string;
  readonly decoder?: NodeJS.ReadableStream;
}

declare module "mailparser" {
  interface MailParser {
    readonly tree: Part | false;
    createNode(node: PartHead): Part;
    getTextContent(): unknown;
  }
  interface MailParserOptions {
    /** Mails inside of a mail are files. */
    ignoreEmbedded?: boolean;
  }
}

export interface PartFile {
  readonly filename: string | undefined;
  readonly contentType: string;
  readonly related: boolean;
  readonly content: Buffer;
}

/** The parts of a mail as they are found in it. */
export interface MailParts {
  readonly text: string;
  readonly files: readonly PartFile[];
  /** False where nothing was found, neither a part nor a text. */
  readonly hasBytes: boolean;
  /** Something in it is not built as it says. */
  readonly faults: ReadonlySet<PartFault>;
}

/**
 * `letters`: some bytes are not letters of its charset. `type`: what it holds is named by no kind of content. `parts`: it
 * says that it has parts, and has none. `end`: its last part is not closed. `parser`: there were more than can be read.
 */
export type PartFault = "letters" | "type" | "parts" | "end" | "parser";

const longestHtml = 512 * 1024;
const cutHtml = "[The rest of this text is left out, because it is very long.]";
const kind = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/;

/** Of a header, or of the one above. */
const headerLine = /^(?:[!-9;-~]+[ \t]*:|[ \t])/;

/** Reads what can be read of a mail, however it is built. Never rejects. */
export async function readParts(source: Buffer): Promise<MailParts> {
  const { MailParser } = await import("mailparser");
  const readHtml = await loadHtmlReader();
  const faults = new Set<PartFault>();
  const flowed = new Map<Part, { readonly hasDelSp: boolean }>();
  const bytes = new Map<Part, Buffer[]>();
  const files: PartFile[] = [];

  class Reader extends MailParser {
    override createNode(head: PartHead): Part {
      if (head.contentType && !kind.test(head.contentType)) {
        faults.add("type");
        head.contentType = "text/plain";
      }
      // A text with a name is a file, wherever a program wants to show it.
      if (head.disposition === "inline" && head.filename !== false) head.disposition = "attachment";
      const { flowed: isFlowed, delSp: hasDelSp } = head;
      // It would join the lines of an answer with those of the quote above.
      head.flowed = false;
      const part = super.createNode(head);
      if (isFlowed) flowed.set(part, { hasDelSp });
      if (part.isAttachment === false) {
        const chunks: Buffer[] = [];
        bytes.set(part, chunks);
        part.decoder?.on("data", (chunk: Buffer) => void chunks.push(chunk));
      }
      return part;
    }

    /** It is asked for once all has been read; the texts are taken from the tree. */
    override getTextContent(): unknown {
      return { type: "text" };
    }
  }

  const parser = new Reader({ ignoreEmbedded: true, skipHtmlToText: true, skipTextToHtml: true, skipTextLinks: true });
  await new Promise<void>((resolve) => {
    parser.on("error", () => {
      faults.add("parser");
      resolve();
    });
    parser.on("end", () => resolve());
    parser.on("data", (found) => {
      if (found.type === "attachment") keepFile(found, files);
    });
    parser.end(source);
  });
  const { tree } = parser;
  if (tree === false) return { text: "", files, hasBytes: false, faults: faults.add("parts") };
  const lettersOf = (part: Part): string => {
    const { text, isSure } = decoded(part.textContent, Buffer.concat(bytes.get(part) ?? []));
    if (!isSure) faults.add("letters");
    const flow = flowed.get(part);
    if (flow !== undefined) return unflow(text, flow.hasDelSp);
    if (part.contentType !== "text/html") return text;
    return `${readHtml(text.slice(0, longestHtml))}${text.length > longestHtml ? `\n\n${cutHtml}` : ""}`;
  };
  const text = textOf(tree, lettersOf);
  for (const fault of faultsOf(tree, source)) faults.add(fault);
  const hasBytes =
    files.length > 0 || tree.children.length > 0 || [...bytes.values()].some((chunks) => chunks.length > 0);
  return { text, files, hasBytes, faults };
}

function keepFile(found: AttachmentStream, files: PartFile[]): void {
  const chunks: Buffer[] = [];
  found.content.on("data", (chunk: Buffer) => void chunks.push(chunk));
  found.content.on("end", () => {
    const { filename, contentType, related } = found;
    // In a broken mail it is missing, whatever its type says.
    const type = String(contentType || "application/octet-stream");
    files.push({ filename, contentType: type, related: related === true, content: Buffer.concat(chunks) });
    found.release();
  });
}

function textOf(part: Part, lettersOf: (part: Part) => string): string {
  const { contentType, children, isAttachment } = part;
  if (isAttachment === false) return lettersOf(part);
  const texts = children.map((child) => ({ type: child.contentType, text: textOf(child, lettersOf) }));
  const filled = texts.filter(({ text }) => text.trim() !== "");
  if (contentType !== "multipart/alternative") return filled.map(({ text }) => text).join("\n");
  return (filled.find(({ type }) => type === "text/plain") ?? filled.at(-1))?.text ?? "";
}

function decoded(text: string | undefined, bytes: Buffer): { readonly text: string; readonly isSure: boolean } {
  const isWhole = text !== undefined && !text.includes("\ufffd");
  if (isWhole) return { text, isSure: true };
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), isSure: text !== undefined };
  } catch {
    return { text: decodeWindows(bytes, "windows-1252"), isSure: false };
  }
}

function faultsOf(root: Part, source: Buffer): readonly PartFault[] {
  const faults: PartFault[] = [];
  const boundaries = new Set<string>();
  const walk = (part: Part): void => {
    if (part.node._boundary) boundaries.add(part.node._boundary.toString("latin1"));
    if (String(part.contentType).startsWith("multipart/") && part.children.length === 0) faults.push("parts");
    for (const child of part.children) walk(child);
  };
  walk(root);
  if (hasTextInHeaders(source, boundaries)) faults.push("parts");
  const boundary = root.node._boundary;
  if (boundary && !source.includes(Buffer.concat([Buffer.from("--"), boundary, Buffer.from("--")]))) faults.push("end");
  return faults;
}

/** The blank line below the headers of a part is gone: the parser takes the text for more of them. */
function hasTextInHeaders(source: Buffer, boundaries: ReadonlySet<string>): boolean {
  let isHead = false;
  for (const line of source.toString("latin1").split(/\r?\n/)) {
    if (line.startsWith("--") && boundaries.has(line.slice(2).trimEnd())) isHead = true;
    else if (line.trim() === "" || line.startsWith("--")) isHead = false;
    else if (isHead && !headerLine.test(line)) return true;
  }
  return false;
}
