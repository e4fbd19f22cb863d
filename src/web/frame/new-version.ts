import { h } from "../parts/dom.js";
import { frameWords } from "./words.js";

/** Says that the page is another version by now. The reader chooses when it is loaded: what is open stays until then. */
export function createNewVersion(): { readonly element: HTMLElement; show(): void } {
  const reload = h(
    "button",
    { type: "button", class: "link", onclick: () => location.reload() },
    frameWords.t("reload"),
  );
  const element = h(
    "div",
    { class: "banner new-version", role: "status", hidden: true },
    h("span", {}, frameWords.t("newVersion")),
    reload,
  );
  return {
    element,
    show() {
      element.hidden = false;
    },
  };
}
