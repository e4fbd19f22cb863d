import { runBoundedWorker } from "../../../util/async/bounded-worker.js";
import type { ReceivedFile } from "../../channel.js";
import { type Damage, type ParsedContent, parseContent, unreadable } from "../mime/parse-content.js";

/** What a mail holds, before it is known who wrote it. */
export interface MailContent {
  readonly text: string;
  /** Entries of a calendar, as text. */
  readonly calendar: string;
  /** The text of mails that lie in it as parts. */
  readonly nested: string;
  readonly damage?: Damage | undefined;
  readonly files: readonly ReceivedFile[];
}

/** A longer mail may be built to hold up everybody, and is read in a thread of its own. */
const longestHere = 4096;
const limits = { timeoutMs: 20_000, memoryMb: 512 };

/** Reads a mail that is whole in memory, in any charset and encoding, also when it is broken. @throws the signal's reason */
export async function readContent(source: Buffer, signal: AbortSignal): Promise<MailContent> {
  const { files, ...content } =
    source.length <= longestHere ? await parseContent(source) : await parseApart(source, signal);
  return { ...content, files: files.map(toFile) };
}

async function parseApart(source: Buffer, signal: AbortSignal): Promise<ParsedContent> {
  const found: { content?: ParsedContent } = {};
  const script = new URL("../mime/content-worker.js", import.meta.url);
  await runBoundedWorker(
    script,
    {
      data: { source },
      // Our own script says nothing else.
      onMessage(message) {
        found.content = message as ParsedContent;
      },
    },
    limits,
    signal,
  );
  return found.content ?? { text: unreadable, calendar: "", nested: "", files: [] };
}

function toFile({ filename, contentType, content, size }: ParsedContent["files"][number], index: number): ReceivedFile {
  return {
    filename: filename ?? defaultName(contentType, index),
    mimeType: contentType,
    sizeBytes: size,
    read: async () => content,
  };
}

export function defaultName(mimeType: string, index: number): string {
  const ending = mimeType === "message/rfc822" ? "eml" : (mimeType.split("/")[1] ?? "").replace(/[^a-z0-9].*/i, "");
  return `file-${index + 1}${ending === "" ? "" : `.${ending}`}`;
}
