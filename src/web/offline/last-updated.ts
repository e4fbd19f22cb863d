import { frameWords } from "../frame/words.js";
import { h, setText } from "../parts/dom.js";
import { momentOf } from "../parts/format.js";

/** Says how old it is what is shown without the gateway. */
export function createLastUpdated(): { readonly element: HTMLElement; show(at: number | undefined): void } {
  const element = h("span", { class: "last-updated", hidden: true });
  return {
    element,
    show(at) {
      element.hidden = at === undefined;
      setText(element, at === undefined ? "" : frameWords.t("lastUpdated", { time: momentOf(new Date(at)) }));
    },
  };
}
