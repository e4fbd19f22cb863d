/** One stop of the Tab key for a whole list: arrows, Home and End move in it. */
export interface Roving {
  readonly root: HTMLElement;
  /** Of the items. */
  readonly selector: string;
  /** The item that is reached first; else the first one. */
  readonly current: string;
  /** What is beside an item, in the same parent: Tab reaches it from its item only. */
  readonly beside?: string;
}

export function roveIn({ root, selector, current, beside }: Roving): void {
  const all = (): readonly HTMLElement[] => [...root.querySelectorAll<HTMLElement>(selector)];
  const reachable = (): readonly HTMLElement[] => all().filter((item) => item.checkVisibility());
  let last: HTMLElement | undefined;
  /** The focus is in the item, or beside it. */
  const isAt = (item: HTMLElement): boolean => {
    const { activeElement } = document;
    const isBeside = beside !== undefined && activeElement?.matches(beside) === true;
    return activeElement === item || (isBeside && item.parentElement?.contains(activeElement) === true);
  };
  const settle = (): void => {
    const items = all();
    const focused = items.find((item) => isAt(item));
    const first = focused ?? (last?.isConnected === true ? last : undefined) ?? root.querySelector(current) ?? items[0];
    for (const item of items) {
      const others = beside === undefined ? [] : (item.parentElement?.querySelectorAll<HTMLElement>(beside) ?? []);
      for (const each of [item, ...others]) setTabIndex(each, item === first ? 0 : -1);
    }
  };
  root.addEventListener("focusin", ({ target }) => {
    const item = all().find((each) => each === target);
    if (item === undefined) return;
    last = item;
    settle();
  });
  root.addEventListener("focusout", ({ relatedTarget }) => {
    // Who comes back begins with what is open then.
    if (!(relatedTarget instanceof Node && root.contains(relatedTarget))) last = undefined;
  });
  root.addEventListener("keydown", (event) => {
    const items = reachable();
    const at = event.target instanceof HTMLElement ? items.indexOf(event.target) : -1;
    if (at === -1 || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    const next = targetOf(event.key, at, items.length);
    const item = next === undefined ? undefined : items[next];
    if (item === undefined) return;
    event.preventDefault();
    item.focus();
  });
  new MutationObserver(settle).observe(root, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ["aria-current"],
  });
  settle();
}

/** Not to its own value: each change is seen by who watches the list. */
function setTabIndex(element: HTMLElement, index: number): void {
  if (element.tabIndex !== index) element.tabIndex = index;
}

function targetOf(key: string, at: number, count: number): number | undefined {
  switch (key) {
    case "ArrowDown":
      return Math.min(at + 1, count - 1);
    case "ArrowUp":
      return Math.max(at - 1, 0);
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return undefined;
  }
}
