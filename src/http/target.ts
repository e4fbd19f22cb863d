import { RequestError } from "../errors.js";
import { innerAddress } from "./access/site.js";

/** A request's path, decoded segment by segment, and its query. */
export interface Target {
  /** As sent, without the base path and the query. */
  readonly path: string;
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
  /** It came with the base path in front, which is not in `path`. */
  readonly hasBase: boolean;
}

/** @throws {RequestError} 400 for a path that is not one, or that would climb */
export function parseTarget(address: string, basePath: string): Target {
  const { url, hasBase } = innerAddress(address, basePath);
  const mark = url.indexOf("?");
  const path = mark === -1 ? url : url.slice(0, mark);
  if (!path.startsWith("/")) throw badPath();
  const segments = path.slice(1).split("/").map(decode);
  return { path, segments, hasBase, query: new URLSearchParams(mark === -1 ? "" : url.slice(mark + 1)) };
}

function decode(segment: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(segment);
  } catch {
    throw badPath();
  }
  if (decoded === "." || decoded === ".." || decoded.includes("\0")) throw badPath();
  return decoded;
}

/** @throws {RequestError} 400 naming the parameter, unless it is absent or a whole number in the range */
export function integerOf(
  query: URLSearchParams,
  name: string,
  range: { readonly min: number; readonly max: number; readonly default: number },
): number {
  const text = query.get(name);
  if (text === null) return range.default;
  const value = Number(text);
  if (!/^\d{1,16}$/.test(text) || value < range.min || value > range.max)
    throw new RequestError(`${name}: must be a whole number from ${range.min} to ${range.max}.`, {
      status: 400,
      code: "bad_request",
    });
  return value;
}

/** A whole number of the query, to be checked by what takes it: what is none stays as it was sent. */
export function numberOf(query: URLSearchParams, name: string): number | string | undefined {
  const text = query.get(name);
  return text !== null && /^\d{1,16}$/.test(text) ? Number(text) : (text ?? undefined);
}

export function isTrue(text: string | null): boolean {
  return text !== null && ["1", "true", "yes"].includes(text.toLowerCase());
}

function badPath(): RequestError {
  return new RequestError("The path of this request is not valid.", { status: 400, code: "bad_request" });
}
