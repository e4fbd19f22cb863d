import { createHash } from "node:crypto";

/** One request to a model, as it left. */
export interface SentRequest {
  readonly sessionKey: string;
  readonly turnId: string;
  readonly iteration: number;
  /** As people write it in the config. */
  readonly model: string;
  /** The whole body of the HTTP request. The key is in a header, which is not kept. */
  readonly body: Uint8Array;
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

interface Kept extends Pick<SentRequest, "sessionKey" | "turnId" | "iteration" | "model"> {
  readonly sentAt: number;
  /** Where its bytes begin, counted from the first byte that was ever kept. */
  readonly at: number;
  readonly length: number;
  /** What it has in common with an earlier request of its session, which is kept whole. */
  readonly like: { readonly whole: Kept; readonly head: number; readonly tail: number } | undefined;
}

const roomBytes = 4 * 1024 * 1024;

/**
 * The newest requests to models, byte for byte, in memory alone: what was deleted or forgotten in a chat must not live on in
 * another file. The oldest go first, and all of them with the process.
 *
 * They lie in one piece of memory, the newest over the oldest, so that none of them is garbage later. Of the requests of one session most is the
 * same at the beginning and at the end: this is there once.
 */
export class SentRequests {
  readonly #now: () => number;
  readonly #roomBytes: number;
  #room: Buffer | undefined;
  #kept: Kept[] = [];
  /** Where the next one begins. */
  #end = 0;

  constructor(options: { readonly now?: () => number; readonly roomBytes?: number } = {}) {
    this.#now = options.now ?? Date.now;
    this.#roomBytes = options.roomBytes ?? roomBytes;
  }

  keep({ body, ...request }: SentRequest): void {
    const { length } = body;
    if (length > this.#roomBytes) return;
    const at = this.#makeRoom(length);
    const content = this.#bytes({ at, length });
    content.set(body);
    const like = this.#likeEarlier(request.sessionKey, content);
    if (like !== undefined) content.copyWithin(0, like.head, length - like.tail);
    const own = like === undefined ? length : length - like.head - like.tail;
    this.#kept.push({ ...request, sentAt: this.#now(), at, length: own, like });
    this.#end = at + own;
  }

  /** Those of one call of a turn, the first attempt first. Empty where none is kept. */
  read(sessionKey: string, turnId: string, iteration: number): readonly KeptRequest[] {
    const found = this.#kept.filter(
      (each) => each.sessionKey === sessionKey && each.turnId === turnId && each.iteration === iteration,
    );
    return found.map((each) => {
      const content = this.#contentOf(each);
      const sha256 = createHash("sha256").update(content).digest("hex");
      const { model, sentAt } = each;
      return { model, sentAt, bytes: content.length, sha256, body: content.toString("utf8") };
    });
  }

  forget(sessionKey: string): void {
    for (const each of this.#kept) if (each.sessionKey === sessionKey) this.#bytes(each).fill(0);
    this.#kept = this.#kept.filter((each) => each.sessionKey !== sessionKey);
  }

  /** Where so many bytes lie side by side. What is there goes, and with it what can be read only together with it. */
  #makeRoom(length: number): number {
    const rest = this.#roomBytes - (this.#end % this.#roomBytes);
    const at = rest < length ? this.#end + rest : this.#end;
    const oldest = at + length - this.#roomBytes;
    if ((this.#kept[0]?.at ?? oldest) < oldest)
      this.#kept = this.#kept.filter((each) => (each.like?.whole ?? each).at >= oldest);
    return at;
  }

  /** Not where the earlier one goes soon, and not where most is different. */
  #likeEarlier(sessionKey: string, content: Buffer): Kept["like"] {
    const last = this.#kept.findLast((each) => each.sessionKey === sessionKey);
    const whole = last?.like?.whole ?? last;
    if (whole === undefined || this.#end - whole.at > this.#roomBytes / 2) return undefined;
    const earlier = this.#bytes(whole);
    const [before, now] = [earlier.length, content.length];
    const most = Math.min(before, now);
    const head = longest(most, (n) => earlier.compare(content, 0, n, 0, n) === 0);
    const tail = longest(most - head, (n) => earlier.compare(content, now - n, now, before - n, before) === 0);
    return head + tail > content.length / 2 ? { whole, head, tail } : undefined;
  }

  #contentOf({ like, ...own }: Kept): Buffer {
    if (like === undefined) return this.#bytes(own);
    const whole = this.#bytes(like.whole);
    return Buffer.concat([whole.subarray(0, like.head), this.#bytes(own), whole.subarray(whole.length - like.tail)]);
  }

  #bytes({ at, length }: Pick<Kept, "at" | "length">): Buffer {
    this.#room ??= Buffer.allocUnsafeSlow(this.#roomBytes);
    const from = at % this.#roomBytes;
    return this.#room.subarray(from, from + length);
  }
}

/** The largest number up to `most` for which this is so, where it is so for each smaller one. */
function longest(most: number, isSo: (n: number) => boolean): number {
  let [yes, no] = [0, most + 1];
  while (no - yes > 1) {
    const middle = (yes + no) >> 1;
    if (isSo(middle)) yes = middle;
    else no = middle;
  }
  return yes;
}
