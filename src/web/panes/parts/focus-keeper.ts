const fields = "input:not([type=hidden], :disabled), select:enabled, textarea:enabled";
const stops = `${fields}, button:enabled, a[href], summary, [tabindex="0"]`;
/** A form that comes so soon after a press was opened by it. */
const openingMs = 1000;

/** One of those around what has the focus. */
interface Place {
  readonly element: Element;
  readonly next: Element | null;
  readonly before: Element | null;
}

/**
 * Keeps the keyboard's place in a pane that is drawn again: what comes instead of a thing that had the focus has it next, or what is
 * beside it; a form that a press opens begins in its first field.
 */
export class FocusKeeper {
  readonly #root: HTMLElement;
  #last: Element | undefined;
  #around: readonly Place[] = [];
  #pressedAt = Number.NEGATIVE_INFINITY;

  constructor(root: HTMLElement) {
    this.#root = root;
    root.addEventListener("focusin", ({ target }) => this.#note(target));
    root.addEventListener("focusout", ({ relatedTarget }) => this.#left(relatedTarget));
    // Before the button itself, which may draw at once.
    root.addEventListener("click", () => this.#press(), { capture: true });
    new MutationObserver((changes) => this.#look(changes)).observe(root, { childList: true, subtree: true });
  }

  #press(): void {
    this.#pressedAt = performance.now();
  }

  #note(target: EventTarget | null): void {
    if (!(target instanceof Element)) return;
    this.#last = target;
    const around: Place[] = [];
    for (let at: Element | null = target; at !== null; at = at === this.#root ? null : at.parentElement)
      around.push({ element: at, next: at.nextElementSibling, before: at.previousElementSibling });
    this.#around = around;
  }

  /** Who takes the focus away themselves does not want it back. */
  #left(to: EventTarget | null): void {
    // What goes says so before it is gone.
    if (to === null) setTimeout(() => this.#forgetIfThere());
    else if (to instanceof Element && !this.#root.contains(to) && to.closest("dialog") === null) this.#forgetIfThere();
  }

  #forgetIfThere(): void {
    if (this.#last?.isConnected !== true || document.activeElement === this.#last) return;
    this.#last = undefined;
    this.#around = [];
  }

  #look(changes: readonly MutationRecord[]): void {
    const added = changes
      .flatMap(({ addedNodes }) => [...addedNodes])
      .filter((node): node is Element => node instanceof Element && node.isConnected);
    if (performance.now() - this.#pressedAt < openingMs && this.#enterForm(added)) return;
    if (this.#last === undefined || this.#last.isConnected || document.activeElement !== document.body) return;
    this.#replace(added);
  }

  #enterForm(added: readonly Element[]): boolean {
    for (const node of added) {
      const form = node.matches(".form, form") ? node : node.querySelector(".form, form");
      const field = form?.querySelector<HTMLElement>(fields);
      if (!field) continue;
      this.#pressedAt = Number.NEGATIVE_INFINITY;
      field.focus();
      return true;
    }
    return false;
  }

  #replace(added: readonly Element[]): void {
    const at = this.#around.findIndex(({ element }) => element.isConnected);
    const { element: container = this.#root } = this.#around[at] ?? {};
    const lost = this.#around[at - 1];
    const near = [...added.filter((node) => container.contains(node)), lost?.next, lost?.before, container];
    for (const one of near) {
      const found = one?.isConnected === true ? firstStop(one) : undefined;
      found?.focus();
      if (found !== undefined && document.activeElement === found) return;
    }
    this.#root.focus();
  }
}

function firstStop(element: Element): HTMLElement | undefined {
  const all = [element, ...element.querySelectorAll(stops)];
  return all.find(
    (one): one is HTMLElement => one instanceof HTMLElement && one.matches(stops) && one.checkVisibility(),
  );
}
