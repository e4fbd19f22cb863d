/** Catches what is typed while the place that it is meant for is still on its way. Enter is dropped: nobody has seen what it would take. */
export class TypedAhead {
  #text = "";
  readonly #onKey = (event: KeyboardEvent): void => {
    const { key, ctrlKey, metaKey, altKey, isComposing } = event;
    if (isComposing || ctrlKey || metaKey || altKey) return;
    if (key === "Backspace") this.#text = this.#text.slice(0, -1);
    else if ([...key].length === 1) this.#text += key;
    else if (key !== "Enter") return;
    event.preventDefault();
    event.stopPropagation();
  };

  constructor() {
    window.addEventListener("keydown", this.#onKey, { capture: true });
  }

  /** From now on keys go where they always go. */
  take(): string {
    window.removeEventListener("keydown", this.#onKey, { capture: true });
    return this.#text;
  }
}
