import { h } from "./dom.js";

export interface MenuChoice {
  readonly label: string;
  readonly isDangerous?: boolean;
  run(): void;
}

/** A menu below `button` until something is chosen; arrows move in it, Esc and a click elsewhere close it. */
export function openMenu(button: HTMLElement, choices: readonly MenuChoice[]): void {
  const items = choices.map(({ label, isDangerous = false, run }) =>
    h(
      "button",
      {
        type: "button",
        role: "menuitem",
        tabindex: "-1",
        class: isDangerous ? "menu-item danger" : "menu-item",
        onclick: () => {
          menu.hidePopover();
          run();
        },
      },
      label,
    ),
  );
  const menu = h("div", { class: "menu-list", role: "menu", popover: "auto" }, ...items);
  // In the part of the page that the button is in, for who goes from part to part.
  (button.closest("nav, main, dialog") ?? document.body).append(menu);
  menu.addEventListener("toggle", (event) => {
    if (!(event instanceof ToggleEvent) || event.newState !== "closed") return;
    const hadFocus = menu.contains(document.activeElement) || document.activeElement === document.body;
    menu.remove();
    if (hadFocus) button.focus();
  });
  menu.addEventListener("keydown", (event) => {
    // What is below it takes no key of the menu.
    event.stopPropagation();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const at = items.findIndex((item) => item.matches(":focus"));
    const next = event.key === "Home" ? 0 : event.key === "End" ? items.length - 1 : undefined;
    const target = next ?? (step === undefined ? undefined : (at + step + items.length) % items.length);
    if (target === undefined) return;
    event.preventDefault();
    items[target]?.focus();
  });
  menu.showPopover();
  placeBeside(menu, button.getBoundingClientRect());
  items[0]?.focus();
}

/** Below the button, or above it where there is no room. It ends where the button does; `start`: it begins there. */
export function placeBeside(menu: HTMLElement, at: DOMRect, side: "start" | "end" = "end"): void {
  const { offsetWidth: width, offsetHeight: height } = menu;
  const isRoomBelow = at.bottom + height + 8 < innerHeight;
  menu.style.top = `${isRoomBelow ? at.bottom + 4 : Math.max(8, at.top - height - 4)}px`;
  const isFromLeft = (side === "start") === (getComputedStyle(menu).direction === "ltr");
  const left = isFromLeft ? at.left : at.right - width;
  menu.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
}
