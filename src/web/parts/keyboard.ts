/** Runs `press` on a key. It returns true where it has used the key up; else the key does what it does everywhere. */
export function onKey(target: HTMLElement, key: string, press: (event: KeyboardEvent) => boolean): void {
  target.addEventListener("keydown", (event) => {
    // While an input method composes a character, the keys belong to it.
    if (event.key === key && !event.isComposing && press(event)) event.preventDefault();
  });
}

/** Where to write next. On a phone the focus would bring up the keyboard unasked. */
export function focusToWrite(area: HTMLElement): void {
  if (matchMedia("(pointer: fine)").matches) area.focus();
}

/** Call it before these buttons go: a focus that vanishes with its button would be lost to who works by keyboard. */
export function saveFocus(buttons: readonly HTMLElement[], next: HTMLElement): void {
  if (buttons.some((button) => button === document.activeElement)) next.focus();
}
