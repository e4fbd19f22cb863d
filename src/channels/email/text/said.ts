import { createHash } from "node:crypto";
import { lettersOf } from "../../../util/text/letters.js";

const mostUnits = 400;
/** What has been looked at by then is not surely known. */
const mostLooks = 60_000;

/**
 * What a mail said, so that a quote of it is known again: the length and a hash of the letters of each of its sentences,
 * in which no program's way to break lines, mark quotes or print in bold shows.
 */
export function saidIn(...texts: readonly string[]): string {
  const units = texts.flatMap((text) => withoutTargets(text).split(/\n|(?<=[.!?。！？:;])\s/)).map(lettersOf);
  return [...new Set(units.filter((unit) => unit !== "").map(keyOf))].slice(0, mostUnits).join(" ");
}

/** The texts of several mails, known by what {@link saidIn} made of each. */
export class Said {
  readonly #keys: ReadonlySet<string>;
  readonly #lengths: readonly number[];

  constructor(mails: readonly string[]) {
    this.#keys = new Set(mails.flatMap((said) => said.split(" ").filter((key) => key !== "")));
    const lengths = [...this.#keys].map((key) => Number.parseInt(key, 10));
    this.#lengths = [...new Set(lengths)].sort((a, b) => a - b);
  }

  /** Whether a text is made of whole sentences of those mails and nothing else. */
  holds(text: string): boolean {
    const letters = lettersOf(withoutTargets(text));
    const open = [0];
    const seen = new Set<number>();
    let looks = 0;
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (at === letters.length) return true;
      // The longest is put there last, and tried first.
      for (const length of this.#lengths) {
        const end = at + length;
        if (end > letters.length || seen.has(end)) continue;
        if (++looks > mostLooks) return false;
        if (!this.#keys.has(keyOf(letters.slice(at, end)))) continue;
        seen.add(end);
        open.push(end);
      }
    }
    return false;
  }
}

function keyOf(letters: string): string {
  return `${letters.length}.${createHash("sha256").update(letters).digest("base64url").slice(0, 8)}`;
}

/** Programs show where a link leads, or do not. */
function withoutTargets(text: string): string {
  return text.replace(/[<([](?:https?:\/\/|mailto:)[^<>()[\]\s]{1,2000}[>)\]]/gi, "");
}
