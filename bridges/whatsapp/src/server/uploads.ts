import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { makeFolder } from "../../../../src/util/files/make-folder.js";

/** Files on their way to people, until their message is made. After a restart the gateway brings them again. */
export class Uploads {
  readonly #folder: string;
  readonly maxBytes: number;

  private constructor(folder: string, maxBytes: number) {
    this.#folder = folder;
    this.maxBytes = maxBytes;
  }

  static async open(folder: string, maxBytes: number): Promise<Uploads> {
    await makeFolder(folder);
    await Promise.all((await readdir(folder)).map((name) => rm(join(folder, name), { force: true })));
    return new Uploads(folder, maxBytes);
  }

  /** Undefined: it is too large. */
  async take(request: IncomingMessage): Promise<string | undefined> {
    const id = randomUUID();
    const path = this.pathOf(id);
    let bytes = 0;
    const { maxBytes } = this;
    const limited = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        if (bytes > maxBytes) return;
        yield chunk;
      }
    };
    try {
      await pipeline(request, limited, createWriteStream(path, { mode: 0o600, flags: "wx" }));
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
    if (bytes <= maxBytes) return id;
    await rm(path, { force: true });
    return undefined;
  }

  pathOf(id: string): string {
    return join(this.#folder, id);
  }

  async remove(id: string): Promise<void> {
    await rm(this.pathOf(id), { force: true });
  }
}
