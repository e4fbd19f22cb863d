import path from "node:path";
import type { ContentBlock, EmbeddedResource } from "@modelcontextprotocol/client";
import { outsideResults } from "../../policy/locations/zones.js";
import { keepFile } from "../../tools/keep-file.js";
import type { ToolContext, ToolImage, ToolResult } from "../../tools/tool.js";
import { imageTypeOf } from "../../util/image-type.js";

const maxFiles = 8;
const maxFileBytes = 12 * 1024 * 1024;

const extensions: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/svg+xml": "svg",
  "audio/wav": "wav",
  "audio/mpeg": "mp3",
  "audio/ogg": "ogg",
  "application/pdf": "pdf",
  "application/json": "json",
  "text/plain": "txt",
};

export type ServerContent =
  | ContentBlock
  | { readonly type: "resource"; readonly resource: EmbeddedResource["resource"] };

/** What a server's answer is to the model. */
export interface Answer {
  readonly server: string;
  readonly tool: string;
  readonly content: readonly ServerContent[];
  readonly structured?: unknown;
  readonly isError: boolean;
}

/** Text as text; everything else as a file that the gateway keeps, marked as coming from outside. */
export async function toResult(answer: Answer, context: ToolContext): Promise<ToolResult> {
  const { server, tool, content, structured, isError } = answer;
  const lines: string[] = [];
  const files = new FileKeeper(tool, context);
  for (const part of content) lines.push(await toText(part, files));
  if (content.length === 0 && structured !== undefined) lines.push(JSON.stringify(structured));
  const text = lines.filter((line) => line !== "").join("\n\n");
  return {
    text: text === "" ? (isError ? "It failed without saying why." : "Done; nothing was returned.") : text,
    isError,
    summary: `${tool} ${isError ? "failed" : "done"} (MCP server ${server})`,
    outside: `the MCP server ${server}`,
    ...(files.images.length === 0 ? {} : { images: files.images }),
  };
}

async function toText(part: ServerContent, files: FileKeeper): Promise<string> {
  switch (part.type) {
    case "text":
      return part.text;
    case "image":
    case "audio":
      return await files.keep(part.type, part.data, part.mimeType);
    case "resource_link":
      return `[resource ${part.uri}${part.name === "" ? "" : ` "${part.name}"`}]`;
    case "resource": {
      const { uri, mimeType = "application/octet-stream" } = part.resource;
      if ("text" in part.resource) return `[resource ${uri}]\n${part.resource.text}`;
      return `[resource ${uri}]\n${await files.keep("file", part.resource.blob, mimeType)}`;
    }
    default:
      return part satisfies never;
  }
}

class FileKeeper {
  readonly #tool: string;
  readonly #context: ToolContext;
  #count = 0;
  /** Those of the kept files that a model can look at. */
  readonly images: ToolImage[] = [];

  constructor(tool: string, context: ToolContext) {
    this.#tool = tool;
    this.#context = context;
  }

  /** One line about the file that holds it now. */
  async keep(what: string, base64: string, mimeType: string): Promise<string> {
    const bytes = Buffer.from(base64, "base64");
    this.#count += 1;
    if (this.#count > maxFiles) return `[${what} left out: more than ${maxFiles} in one result]`;
    if (bytes.length > maxFileBytes) return `[${what} left out: larger than ${maxFileBytes / 1024 / 1024} MB]`;
    const { toolCallId } = this.#context.call;
    const call = toolCallId.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 80) || "call";
    const extension = extensions[mimeType.split(";", 1)[0]?.trim().toLowerCase() ?? ""] ?? "bin";
    const name = path.join(outsideResults, `${this.#tool}-${call}-${this.#count}.${extension}`);
    const file = await keepFile(name, bytes, this.#context);
    const image = imageTypeOf(bytes);
    if (image !== undefined) this.images.push({ path: file, mimeType: image, filename: path.basename(name) });
    return `[${what} (${mimeType}, ${bytes.length} bytes) saved as ${file}]`;
  }
}
