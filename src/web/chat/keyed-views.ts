import type { ItemView } from "./item-view.js";

/** One view per item: made when the item first comes, changed when the item does, forgotten when it is gone. */
export class KeyedViews<T> {
  readonly #keyOf: (item: T) => string;
  readonly #create: (item: T) => ItemView<T>;
  readonly #views = new Map<string, { readonly view: ItemView<T>; item: T | undefined }>();

  constructor(keyOf: (item: T) => string, create: (item: T) => ItemView<T>) {
    this.#keyOf = keyOf;
    this.#create = create;
  }

  /** The elements of these items, in their order. Every other item is forgotten. */
  elementsOf(items: readonly T[]): readonly Element[] {
    const elements = items.map((item) => this.#elementOf(item));
    const keys = new Set(items.map(this.#keyOf));
    for (const [key, { view }] of this.#views) if (!keys.has(key) && view.isHeld !== true) this.#views.delete(key);
    return elements;
  }

  /** As far as the item is shown. */
  viewOf(item: T): ItemView<T> | undefined {
    return this.#views.get(this.#keyOf(item))?.view;
  }

  /** What they show depends on more than their items, and that is another now. */
  expire(): void {
    for (const entry of this.#views.values()) entry.item = undefined;
  }

  clear(): void {
    this.#views.clear();
  }

  #elementOf(item: T): Element {
    const key = this.#keyOf(item);
    const entry = this.#views.get(key) ?? { view: this.#create(item), item: undefined };
    this.#views.set(key, entry);
    if (entry.item !== item) entry.view.update(item);
    entry.item = item;
    return entry.view.element;
  }
}
