import { isIPv6 } from "node:net";
import { LRUCache } from "lru-cache";
import { statusSentence } from "../util/words/status-sentences.js";
import { backoffMs } from "./async/backoff.js";
import { sleep } from "./async/sleep.js";

/** How a wrong token is answered. */
export interface WrongAnswer {
  /** How long nobody from there may try again; undefined while they still may. */
  readonly lockedMs: number | undefined;
  /** True once for each lock. */
  readonly isNew: boolean;
}

/** So many are a mistake, and answered at once. */
const free = 3;
const firstDelayMs = 250;
const longestDelayMs = 4000;
const mostTries = 10;
const windowMs = 10 * 60_000;
const lockMs = 5 * 60_000;
const mostAddresses = 4096;
/** From so many of all addresses on, each address is locked by its first wrong one. */
const mostInAll = 100;
const mostWaiting = 64;
/** A token that nobody finds by trying, however often. */
const strongLength = 20;

interface Tries {
  readonly count: number;
  readonly since: number;
  readonly lockedUntil: number;
}

interface AllTries {
  /** Those that came while their address was not locked. */
  readonly count: number;
  /** Those too that came while it was. */
  readonly tried: number;
  readonly since: number;
  readonly lastFrom: string;
}

/**
 * Slows down who guesses tokens, by the address that the connection comes from. The right token always passes, so that
 * nobody can lock out the owner by guessing beside them; only a short one is not even compared for a locked address
 * elsewhere, as it could be found by trying.
 */
export class WrongTokens {
  /** The one that has been wrong last stays longest. */
  readonly #byAddress = new LRUCache<string, Tries>({ max: mostAddresses });
  readonly #now: () => number;
  readonly #delayMs: number;
  #waiting = 0;
  #all: AllTries = { count: 0, tried: 0, since: 0, lastFrom: "" };

  constructor(options: { readonly now?: () => number; readonly firstDelayMs?: number | undefined } = {}) {
    this.#now = options.now ?? Date.now;
    this.#delayMs = options.firstDelayMs ?? firstDelayMs;
  }

  /** False where the token is not to be looked at. */
  mayCompare(address: string | undefined, token: string): boolean {
    const network = networkOf(address);
    return token.length >= strongLength || network === "loopback" || this.#lockedMs(this.#find(network)) === undefined;
  }

  /** Counts a wrong one, and resolves when it may be answered; at once for who is locked or where many wait. */
  async count(address: string | undefined, signal: AbortSignal): Promise<WrongAnswer> {
    const network = networkOf(address);
    const before = this.#find(network);
    const locked = this.#lockedMs(before);
    const all = this.#countInAll(network, locked === undefined);
    if (locked !== undefined) return { lockedMs: locked, isNew: false };
    const count = before.count + 1;
    const isNew = count >= (all > mostInAll && network !== "loopback" ? 1 : mostTries);
    this.#byAddress.set(network, { ...before, count, lockedUntil: isNew ? this.#now() + lockMs : 0 });
    if (isNew) return { lockedMs: lockMs, isNew };
    if (count > free)
      await this.#wait(backoffMs(count - free, { firstMs: this.#delayMs, longestMs: longestDelayMs }), signal);
    return { lockedMs: undefined, isNew };
  }

  /** A sentence for the owner, where so many came lately that it was nobody's mistake. */
  problem(): string | undefined {
    const { tried, since, lastFrom } = this.#all;
    if (tried < mostTries || this.#now() - since > windowMs) return undefined;
    const where = lastFrom === "loopback" ? "this machine" : lastFrom;
    return statusSentence("wrong_tokens", { n: tried, place: where });
  }

  #countInAll(lastFrom: string, isCounted: boolean): number {
    const now = this.#now();
    const isOver = now - this.#all.since > windowMs;
    const { count, tried, since } = isOver ? { count: 0, tried: 0, since: now } : this.#all;
    this.#all = { count: count + (isCounted ? 1 : 0), tried: tried + 1, since, lastFrom };
    return this.#all.count;
  }

  async #wait(ms: number, signal: AbortSignal): Promise<void> {
    if (this.#waiting >= mostWaiting) return;
    this.#waiting += 1;
    await sleep(ms, signal).catch(() => undefined);
    this.#waiting -= 1;
  }

  #find(network: string): Tries {
    const found = this.#byAddress.peek(network);
    // After a lock, and after a while, it begins again.
    const isOver =
      found === undefined ||
      (this.#lockedMs(found) === undefined && (found.lockedUntil > 0 || this.#now() - found.since > windowMs));
    return isOver ? { count: 0, since: this.#now(), lockedUntil: 0 } : found;
  }

  #lockedMs({ lockedUntil }: Tries): number | undefined {
    const left = lockedUntil - this.#now();
    return left > 0 ? left : undefined;
  }
}

/** One name for all addresses that one person is likely to have. */
function networkOf(address = "unknown"): string {
  const plain = address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, "");
  if (plain === "::1" || plain.startsWith("127.")) return "loopback";
  if (!isIPv6(plain)) return plain;
  const [head = "", tail] = (plain.split("%", 1)[0] ?? "").split("::");
  const first = head.split(":").filter((group) => group !== "");
  const last = (tail ?? "").split(":").filter((group) => group !== "");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - first.length - last.length);
  // A network of this size belongs to one household or company.
  return [...first, ...Array.from({ length: zeros }, () => "0"), ...last].slice(0, 4).join(":");
}
