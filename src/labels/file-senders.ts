import { open, readFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { InOrder } from "../util/async/in-order.js";
import { makeFolder } from "../util/files/make-folder.js";

const fileName = "senders.jsonl";
const record = z.object({ name: z.string(), by: z.string().optional() });

/**
 * Who sent the files that came into a session, as `channel:sender`, as far as they are the sender's own: not passed on, and
 * not of a message that was quoted. Kept beside the folder of those files, where no tool can write. What is not known here
 * counts as others'.
 */
export class FileSenders {
  readonly #inOrder = new InOrder();

  /** To be waited for: before a file of others takes this place, and after one of a sender's own has. */
  async note(file: string, by: string | undefined): Promise<void> {
    await this.#inOrder.run(() => append(file, by));
  }

  /** `received` holds the files. */
  async in(received: string): Promise<(file: string) => string | undefined> {
    const senders = await read(received);
    return (file) => (path.dirname(file) === received ? senders.get(path.basename(file)) : undefined);
  }
}

async function append(file: string, by: string | undefined): Promise<void> {
  const received = path.dirname(file);
  const name = path.basename(file);
  if ((await read(received)).get(name) === by) return;
  const listFile = listFileOf(received);
  await makeFolder(path.dirname(listFile));
  const handle = await open(listFile, "a", 0o600);
  try {
    // A line that a crash cut off ends here.
    await handle.appendFile(`\n${JSON.stringify({ name, by })}\n`);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

async function read(received: string): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(listFileOf(received), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  const senders = new Map<string, string>();
  for (const line of text.split("\n")) {
    const found = parse(line);
    if (found?.by !== undefined) senders.set(found.name, found.by);
    else if (found !== undefined) senders.delete(found.name);
  }
  return senders;
}

function parse(line: string): z.output<typeof record> | undefined {
  if (line === "") return undefined;
  try {
    return record.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

function listFileOf(received: string): string {
  return path.join(path.dirname(received), fileName);
}
