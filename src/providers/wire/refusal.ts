import { sizes } from "../request/sizes.js";
import { parseBody } from "./error-body.js";
import { post, type WireAnswer } from "./post.js";

/** A server's answer to a call that it refused or failed at. */
export class Refusal extends Error {
  readonly status: number | undefined;
  readonly headers: Headers | undefined;
  /** Parsed where it is JSON, else its text. */
  readonly error: unknown;

  constructor(status: number | undefined, headers: Headers | undefined, error: unknown) {
    super("The server refused the call");
    this.name = "Refusal";
    this.status = status;
    this.headers = headers;
    this.error = error;
  }
}

/** Carries what went wrong through an SDK, which would look at its words and give some of it away. */
export class FailedFetch extends Error {
  readonly reason: unknown;

  constructor(reason: unknown) {
    super("The call failed");
    this.name = "FailedFetch";
    this.reason = reason;
  }
}

/**
 * `fetch` for an SDK that is to see answers only: what is none is thrown with all that the server said, whatever its
 * shape, and no more of it is read than anybody needs. It passes on the answer as it is, and itself looks at its status and headers alone.
 */
export async function fetchAnswer(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  try {
    const answer = await send(input, init);
    // The SDKs declare all of a Response, and read its status and headers.
    if (answer.ok) return answer as Response;
    throw new Refusal(answer.status, answer.headers, parseBody(await beginningOf(answer)));
  } catch (error) {
    throw init?.signal?.aborted === true ? error : new FailedFetch(error);
  }
}

async function send(input: string | URL | Request, init: RequestInit = {}): Promise<WireAnswer> {
  const { body } = init;
  if (typeof input !== "object" && typeof body === "string") return await post(input, { ...init, body });
  return await fetch(input, init);
}

/** What an error that came through an SDK is about. */
export function reasonOf(error: unknown): unknown {
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth += 1) {
    if (current instanceof FailedFetch) return current.reason;
    current = current.cause;
  }
  return error;
}

async function beginningOf({ body }: WireAnswer): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  // A body without any is null.
  for await (const piece of body ?? []) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes >= sizes.refusalBytes) break;
  }
  return new TextDecoder().decode(Buffer.concat(pieces).subarray(0, sizes.refusalBytes));
}
