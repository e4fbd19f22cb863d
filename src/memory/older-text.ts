import { mkdir, open } from "node:fs/promises";
import path from "node:path";
import { paragraphsOf } from "./paragraphs.js";

/** A conversation, or the part of one, that goes out of the model's sight. */
export interface OlderText {
  readonly sessionKey: string;
  /** Where in the session's log it stands. */
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly messages: readonly {
    readonly role: string;
    readonly content: string;
    readonly timestamp: string;
    /** Where what others wrote came from that stands in it, or had a say in it. */
    readonly outside?: string | undefined;
  }[];
}

/** Under the workspace. */
const fileName = path.join("memory", "HISTORY.md");
/** What is looked through for an entry that a crash kept from being acted on. */
const tailBytes = 256 * 1024;

/**
 * Adds the text to memory/HISTORY.md, once: what stands at its end already is not added again. `markForeign` is given the
 * paragraphs that others have a say in before they are written.
 */
export async function appendOlderText(
  workspace: string,
  older: OlderText,
  markForeign: (paragraphs: readonly string[]) => Promise<void>,
): Promise<void> {
  if (older.messages.length === 0) return;
  const file = path.join(workspace, fileName);
  await mkdir(path.dirname(file), { recursive: true });
  const handle = await open(file, "a+", 0o600);
  try {
    const { size } = await handle.stat();
    const tail = Buffer.alloc(Math.min(size, tailBytes));
    await handle.read(tail, 0, tail.length, size - tail.length);
    const before = tail.toString("utf8");
    const end = endMark(older);
    if (before.includes(`\n${end}\n`)) return;
    const gap = before === "" ? "" : before.endsWith("\n") ? "\n" : "\n\n";
    const entry = `${toEntry(older)}\n${end}`;
    if (older.messages.some(({ outside }) => outside !== undefined)) await markForeign(paragraphsOf(entry));
    await handle.appendFile(`${gap}${entry}\n`);
  } finally {
    await handle.close();
  }
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
