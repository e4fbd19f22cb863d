import { RequestError } from "../../errors.js";
import type { Place } from "./line.js";

/** A place in the order of results, for who asks for the next page. */
export function tokenOf({ key, seq, part, at }: Place): string {
  return Buffer.from(JSON.stringify([at, key, seq, part])).toString("base64url");
}

/** @throws {RequestError} 400 for what no page has given */
export function placeOf(token: string): Place {
  const parts = parse(Buffer.from(token, "base64url").toString());
  const [at, key, seq, part] = Array.isArray(parts) ? (parts as unknown[]) : [];
  if (typeof at === "number" && typeof key === "string" && typeof seq === "number" && typeof part === "number")
    return { at, key, seq, part };
  throw new RequestError("before is not the next of an earlier page.", { status: 400, code: "bad_request" });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
