import type { Stats } from "node:fs";
import { open, stat } from "node:fs/promises";
import path from "node:path";
import { messageOf } from "../errors.js";
import { cutText } from "../util/cut-text.js";
import { readOnly } from "../util/real-path.js";

/** What people wrote about the assistant, themselves and the past. A file that is missing, empty or still the template is absent. */
export interface ContextFiles {
  /** AGENTS.md, or CLAUDE.md where that says nothing. */
  readonly agents?: string;
  /** SOUL.md */
  readonly soul?: string;
  /** USER.md */
  readonly user?: string;
  /** memory/MEMORY.md */
  readonly memory?: string;
  /** memory/heartbeat.md */
  readonly heartbeat?: string;
  /** Files that could not be read, each as one sentence. */
  readonly problems: readonly string[];
}

export interface ContextFileLoader {
  /** As the files are now; those that did not change are not read again. Never rejects. */
  load(): Promise<ContextFiles>;
}

const maxCharacters = 20_000;
// No character takes more than four bytes.
const maxBytes = maxCharacters * 4;

interface Cached {
  readonly stamp: string;
  readonly text: string;
}

/** `templates`: the default text of each file by its path in the workspace. */
export function createContextFiles(
  workspace: string,
  options: { readonly templates?: Readonly<Record<string, string>> } = {},
): ContextFileLoader {
  const cache = new Map<string, Cached>();

  const load = async (name: string, problems: string[]): Promise<string | undefined> => {
    const file = path.join(workspace, name);
    try {
      const stats = await stat(file);
      const stamp = `${stats.mtimeMs}:${stats.ctimeMs}:${stats.size}:${stats.ino}`;
      const known = cache.get(name);
      const text = known?.stamp === stamp ? known.text : await readStart(file, stats);
      cache.set(name, { stamp, text });
      const template = options.templates?.[name];
      return text === "" || (template !== undefined && text === tidy(template)) ? undefined : text;
    } catch (error) {
      cache.delete(name);
      const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
      if (!isMissing) problems.push(`${file} cannot be read: ${messageOf(error)}`);
      return undefined;
    }
  };

  return {
    async load() {
      const problems: string[] = [];
      const agents = (await load("AGENTS.md", problems)) ?? (await load("CLAUDE.md", problems));
      const soul = await load("SOUL.md", problems);
      const user = await load("USER.md", problems);
      const memory = await load("memory/MEMORY.md", problems);
      const heartbeat = await load("memory/heartbeat.md", problems);
      return {
        ...(agents === undefined ? {} : { agents }),
        ...(soul === undefined ? {} : { soul }),
        ...(user === undefined ? {} : { user }),
        ...(memory === undefined ? {} : { memory }),
        ...(heartbeat === undefined ? {} : { heartbeat }),
        problems,
      };
    },
  };
}

async function readStart(file: string, stats: Stats): Promise<string> {
  if (!stats.isFile()) throw new Error("it is not a regular file");
  const handle = await open(file, readOnly);
  try {
    const length = Math.min(stats.size, maxBytes);
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, 0);
    const text = tidy(buffer.subarray(0, bytesRead).toString("utf8"));
    if (text.length <= maxCharacters && stats.size <= maxBytes) return text;
    const shown = cutText(text, maxCharacters);
    return `${shown}\n\n[Cut: the file is longer than ${maxCharacters} characters; this is its beginning.]`;
  } finally {
    await handle.close();
  }
}

function tidy(text: string): string {
  return text
    .replace(/^\uFEFF/, "")
    .replace(/\r\n/g, "\n")
    .trim();
}
