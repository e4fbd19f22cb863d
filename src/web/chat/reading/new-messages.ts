import type { Item } from "../../session/view-state.js";

/** How many messages have come since the reader left the end of the conversation. */
export class NewMessages {
  /** Messages that were there when they left; undefined while they are at the end. */
  #known: ReadonlySet<string> | undefined;

  count(items: readonly Item[], isAtEnd: boolean): number {
    if (isAtEnd) this.#known = undefined;
    else this.#known ??= new Set(newestOf(items).map(({ key }) => key));
    const known = this.#known;
    if (known === undefined) return 0;
    let count = 0;
    // From the newest back to the first that was there.
    for (let at = items.length - 1; at >= 0; at -= 1) {
      const item = items[at];
      if (item === undefined || !isMessage(item)) continue;
      if (known.has(item.key)) break;
      count += 1;
    }
    return count;
  }
}

const newestOf = (items: readonly Item[]): readonly Item[] => items.slice(-20);

function isMessage(item: Item): boolean {
  if (item.kind === "user") return true;
  return item.kind === "assistant" && item.text !== "";
}
