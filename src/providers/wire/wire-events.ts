import { sizes } from "../request/sizes.js";
import { LineSplitter, TooLarge } from "./lines.js";

/** What is in the body of an answer. */
export type WireEvent =
  | { readonly kind: "event" /** Of its `event:` line. */; readonly name: string | undefined; readonly value: unknown }
  /** The whole answer as one document. */
  | { readonly kind: "document"; readonly value: unknown }
  /** A web page instead of an answer. */
  | { readonly kind: "page" }
  /** `[DONE]`: the server says that nothing comes any more. */
  | { readonly kind: "done" };

/** How a body goes on, once its first character has shown what it is. */
interface Form {
  read(piece: Uint8Array): Iterable<WireEvent>;
  end(): Iterable<WireEvent>;
}

/**
 * Reads a body by what it looks like, because servers say wrong things of it: a stream of events, or one document. Piece by piece and without
 * a promise for each event: it is to be asked for all events of a piece before the next one is given to it. These throw
 *
 * - `TooLarge` as soon as more has come than is taken,
 * - `SyntaxError` for JSON that is none.
 */
export class WireReader {
  /** What came before the first sign. */
  readonly #blank: Uint8Array[] = [];
  #form: Form | undefined;

  *read(piece: Uint8Array): Generator<WireEvent> {
    if (this.#form !== undefined) return yield* this.#form.read(piece);
    this.#blank.push(piece);
    const sign = firstSign(piece);
    if (sign === undefined) return;
    this.#form = sign === "<" ? page : sign === "{" || sign === "[" ? new DocumentForm() : new StreamForm();
    for (const each of this.#blank) yield* this.#form.read(each);
  }

  /** No piece follows. */
  end(): Iterable<WireEvent> {
    return this.#form?.end() ?? [];
  }
}

/** The first character that is neither blank nor a byte order mark. */
function firstSign(bytes: Uint8Array): string | undefined {
  const at = bytes.findIndex((byte) => byte > 0x20 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf);
  return at < 0 ? undefined : String.fromCharCode(bytes[at] ?? 0);
}

const page: Form = { read: () => [{ kind: "page" }], end: () => [] };

class DocumentForm implements Form {
  readonly #pieces: Uint8Array[] = [];
  #bytes = 0;

  read(piece: Uint8Array): Iterable<WireEvent> {
    this.#bytes += piece.length;
    if (this.#bytes > sizes.documentBytes) throw new TooLarge("one document", sizes.documentBytes);
    this.#pieces.push(piece);
    return [];
  }

  end(): Iterable<WireEvent> {
    const text = new TextDecoder().decode(Buffer.concat(this.#pieces));
    return [{ kind: "document", value: JSON.parse(withoutMark(text)) }];
  }
}

class StreamForm implements Form {
  readonly #lines = new LineSplitter(sizes.lineBytes);
  readonly #events = new EventReader();
  #bytes = 0;

  *read(piece: Uint8Array): Generator<WireEvent> {
    this.#bytes += piece.length;
    if (this.#bytes > sizes.streamBytes) throw new TooLarge("one stream", sizes.streamBytes);
    for (const line of this.#lines.push(piece)) yield* this.#events.read(line);
  }

  *end(): Generator<WireEvent> {
    yield* this.#events.read(this.#lines.end());
    // Some servers leave out the blank line behind the last event.
    yield* this.#events.read("");
  }
}

/** Puts the lines of an event stream together. See https://html.spec.whatwg.org/multipage/server-sent-events.html */
class EventReader {
  #name: string | undefined;
  #data: string[] = [];
  #bytes = 0;

  *read(line: string): Generator<WireEvent> {
    const text = withoutMark(line);
    if (text === "") return yield* this.#flush();
    // A server that fails in the middle may say so without any frame.
    if (text.startsWith("{")) {
      yield* this.#flush();
      this.#data.push(text);
      return yield* this.#flush();
    }
    const [, field, value = ""] = /^(event|data)(?::\s?(.*))?$/s.exec(text) ?? [];
    if (field === "event") {
      yield* this.#flush();
      this.#name = value.trim();
    }
    if (field !== "data") return;
    this.#bytes += value.length;
    if (this.#bytes > sizes.lineBytes) throw new TooLarge("an event", sizes.lineBytes);
    this.#data.push(value);
  }

  *#flush(): Generator<WireEvent> {
    const name = this.#name;
    const data = this.#data;
    this.#name = undefined;
    this.#data = [];
    this.#bytes = 0;
    const joinedText = data.join("\n").trim();
    if (joinedText === "") return;
    if (data.length === 1 || isJson(joinedText)) return yield toEvent(name, joinedText);
    // Events with one line feed between them.
    for (const text of data) if (text.trim() !== "") yield toEvent(name, text.trim());
  }
}

function toEvent(name: string | undefined, text: string): WireEvent {
  if (text.startsWith("[DONE]")) return { kind: "done" };
  // What went wrong may be told in plain words.
  if (name === "error" && !isJson(text)) return { kind: "event", name, value: text };
  return { kind: "event", name, value: JSON.parse(text) };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function withoutMark(text: string): string {
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}
