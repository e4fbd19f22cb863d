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

/**
 * Reads a body by what it looks like, because servers say wrong things of it: a stream of events, or one document.
 *
 * @throws {TooLarge} as soon as more has come than is taken
 * @throws {SyntaxError} for JSON that is none
 */
export async function* readWire(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<WireEvent> {
  const source = pieces[Symbol.asyncIterator]();
  try {
    const begin: Uint8Array[] = [];
    let sign: string | undefined;
    for (;;) {
      const { value, done } = await source.next();
      if (done === true) break;
      begin.push(value);
      sign = firstSign(value);
      if (sign !== undefined) break;
    }
    if (sign === undefined) return;
    const all = joined(begin, source);
    if (sign === "<") yield { kind: "page" };
    else if (sign === "{" || sign === "[") yield* readDocument(all);
    else yield* readStream(all);
  } finally {
    await source.return?.();
  }
}

/** The first character that is neither blank nor a byte order mark. */
function firstSign(bytes: Uint8Array): string | undefined {
  const at = bytes.findIndex((byte) => byte > 0x20 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf);
  return at < 0 ? undefined : String.fromCharCode(bytes[at] ?? 0);
}

async function* joined(begin: readonly Uint8Array[], rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* begin;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

async function* readDocument(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<WireEvent> {
  const all: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > sizes.documentBytes) throw new TooLarge("one document", sizes.documentBytes);
    all.push(piece);
  }
  yield { kind: "document", value: JSON.parse(withoutMark(new TextDecoder().decode(Buffer.concat(all)))) };
}

async function* readStream(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<WireEvent> {
  const lines = new LineSplitter(sizes.lineBytes);
  const reader = new EventReader();
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > sizes.streamBytes) throw new TooLarge("one stream", sizes.streamBytes);
    for (const line of lines.push(piece)) yield* reader.read(line);
  }
  yield* reader.read(lines.end());
  // Some servers leave out the blank line behind the last event.
  yield* reader.read("");
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
