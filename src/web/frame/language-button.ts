import { h } from "../parts/dom.js";
import { chooseLanguage } from "../words/language.js";
import { languageOfPage } from "../words/words.js";

/** The other language by its own name: who needs it cannot read this one. */
export function createLanguageButton(): HTMLElement {
  const [other, name] = languageOfPage() === "zh" ? (["en", "English"] as const) : (["zh", "中文"] as const);
  const onclick = (): void => {
    chooseLanguage(localStorage, other);
    location.reload();
  };
  return h("button", { type: "button", class: "link language", lang: other, onclick }, name);
}
