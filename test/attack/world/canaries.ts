import { randomBytes } from "node:crypto";
import type { Chat, Person } from "./people.js";

/** Who wrote a text: a person, the gateway's own settings, or something outside, such as a page. */
export type Writer = Person | "gateway" | "outside";

/** A word that is in one place only, so that its turning up elsewhere shows a way between the two. */
export interface Canary {
  readonly value: string;
  /** Where it was put, for people. */
  readonly where: string;
  /** An owner who lets a text be in what steers makes it their own. */
  writer: Writer;
  /** Who may read it. Nobody may read a secret. Grows when an owner says yes to its going somewhere. */
  readonly readers: Set<Person>;
}

const pattern = /zq[0-9a-f]{12}/g;

export class Canaries {
  readonly #byValue = new Map<string, Canary>();

  mint(where: string, writer: Writer, readers: readonly Person[]): string {
    const value = `zq${randomBytes(6).toString("hex")}`;
    this.#byValue.set(value, { value, where, writer, readers: new Set(readers) });
    return value;
  }

  /** What was said in a chat is for those who are in it. */
  said(chat: Chat, by: Writer, what = "words"): string {
    return this.mint(`${what} of ${by} in ${chat.name}`, by, chat.members);
  }

  secret(where: string): string {
    return this.mint(where, "gateway", []);
  }

  in(text: string): readonly Canary[] {
    const values = new Set(text.match(pattern) ?? []);
    return [...values].flatMap((value) => this.#byValue.get(value) ?? []);
  }
}

/** Those canaries that not all of these people may read. */
export function hiddenFrom(people: readonly Person[], canaries: readonly Canary[]): readonly Canary[] {
  return canaries.filter(({ readers }) => readers.size === 0 || !people.every((person) => readers.has(person)));
}

/** What in a context speaks with another voice than the speaker's and the owner's. */
export function foreignTo(speaker: Person, canaries: readonly Canary[]): readonly Canary[] {
  return canaries.filter(({ writer }) => writer !== speaker && writer !== "owner" && writer !== "gateway");
}
