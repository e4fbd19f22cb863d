import type { FileHandle } from "node:fs/promises";
import path from "node:path";
import { replaceFile } from "../util/files/replace-file.js";
import { cutText } from "../util/text/cut-text.js";
import { type OwnFile, openOwnFile } from "./own-file.js";
import { type MarkForeign, paragraphsOf } from "./paragraphs.js";

/** A conversation, or the part of one, that goes out of the model's sight. */
export interface OlderText {
  readonly sessionKey: string;
  /** Where in the session's log it is. */
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly messages: readonly {
    readonly role: string;
    readonly content: string;
    readonly timestamp: string;
    /** Where what others wrote came from that is in it, or had a say in it. */
    readonly outside?: string | undefined;
  }[];
}

export interface OlderTextOptions {
  readonly maxBytes?: number | undefined;
  readonly markForeign: MarkForeign;
}

/** What is looked through for an entry that a crash kept from being acted on. */
const tailBytes = 256 * 1024;

/**
 * Adds the text to a `HISTORY.md`, once: what is at its end already is not added again. With `maxBytes` the oldest of
 * the file goes when it would become longer.
 */
export async function appendOlderText(
  file: OwnFile,
  older: OlderText,
  { maxBytes, markForeign }: OlderTextOptions,
): Promise<void> {
  if (older.messages.length === 0) return;
  await using handle = await openOwnFile(file, "append");
  const { size } = await handle.stat();
  const tail = await readEnd(handle, size, tailBytes);
  const end = endMark(older);
  if (tail.includes(`\n${end}\n`)) return;
  const entry = `${toEntry(maxBytes === undefined ? older : newestOf(older, maxBytes / 2))}\n${end}\n`;
  if (older.messages.some(({ outside }) => outside !== undefined)) await markForeign(paragraphsOf(entry), file);
  if (maxBytes !== undefined && size + Buffer.byteLength(entry) > maxBytes) {
    const kept = fromFirstEntry(await readEnd(handle, size, maxBytes / 2 - Buffer.byteLength(entry)));
    const { root, name } = file;
    return await replaceFile(path.join(root, name), `${kept}${entry}`, { mode: 0o600 });
  }
  const gap = tail === "" ? "" : tail.endsWith("\n") ? "\n" : "\n\n";
  await handle.appendFile(`${gap}${entry}`);
}

async function readEnd(handle: FileHandle, size: number, length: number): Promise<string> {
  const tail = Buffer.alloc(Math.max(0, Math.min(size, Math.floor(length))));
  await handle.read(tail, 0, tail.length, size - tail.length);
  return tail.toString("utf8");
}

/** What was cut in its middle goes too. */
function fromFirstEntry(text: string): string {
  const start = text.search(/^## /m);
  return start === -1 ? "" : `${text.slice(start).trimEnd()}\n\n`;
}

/** The last messages that fit; of one that alone is too long its beginning. */
function newestOf(older: OlderText, maxBytes: number): OlderText {
  const messages: OlderText["messages"][number][] = [];
  // Each letter takes three bytes at most, and each line has its minute and role.
  let left = maxBytes / 3;
  for (const message of older.messages.toReversed()) {
    const content = cutText(message.content, Math.max(0, Math.floor(left) - 100));
    left -= content.length + 100;
    if (left < 0) break;
    messages.unshift({ ...message, content });
  }
  return { ...older, messages };
}

function toEntry({ sessionKey, messages }: OlderText): string {
  const lines = messages.map(({ role, content, timestamp }) => `[${minuteOf(timestamp)}] ${role}: ${content.trim()}`);
  return [`## ${minuteOf(messages.at(-1)?.timestamp ?? "")} UTC · ${sessionKey}`, "", ...lines].join("\n");
}

/** Written last, so that an entry without it was cut off. */
function endMark({ sessionKey, fromSeq, toSeq }: OlderText): string {
  // `--` would end the comment early.
  return `<!-- ${sessionKey.replaceAll("--", "- -")} ${fromSeq}..${toSeq} -->`;
}

/** `2026-11-21 14:03` */
function minuteOf(timestamp: string): string {
  return timestamp.slice(0, 16).replace("T", " ");
}
