import { createHash } from "node:crypto";
import { open, readFile } from "node:fs/promises";
import path from "node:path";
import { InOrder } from "../util/async/in-order.js";
import { makeFolder } from "../util/files/make-folder.js";

/** Beyond it every passage counts as foreign. */
const maxTexts = 100_000;

/** Which passages of files that grow others had a say in: kept are their fingerprints. */
export class TextLabels {
  readonly #file: string;
  readonly #known = new Set<string>();
  #ready: Promise<void> | undefined;
  readonly #inOrder = new InOrder();

  constructor(file: string) {
    this.#file = file;
  }

  /** To be waited for before the passages are written into the file at this path. */
  async mark(texts: readonly string[], file: string): Promise<void> {
    await this.#load();
    const fresh = [...new Set([...texts, ofFile(file)].map(fingerprint))].filter((one) => !this.#known.has(one));
    if (fresh.length === 0) return;
    const append = async (): Promise<void> => {
      await makeFolder(path.dirname(this.#file));
      const handle = await open(this.#file, "a", 0o600);
      try {
        // A line that a crash cut off ends here.
        await handle.appendFile(`\n${fresh.join("\n")}\n`);
        await handle.datasync();
      } finally {
        await handle.close();
      }
    };
    await this.#inOrder.run(append);
    for (const one of fresh) this.#known.add(one);
  }

  async isForeign(text: string): Promise<boolean> {
    await this.#load();
    return this.#known.size > maxTexts || this.#known.has(fingerprint(text));
  }

  /** Says for files whether such a passage was ever written into them. */
  async foreignFiles(): Promise<(file: string) => boolean> {
    await this.#load();
    return (file) => this.#known.size > 0 && this.#known.has(fingerprint(ofFile(file)));
  }

  async #load(): Promise<void> {
    this.#ready ??= this.#read();
    await this.#ready;
  }

  async #read(): Promise<void> {
    const text = await readFile(this.#file, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return "";
      throw error;
    });
    for (const line of text.split("\n")) if (line !== "") this.#known.add(line);
  }
}

function ofFile(file: string): string {
  return `the file ${file}`;
}

/** White space counts for nothing: files are tidied up. */
function fingerprint(text: string): string {
  return createHash("sha256").update(text.replace(/\s+/g, " ").trim()).digest("base64url").slice(0, 22);
}
