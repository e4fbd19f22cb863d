import { isPersonCode, newPersonCode, shownCode } from "../util/text/person-code.js";

/** Somebody on a channel who has just said that they are the owner, by the code. */
export interface ClaimedOwner {
  readonly senderId: string;
  readonly senderName?: string | undefined;
}

/** How far one claim is. */
export type ClaimState =
  | { readonly state: "none" }
  | { readonly state: "waiting"; readonly expiresAt: string }
  | { readonly state: "done"; readonly owner: ClaimedOwner }
  | { readonly state: "failed"; readonly reason: string };

interface Claim {
  readonly code: string;
  /** Unix ms. */
  readonly expiresAt: number;
  readonly grant: (owner: ClaimedOwner) => Promise<void>;
}

const validMs = 10 * 60_000;
/** Texts that look like a code and are not it: after so many somebody guesses. */
const mostWrong = 20;

/**
 * "This is me": the owner sees a code on a page that only the owner has, and sends it to the bot. One code per channel, for
 * ten minutes, for one person, and only while this process runs.
 */
export class OwnerClaims {
  readonly #now: () => number;
  readonly #open = new Map<string, Claim>();
  readonly #wrong = new Map<string, number>();
  readonly #ended = new Map<string, ClaimState>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A new code, which ends an earlier one. `grant` is called once, for who sends it. */
  begin(channel: string, grant: Claim["grant"]): { readonly code: string; readonly expiresAt: string } {
    const claim: Claim = { code: newPersonCode(), expiresAt: this.#now() + validMs, grant };
    this.#open.set(channel, claim);
    this.#wrong.delete(channel);
    this.#ended.delete(channel);
    return { code: shownCode(claim.code), expiresAt: new Date(claim.expiresAt).toISOString() };
  }

  end(channel: string): void {
    this.#open.delete(channel);
    this.#ended.delete(channel);
  }

  stateOf(channel: string): ClaimState {
    const claim = this.#claimOf(channel);
    if (claim !== undefined) return { state: "waiting", expiresAt: new Date(claim.expiresAt).toISOString() };
    return this.#ended.get(channel) ?? { state: "none" };
  }

  /** What they hear when the text is the code of the channel; undefined: it is a message like any other. */
  async take(channel: string, owner: ClaimedOwner, text: string): Promise<string | undefined> {
    const claim = this.#claimOf(channel);
    if (claim === undefined) return undefined;
    // Telegram's Start button puts a command before it.
    const said = text.replace(/^\/start\b/i, "");
    if (!isPersonCode(said, claim.code)) {
      this.#countWrong(channel, said);
      return undefined;
    }
    // Before anything is awaited: the same code lets in nobody else.
    this.#open.delete(channel);
    try {
      await claim.grant(owner);
      this.#ended.set(channel, { state: "done", owner });
      return "Hello! This is your own assistant, and this chat is yours now. Write to me whenever you like.";
    } catch (error) {
      this.#ended.set(channel, { state: "failed", reason: error instanceof Error ? error.message : String(error) });
      return "That was the right code, but it could not be written down. The web page says why.";
    }
  }

  #countWrong(channel: string, said: string): void {
    if (!/^[\s-]*(?:[A-Z0-9][\s-]*){8}$/i.test(said)) return;
    const wrong = (this.#wrong.get(channel) ?? 0) + 1;
    this.#wrong.set(channel, wrong);
    if (wrong < mostWrong) return;
    this.#open.delete(channel);
    this.#ended.set(channel, { state: "failed", reason: "Too many wrong codes were sent. Ask for a new code." });
  }

  #claimOf(channel: string): Claim | undefined {
    const claim = this.#open.get(channel);
    if (claim === undefined || this.#now() < claim.expiresAt) return claim;
    this.#open.delete(channel);
    return undefined;
  }
}
