import { appendFile, open, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { InOrder } from "../util/async/in-order.js";
import { makeFolder } from "../util/files/make-folder.js";
import { replaceFile } from "../util/files/replace-file.js";

/** One line of a label file. Times are Unix ms. */
export const labelRecord = z.discriminatedUnion("kind", [
  /** From here on things are written that others have a say in. `path`: only there; else anywhere in the folder. */
  z.object({
    kind: z.literal("open"),
    id: z.string(),
    at: z.number(),
    path: z.string().optional(),
  }),
  z.object({ kind: z.literal("close"), id: z.string(), at: z.number() }),
  /** The number of the label file itself: in a copy of the folder the times of files mean nothing any more. */
  z.object({ kind: z.literal("place"), ino: z.string() }),
]);
export type LabelRecord = z.infer<typeof labelRecord>;

/** An append-only file of records. A line that a crash cut off is left out: what it was to tell about was not done. */
export class LabelLog {
  readonly #file: string;
  #endsWithLine = true;
  readonly #inOrder = new InOrder();

  constructor(file: string) {
    this.#file = file;
  }

  /** The records, and whether the file is one that was copied to where it is. */
  async read(): Promise<{ readonly records: readonly LabelRecord[]; readonly isCopy: boolean }> {
    const text = await readFile(this.#file, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return "";
      throw error;
    });
    this.#endsWithLine = text === "" || text.endsWith("\n");
    const records = text.split("\n").flatMap(parse);
    const origin = records.findLast((record) => record.kind === "place");
    const isCopy = origin !== undefined && origin.ino !== (await this.#ino());
    return { records: records.filter(({ kind }) => kind !== "place"), isCopy };
  }

  /** Resolves once the records are on the disk. */
  async append(records: readonly LabelRecord[]): Promise<void> {
    await this.#inTurn(async () => {
      await makeFolder(path.dirname(this.#file));
      const handle = await open(this.#file, "a", 0o600);
      try {
        const { size, ino } = await handle.stat({ bigint: true });
        const origin: LabelRecord = { kind: "place", ino: String(ino) };
        const text = toText(size === 0n ? [origin, ...records] : records);
        await handle.appendFile(this.#endsWithLine ? text : `\n${text}`);
        this.#endsWithLine = true;
        await handle.datasync();
      } finally {
        await handle.close();
      }
    });
  }

  /** Puts these records in place of all. */
  async replace(records: readonly LabelRecord[]): Promise<void> {
    await this.#inTurn(async () => {
      // One without its place counts as where it belongs, so that a crash in between harms nothing.
      await replaceFile(this.#file, toText(records));
      this.#endsWithLine = true;
      await appendFile(this.#file, toText([{ kind: "place", ino: (await this.#ino()) ?? "" }]));
    });
  }

  async #ino(): Promise<string | undefined> {
    return await stat(this.#file, { bigint: true }).then(
      ({ ino }) => String(ino),
      () => undefined,
    );
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    return this.#inOrder.run(work);
  }
}

function toText(records: readonly LabelRecord[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

function parse(line: string): LabelRecord[] {
  try {
    const record = labelRecord.safeParse(JSON.parse(line));
    return record.success ? [record.data] : [];
  } catch {
    return [];
  }
}
