import type { InboundMessage } from "../bus/messages.js";
import type { Arrival } from "./arrival.js";
import type { ReceivedFiles } from "./received-files.js";

/** A message with its files where tools can read them. */
export interface WithFiles {
  readonly message: InboundMessage;
  /** What the sender must hear: which files were not taken, and why. */
  readonly refusals: readonly string[];
  /** It had no words, and its files are all too large, as turned out when they were fetched. */
  readonly isOnlyTooLarge: boolean;
}

export function hasFiles({ received: { files = [], quotedFiles = [] } }: Arrival): boolean {
  return files.length + quotedFiles.length > 0;
}

/** What somebody points at who wants a stop, or answers, need not be fetched. */
export function withoutQuotedFiles(arrival: Arrival): Arrival {
  return { ...arrival, received: { ...arrival.received, quotedFiles: [] } };
}

/** Fetches the files of a message and those of the message that it quotes. */
export async function fetchFiles(
  { message, received }: Arrival,
  keeper: Pick<ReceivedFiles, "take">,
  signal: AbortSignal,
): Promise<WithFiles> {
  const { files = [], quotedFiles = [], dedupId, platformMessageId = "", hasFilesOfOthers } = received;
  const { sessionKey, content, quoted, replyTo } = message;
  const id = dedupId ?? platformMessageId;
  const isTheirOwn = message.outside === undefined && hasFilesOfOthers !== true;
  const by = isTheirOwn ? `${message.channel}:${message.senderId}` : undefined;
  const own = await keeper.take(sessionKey, id, files, by, signal);
  const theirs = await keeper.take(sessionKey, `quoted:${replyTo ?? id}`, quotedFiles, undefined, signal);
  return {
    message: {
      ...message,
      content: textOf([...own.notes, content]),
      ...(quoted === undefined ? {} : { quoted: { ...quoted, text: textOf([quoted.text, ...theirs.notes]) } }),
      attachments: [...own.attachments, ...theirs.attachments],
    },
    refusals: [...own.refusals, ...theirs.refusals],
    isOnlyTooLarge: content === "" && files.length > 0 && own.tooLarge === files.length,
  };
}

function textOf(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n");
}
