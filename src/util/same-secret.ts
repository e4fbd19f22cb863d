import { createHash, timingSafeEqual } from "node:crypto";

/** Compares two texts in a time that says nothing about how close a guess was, nor how long the secret is. */
export function isSameSecret(given: string, secret: string): boolean {
  return timingSafeEqual(digest(given), digest(secret));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
