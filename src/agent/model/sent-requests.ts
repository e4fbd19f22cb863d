import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";

const pack = promisify(gzip);
const unpack = promisify(gunzip);

/** One request to a model, as it left. */
export interface SentRequest {
  readonly sessionKey: string;
  readonly turnId: string;
  readonly iteration: number;
  /** As people write it in the config. */
  readonly model: string;
  /** The whole body of the HTTP request. The key is in a header, which is not kept. */
  readonly body: string;
}

/** One that is kept. */
export interface KeptRequest {
  readonly model: string;
  /** Unix ms. */
  readonly sentAt: number;
  /** Of the body as it left, in UTF-8. */
  readonly bytes: number;
  /** The same, in hex. */
  readonly sha256: string;
  readonly body: string;
}

interface Packed extends Pick<SentRequest, "sessionKey" | "turnId" | "iteration" | "model"> {
  readonly sentAt: number;
  readonly packed: Promise<Buffer>;
  /** Of `packed`, once it is known; until then the bytes of the body. */
  size: number;
}

/** Packed, what fits into this is kept: some hundred requests of long chats. */
const mostBytes = 4 * 1024 * 1024;

/**
 * The newest requests to models, byte for byte, in memory alone: what was deleted or forgotten in a chat must not live on in
 * another file. The oldest go first, and all of them with the process.
 */
export class SentRequests {
  readonly #now: () => number;
  readonly #mostBytes: number;
  #kept: Packed[] = [];
  #bytes = 0;

  constructor(options: { readonly now?: () => number; readonly mostBytes?: number } = {}) {
    this.#now = options.now ?? Date.now;
    this.#mostBytes = options.mostBytes ?? mostBytes;
  }

  /** Returns at once; packing it goes on beside. */
  keep({ body, ...request }: SentRequest): void {
    const content = Buffer.from(body);
    const packed = pack(content, { level: 1 });
    const entry: Packed = { ...request, sentAt: this.#now(), packed, size: content.length };
    this.#kept.push(entry);
    this.#bytes += entry.size;
    void packed.then(
      ({ length }) => this.#settle(entry, length),
      () => this.#drop((each) => each === entry),
    );
  }

  /** Those of one call of a turn, the first attempt first. Empty where none is kept. */
  async read(sessionKey: string, turnId: string, iteration: number): Promise<readonly KeptRequest[]> {
    const found = this.#kept.filter(
      (each) => each.sessionKey === sessionKey && each.turnId === turnId && each.iteration === iteration,
    );
    return await Promise.all(
      found.map(async ({ model, sentAt, packed }) => {
        const content = await unpack(await packed);
        const sha256 = createHash("sha256").update(content).digest("hex");
        return { model, sentAt, bytes: content.length, sha256, body: content.toString("utf8") };
      }),
    );
  }

  forget(sessionKey: string): void {
    this.#drop((each) => each.sessionKey === sessionKey);
  }

  #settle(entry: Packed, size: number): void {
    if (!this.#kept.includes(entry)) return;
    this.#bytes += size - entry.size;
    entry.size = size;
    while (this.#bytes > this.#mostBytes && this.#kept.length > 0) this.#bytes -= this.#kept.shift()?.size ?? 0;
  }

  #drop(isGone: (each: Packed) => boolean): void {
    this.#kept = this.#kept.filter((each) => !isGone(each));
    this.#bytes = this.#kept.reduce((sum, { size }) => sum + size, 0);
  }
}
