import type { ContentPart } from "../events/content.js";
import { addressesIn, looseText, normalAddress } from "../util/web-addresses.js";

/** How the addresses are in a result: anywhere in its text, or as the targets of links in the snapshot of a page. */
export type AddressForm = "text" | "links";

const maxKnown = 5000;
const maxOfResult = 300;
/** What the model itself wrote is compared up to here. Beyond it nothing more is learnt from results. */
const maxOwn = 1_000_000;

/**
 * The web addresses that came into a conversation from outside, each as a whole. What the model itself wrote first is
 * not learnt from a later result: pages repeat what they are asked.
 */
export class KnownAddresses {
  #known = new Set<string>();
  #own: string[] = [];
  #ownLength = 0;

  get folded() {
    return { known: this.#known, own: this.#own, ownLength: this.#ownLength };
  }

  restore({ known, own, ownLength }: KnownAddresses["folded"]): void {
    this.#known = known;
    this.#own = own;
    this.#ownLength = ownLength;
  }

  /** `url` in any writing that means the same. */
  has(url: string): boolean {
    const normal = normalAddress(url);
    return normal !== undefined && this.#known.has(normal);
  }

  /** Addresses of which it is known that no model made them up, or that were visited with permission. */
  learn(addresses: readonly string[]): void {
    for (const address of addresses) {
      const normal = normalAddress(address);
      if (normal === undefined) continue;
      this.#known.add(normal);
      const [oldest] = this.#known;
      if (this.#known.size > maxKnown && oldest !== undefined) this.#known.delete(oldest);
    }
  }

  /** @param base of the page, for links that name no host */
  learnFrom(text: string, form: AddressForm, base: string | undefined): void {
    const found = form === "text" ? addressesIn(text, maxOfResult) : linkTargets(text, base);
    this.learn(found.filter((address) => !this.#known.has(address) && !this.#isOwn(address)));
  }

  /** What the model has written: what it said, and what it put into its calls. */
  noteOwn(parts: readonly ContentPart[]): void {
    for (const part of parts) {
      if (part.type === "text") this.#noteText(part.text);
      if (part.type === "tool_use") this.#noteText(stringsIn(part.input).join("\n"));
    }
  }

  clear(): void {
    this.#known.clear();
    this.#own = [];
    this.#ownLength = 0;
  }

  #noteText(text: string): void {
    // No address is without one.
    if (!/[.:。]/u.test(text) || this.#ownLength > maxOwn) return;
    const loose = looseText(text);
    this.#own.push(loose, ...addressesIn(text, maxOfResult).map(withoutScheme));
    this.#ownLength += loose.length;
    // From here on everything counts as its own.
    if (this.#ownLength > maxOwn) this.#own = [];
  }

  #isOwn(address: string): boolean {
    if (this.#ownLength > maxOwn) return true;
    const loose = withoutScheme(address);
    return this.#own.some((text) => text.includes(loose));
  }
}

function withoutScheme(address: string): string {
  return looseText(address.replace(/^https?:\/\//, "").replace(/\/$/, ""));
}

/** Lines like `- /url: https://example.org/page`: what is typed into a page is in none of these. */
function linkTargets(snapshot: string, base: string | undefined): readonly string[] {
  const targets: string[] = [];
  for (const [, target = ""] of snapshot.matchAll(/^ *- \/url: (\S.*)$/gm)) {
    const bare = /^"(.*)"$/.exec(target.trim())?.[1] ?? target.trim();
    if (base !== undefined && URL.canParse(bare, base)) targets.push(normalAddress(new URL(bare, base).href) ?? "");
    if (targets.length >= maxOfResult) break;
  }
  return targets.filter((target) => target !== "");
}

function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => [name, ...stringsIn(each)]);
}
