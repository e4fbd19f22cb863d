import { sizes } from "../request/sizes.js";
import { parseBody } from "./error-body.js";
import { type AnswerHeaders, post, type WireAnswer } from "./post.js";

/** A server's answer to a call that it refused or failed at. */
export class Refusal extends Error {
  readonly status: number | undefined;
  readonly headers: AnswerHeaders | undefined;
  /** Parsed where it is JSON, else its text. */
  readonly error: unknown;

  constructor(status: number | undefined, headers: AnswerHeaders | undefined, error: unknown) {
    super("The server refused the call");
    this.name = "Refusal";
    this.status = status;
    this.headers = headers;
    this.error = error;
  }
}

/** Names of headers in small letters. Without a value: not sent. */
export type CallHeaders = Readonly<Record<string, string | undefined>>;

/**
 * Asks a model's server once, and follows no redirect, which would carry the key to another address. `own` headers are what
 * its API wants, `configured` ones replace them. `onSend` gets the body when it is on its way.
 *
 * @throws {Refusal} for what is not an answer, with all that the server said, whatever its shape; no more of it is read than
 *   anybody needs. Else what {@link post} throws.
 */
export async function askServer(
  url: string,
  body: object,
  {
    onSend,
    ...headers
  }: {
    readonly own: CallHeaders;
    readonly configured: CallHeaders | undefined;
    readonly onSend?: ((body: Uint8Array) => void) | undefined;
  },
  signal: AbortSignal,
): Promise<WireAnswer> {
  const bytes = Buffer.from(JSON.stringify(body));
  // The request goes first. A call that ended meanwhile is nobody's any more: its chat may be deleted.
  setImmediate(() => {
    if (!signal.aborted) onSend?.(bytes);
  });
  const answer = await post(url, { headers: toHeaders(headers), body: bytes, signal });
  if (answer.ok) return answer;
  throw new Refusal(answer.status, answer.headers, await beginningOf(answer));
}

function toHeaders({ own, configured = {} }: Omit<Parameters<typeof askServer>[2], "onSend">): Record<string, string> {
  const headers: Record<string, string> = {
    accept: "application/json",
    "content-type": "application/json",
    "user-agent": "maxclaw",
  };
  for (const [name, value] of [...Object.entries(own), ...Object.entries(configured)])
    if (value !== undefined) headers[name.toLowerCase()] = value;
  return headers;
}

/** What a server says in place of an answer, as far as anybody needs it: parsed where it is JSON, else its text. */
export async function beginningOf({ body }: Pick<WireAnswer, "body">): Promise<unknown> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  // A body without any is null.
  for await (const piece of body ?? []) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes >= sizes.refusalBytes) break;
  }
  return parseBody(new TextDecoder().decode(Buffer.concat(pieces).subarray(0, sizes.refusalBytes)));
}
