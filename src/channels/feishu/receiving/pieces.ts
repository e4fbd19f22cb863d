import type { Frame } from "./frame.js";

interface Unfinished {
  readonly parts: Map<number, Uint8Array>;
  readonly sum: number;
  readonly begunAt: number;
  bytes: number;
}

const mostPieces = 1000;
/** Of all that is unfinished. */
const mostBytes = 16 * 1024 * 1024;
const mostUnfinished = 50;
/** Feishu sends the whole again when it is not answered. */
const keptMs = 60_000;

/** Puts together what comes in several frames. */
export class Pieces {
  readonly #unfinished = new Map<string, Unfinished>();
  #bytes = 0;

  /** The whole payload once its last piece is there; undefined: it is not whole yet, or never will be. */
  add({ headers, payload = new Uint8Array() }: Frame, now = Date.now()): Uint8Array | undefined {
    const id = headers.get("message_id") ?? "";
    const sum = Number(headers.get("sum") ?? 1);
    const seq = Number(headers.get("seq") ?? 0);
    if (sum <= 1) return payload;
    if (!Number.isInteger(sum) || sum > mostPieces || !Number.isInteger(seq) || seq < 0 || seq >= sum) return undefined;
    this.#forgetOld(now);
    const known = this.#unfinished.get(id);
    const one = known?.sum === sum ? known : { parts: new Map(), sum, begunAt: now, bytes: 0 };
    if (one !== known) {
      this.#forget(id);
      this.#unfinished.set(id, one);
    }
    const added = payload.length - (one.parts.get(seq)?.length ?? 0);
    one.bytes += added;
    this.#bytes += added;
    one.parts.set(seq, payload);
    if (one.parts.size < sum) {
      for (const oldest of this.#unfinished.keys()) if (this.#bytes > mostBytes) this.#forget(oldest);
      return undefined;
    }
    this.#forget(id);
    const inOrder = [...one.parts].sort(([a], [b]) => a - b);
    return Buffer.concat(inOrder.map(([, part]) => part));
  }

  #forgetOld(now: number): void {
    for (const [id, { begunAt }] of this.#unfinished) if (now - begunAt > keptMs) this.#forget(id);
    for (const id of this.#unfinished.keys()) if (this.#unfinished.size >= mostUnfinished) this.#forget(id);
  }

  #forget(id: string): void {
    this.#bytes -= this.#unfinished.get(id)?.bytes ?? 0;
    this.#unfinished.delete(id);
  }
}
