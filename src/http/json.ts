import type { IncomingMessage } from "node:http";
import type { z } from "zod";
import { checked } from "../api/commands/checked.js";
import { RequestError } from "../errors.js";

const maxDepth = 64;

/** @throws {RequestError} 415 when there is a body and it is not declared as JSON, which a foreign form cannot do */
export function requireJsonIfBody(request: IncomingMessage): void {
  const {
    "content-type": type,
    "content-length": length,
    "transfer-encoding": transfer,
    "content-encoding": coding,
  } = request.headers;
  if (transfer === undefined && (length === undefined || length === "0")) return;
  if (!/^application\/json\s*(;|$)/i.test(type ?? "") || (coding !== undefined && coding !== "identity"))
    throw new RequestError("Send the body as Content-Type: application/json, not compressed.", {
      status: 415,
      code: "unsupported_media_type",
    });
}

export interface BodyLimits {
  readonly maxBodyBytes: number;
  readonly requestTimeoutMs: number;
  /** Ends the reading: who sends the rest may not do so any more. */
  readonly signal: AbortSignal;
}

/** @throws {RequestError} 413 too large, 408 too slow, 400 when it is not JSON or does not fit the schema */
export async function readJson<T>(request: IncomingMessage, schema: z.ZodType<T>, limits: BodyLimits): Promise<T> {
  return parseJson(await readBody(request, limits), schema);
}

/** @throws {RequestError} 400, naming the field */
export function parseJson<T>(text: string, schema: z.ZodType<T>): T {
  if (depthOf(text) > maxDepth) throw invalid(`The JSON is nested more than ${maxDepth} levels deep.`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid(text.trim() === "" ? "A JSON body is needed." : "The body is not valid JSON.");
  }
  return checked(value, schema);
}

async function readBody(request: IncomingMessage, limits: BodyLimits): Promise<string> {
  const chunks: Buffer[] = [];
  await readChunks(request, limits, (chunk) => void chunks.push(chunk));
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw invalid("The body is not valid UTF-8.");
  }
}

/**
 * Hands the body on as it arrives; what `take` throws ends the reading.
 *
 * @throws {RequestError} 413 too large, 408 too slow, 400 when it was cut off
 * @throws the reason of the signal
 */
export async function readChunks(
  request: IncomingMessage,
  { maxBodyBytes: maxBytes, requestTimeoutMs, signal }: BodyLimits,
  take: (chunk: Buffer) => void,
): Promise<void> {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  let size = 0;
  let isOver = false;
  const tooSlow = new RequestError("The request took too long to arrive.", { status: 408, code: "timeout" });
  let timer: NodeJS.Timeout | undefined;
  let onAbort = (): void => {};
  signal.throwIfAborted();
  // Listeners rather than iteration: leaving a loop would cut the connection before the answer is out.
  await new Promise<void>((resolve, reject) => {
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (isOver) return;
      try {
        if (size > maxBytes) throw tooLarge(maxBytes);
        take(chunk);
      } catch (error) {
        isOver = true;
        reject(error);
      }
    });
    timer = setTimeout(() => reject(tooSlow), requestTimeoutMs);
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    request.once("end", resolve);
    request.once("error", reject);
    request.once("close", () =>
      reject(new RequestError("The request was cut off.", { status: 400, code: "bad_request" })),
    );
  }).finally(() => {
    isOver = true;
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  });
  signal.throwIfAborted();
}

/** Counts brackets outside of strings, so that nothing recursive ever sees what is too deep. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (inString) {
      if (char === "\\") i++;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === "{" || char === "[") deepest = Math.max(deepest, ++depth);
    else if (char === "}" || char === "]") depth--;
  }
  return deepest;
}

function invalid(message: string): RequestError {
  return new RequestError(message, { status: 400, code: "bad_request" });
}

function tooLarge(maxBytes: number): RequestError {
  return new RequestError(`The body is larger than ${maxBytes} bytes.`, { status: 413, code: "too_large" });
}
