import { open, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { makeFolder } from "../util/files/make-folder.js";
import { readOnly } from "../util/files/real-path.js";

const entry = z.object({
  /** ISO 8601. */
  at: z.string(),
  /** What was done, or how it ended: `updated`, `taken-back`, `failed` and `broken-off` are ends. */
  step: z.enum([
    "began",
    "backed-up",
    "installed",
    "tried",
    "switched",
    "updated",
    "taken-back",
    "failed",
    "broken-off",
  ]),
  from: z.string(),
  to: z.string(),
  /** The backup, or why it ended so. */
  note: z.string().optional(),
});

/** One line of `updates.jsonl`. */
export type UpdateEntry = z.infer<typeof entry>;

const ends: ReadonlySet<UpdateEntry["step"]> = new Set(["updated", "taken-back", "failed", "broken-off"]);

export function historyFile(home: string): string {
  return join(home, "updates.jsonl");
}

/** Adds one line. It is on the disk when this resolves. */
export async function noteUpdate(home: string, line: UpdateEntry): Promise<void> {
  const file = historyFile(home);
  await makeFolder(dirname(file));
  const handle = await open(file, "a", 0o600);
  try {
    // What a crash has left of a line ends there.
    await handle.appendFile(`${(await endsInLine(file)) ? "" : "\n"}${JSON.stringify(line)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The last update, where it has no end: its process went away before it knew. */
export async function readBrokenOff(home: string): Promise<UpdateEntry | undefined> {
  const text = await readFile(historyFile(home), { encoding: "utf8", flag: readOnly }).catch(() => "");
  const last = text
    .split("\n")
    .flatMap((line) => parseLine(line) ?? [])
    .at(-1);
  return last === undefined || ends.has(last.step) ? undefined : last;
}

function parseLine(line: string): UpdateEntry | undefined {
  try {
    return entry.parse(JSON.parse(line));
  } catch {
    // Half a line, from a crash or a full disk.
    return undefined;
  }
}

async function endsInLine(file: string): Promise<boolean> {
  const text = await readFile(file, "utf8");
  return text === "" || text.endsWith("\n");
}
