import type { Json, Snowflakes } from "./wire.js";

export interface FakeDiscordFile {
  readonly filename: string;
  readonly bytes: Buffer;
  readonly mimeType?: string;
}

/** Files of messages, to be fetched from their address. */
export class Attachments {
  readonly #ids: Snowflakes;
  readonly #origin: string;
  readonly #files = new Map<string, Buffer>();

  constructor(ids: Snowflakes, origin: string) {
    this.#ids = ids;
    this.#origin = origin;
  }

  /** As a message has it; each time under another id. */
  toWire({ filename, bytes, mimeType }: FakeDiscordFile): Json {
    const id = this.#ids.next();
    this.#files.set(id, bytes);
    return { id, filename, size: bytes.length, content_type: mimeType, url: `${this.#origin}/files/${id}` };
  }

  at(path: string): Buffer | undefined {
    return this.#files.get(/^\/files\/(\d+)$/.exec(path)?.[1] ?? "");
  }
}
