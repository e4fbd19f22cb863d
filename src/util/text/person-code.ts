import { randomInt } from "node:crypto";
import { isSameSecret } from "../same-secret.js";

// Without I, L and O, and without 0 and 1, which people mix up.
const alphabet = "ABCDEFGHJKMNPQRSTUVWXYZ23456789";

/** Eight characters that nobody guesses, e.g. `K7PM2XQA`. */
export function newPersonCode(): string {
  return Array.from({ length: 8 }, () => alphabet.charAt(randomInt(alphabet.length))).join("");
}

/** As people read it best: `K7PM-2XQA`. */
export function shownCode(code: string): string {
  return `${code.slice(0, 4)}-${code.slice(4)}`;
}

/** Case, spaces and hyphens do not matter. The time that this takes says nothing about how close a guess was. */
export function isPersonCode(text: string, code: string): boolean {
  return isSameSecret(plain(text), plain(code));
}

function plain(text: string): string {
  return text.toUpperCase().replaceAll(/[\s-]/g, "");
}
