import { lstatSync } from "node:fs";
import path from "node:path";
import { messageOf } from "../errors.js";
import { cutText } from "../util/text/cut-text.js";
import { isMissing, type OwnFile, openOwnFile } from "./own-file.js";

/** What people wrote about the assistant, themselves and the past. A file that is missing, empty or still the template is absent. */
export interface ContextFiles {
  /** AGENTS.md, or CLAUDE.md where that says nothing. */
  readonly agents?: string;
  /** SOUL.md */
  readonly soul?: string;
  /** USER.md */
  readonly user?: string;
  /** GUESTS.md */
  readonly guests?: string;
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

/** `isTemplate`: nobody has written anything of their own into the file of this path in the workspace. */
export function createContextFiles(
  workspace: string,
  options: { readonly isTemplate?: (name: string, text: string) => boolean } = {},
): ContextFileLoader {
  const cache = new Map<string, Cached>();

  const load = async (name: string, problems: string[]): Promise<string | undefined> => {
    const file = path.join(workspace, name);
    try {
      // At once, as with the journal: handing each of seven files to another thread took ten times as long, with every message.
      const { mtimeMs, ctimeMs, size, ino } = lstatSync(file);
      const stamp = `${mtimeMs}:${ctimeMs}:${size}:${ino}`;
      const known = cache.get(name);
      const text = known?.stamp === stamp ? known.text : await readStart({ root: workspace, name });
      cache.set(name, { stamp, text });
      return text === "" || options.isTemplate?.(name, text) === true ? undefined : text;
    } catch (error) {
      if (isMissing(error)) {
        cache.delete(name);
        return undefined;
      }
      problems.push(`${file} cannot be read: ${messageOf(error)}`);
      // What steers the assistant does not go away because somebody keeps it from being read for a moment.
      return cache.get(name)?.text;
    }
  };

  return {
    async load() {
      const problems: string[] = [];
      const agents = (await load("AGENTS.md", problems)) ?? (await load("CLAUDE.md", problems));
      const soul = await load("SOUL.md", problems);
      const user = await load("USER.md", problems);
      const guests = await load("GUESTS.md", problems);
      const memory = await load("memory/MEMORY.md", problems);
      const heartbeat = await load("memory/heartbeat.md", problems);
      return {
        ...(agents === undefined ? {} : { agents }),
        ...(soul === undefined ? {} : { soul }),
        ...(user === undefined ? {} : { user }),
        ...(guests === undefined ? {} : { guests }),
        ...(memory === undefined ? {} : { memory }),
        ...(heartbeat === undefined ? {} : { heartbeat }),
        problems,
      };
    },
  };
}

/** The file as the model is shown it. */
export async function readStart(file: OwnFile): Promise<string> {
  await using handle = await openOwnFile(file, "read");
  const { size } = await handle.stat();
  const length = Math.min(size, maxBytes);
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, 0);
  const text = tidy(buffer.subarray(0, bytesRead).toString("utf8"));
  if (text.length <= maxCharacters && size <= maxBytes) return text;
  const shown = cutText(text, maxCharacters);
  return `${shown}\n\n[Cut: the file is longer than ${maxCharacters} characters; this is its beginning.]`;
}

function tidy(text: string): string {
  return text
    .replace(/^\uFEFF/, "")
    .replace(/\r\n/g, "\n")
    .trim();
}
