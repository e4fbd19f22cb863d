export type Json = Readonly<Record<string, unknown>>;

export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A call below `/channels/<id>`. */
export interface ChannelCall {
  readonly method: string;
  readonly channelId: string;
  /** Of the path, after the id. */
  readonly rest: string;
  readonly query: URLSearchParams;
  readonly body: Buffer;
  /** Its `content-type`. */
  readonly type: string;
}

export function refusal(status: number, message: string, code: number): Reply {
  return { status, body: { message, code } };
}

const epoch = 1_420_070_400_000n;

/** Discord's ids: later ones are larger. */
export class Snowflakes {
  #count = 0n;

  next(): string {
    this.#count += 1n;
    return String(((BigInt(Date.now()) - epoch) << 22n) + this.#count);
  }
}
