import { RequestError } from "../../errors.js";

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openers: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const closers: ReadonlySet<number> = new Set([0x5d, 0x7d]);
const openList = 0x5b;
const spaces: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
/** No key or role that matters is longer. */
const maxNameBytes = 64;

/** Where the top level and one message are, counted in open brackets. */
const topDepth = 1;
const listDepth = 2;
const messageDepth = 3;

/**
 * Reads the body of a chat completion piece by piece and keeps what counts of it: everything besides `messages`, and of
 * those what users have said since anybody else spoke. The history before, with all its pictures, is never held. Nothing
 * here is recursive, and what is kept is parsed and checked like any other body.
 */
export class ConversationReader {
  readonly #maxBytes: number;
  readonly #rest = new Pieces();
  #said: Buffer[] = [];
  #saidBytes = 0;
  /** Somebody else spoke last. */
  #isAnswered = false;
  #count = 0;
  #message = new Pieces();
  #role: string | undefined;
  #depth = 0;
  #hasMessages = false;
  #inMessages = false;
  #inString = false;
  #isEscaped = false;
  /** The string that was read last at a level that counts, as far as it may be a name. */
  #name = new Name();
  #key = "";

  /** `maxBytes`: of what is kept. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @throws {RequestError} 413 when what counts is too much */
  take(chunk: Buffer): void {
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      if (this.#inString) {
        this.#stepString(byte);
        continue;
      }
      if (byte === quote) {
        this.#inString = true;
        this.#name.begin();
      } else if (openers.has(byte)) {
        const isList = byte === openList && this.#depth === topDepth && this.#key === "messages";
        this.#depth += 1;
        if (isList) {
          this.#keep(chunk.subarray(from, at));
          this.#rest.add(Buffer.from("null"));
          this.#beginMessages();
          from = at + 1;
        }
      } else if (closers.has(byte)) {
        if (this.#inMessages && this.#depth === listDepth) {
          this.#keep(chunk.subarray(from, at));
          this.#endMessage();
          this.#inMessages = false;
          from = at + 1;
        }
        this.#depth -= 1;
      } else if (byte === comma && this.#inMessages && this.#depth === listDepth) {
        this.#keep(chunk.subarray(from, at));
        this.#endMessage();
        from = at + 1;
      } else this.#stepBetween(byte);
    }
    this.#keep(chunk.subarray(from));
  }

  /** The text of the body besides its messages, which are null there, and that of the messages that count. */
  end(): { readonly rest: string; readonly messages: string | undefined } {
    if (!this.#hasMessages) return { rest: decode(this.#rest.whole()), messages: undefined };
    if (this.#saidBytes > this.#maxBytes) throw tooLarge(this.#maxBytes);
    const said = this.#said.map(decode);
    if (said.length > 0) return { rest: decode(this.#rest.whole()), messages: `[${said.join(",")}]` };
    const last = this.#isAnswered ? `{"role":"assistant"}` : this.#count > 0 ? `{"role":"system"}` : "";
    return { rest: decode(this.#rest.whole()), messages: `[${last}]` };
  }

  #stepString(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === backslash) this.#isEscaped = true;
    else if (byte === quote) {
      this.#inString = false;
      if (this.#depth === messageDepth && this.#inMessages && this.#key === "role") this.#role = this.#name.text();
      return;
    }
    this.#name.add(byte);
  }

  #stepBetween(byte: number): void {
    const isNamed = this.#depth === topDepth || (this.#inMessages && this.#depth === messageDepth);
    if (byte === colon && isNamed) this.#key = this.#name.text();
    else if (byte === comma && isNamed) this.#key = "";
  }

  #beginMessages(): void {
    this.#hasMessages = true;
    this.#inMessages = true;
    this.#said = [];
    this.#saidBytes = 0;
    this.#isAnswered = false;
    this.#count = 0;
    this.#message = new Pieces();
    this.#role = undefined;
    this.#key = "";
  }

  #keep(piece: Buffer): void {
    const target = this.#inMessages ? this.#message : this.#rest;
    // A message that is too long may still be one of the history, of which only the role counts.
    if (this.#inMessages && target.bytes + piece.length > this.#maxBytes) target.drop(piece.length);
    else target.add(piece);
    if (this.#rest.bytes > this.#maxBytes) throw tooLarge(this.#maxBytes);
  }

  #endMessage(): void {
    const message = this.#message;
    const role = this.#role;
    this.#message = new Pieces();
    this.#role = undefined;
    this.#key = "";
    const text = message.whole();
    const isNothing = !message.isDropped && text.every((byte) => spaces.has(byte));
    if (isNothing) return;
    this.#count += 1;
    if (role === "system" || role === "developer") return;
    if (role === "user" || role === undefined) {
      this.#saidBytes += message.bytes;
      if (this.#saidBytes <= this.#maxBytes) this.#said.push(text);
      else this.#said = [];
      return;
    }
    this.#said = [];
    this.#saidBytes = 0;
    this.#isAnswered = true;
  }
}

/** Bytes in pieces, which may turn out to be too many to be kept. */
class Pieces {
  bytes = 0;
  isDropped = false;
  #pieces: Buffer[] = [];

  add(piece: Buffer): void {
    if (piece.length === 0) return;
    this.bytes += piece.length;
    // Of its own: a view would hold the whole chunk.
    if (!this.isDropped) this.#pieces.push(Buffer.from(piece));
  }

  drop(bytes: number): void {
    this.bytes += bytes;
    this.isDropped = true;
    this.#pieces = [];
  }

  whole(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}

/** The begin of a string, for keys and roles. */
class Name {
  readonly #bytes = Buffer.alloc(maxNameBytes);
  #length = 0;

  begin(): void {
    this.#length = 0;
  }

  add(byte: number): void {
    if (this.#length < maxNameBytes) this.#bytes[this.#length] = byte;
    this.#length += 1;
  }

  /** "" for one that is too long to be one. */
  text(): string {
    return this.#length > maxNameBytes ? "" : this.#bytes.toString("utf8", 0, this.#length);
  }
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new RequestError("The body is not valid UTF-8.", { status: 400, code: "bad_request" });
  }
}

function tooLarge(maxBytes: number): RequestError {
  const megabytes = Math.round(maxBytes / 1024 / 1024);
  return new RequestError(
    `What was said since the last answer is larger than ${megabytes} MB. Only text is taken here, no images or files.`,
    { status: 413, code: "too_large" },
  );
}
