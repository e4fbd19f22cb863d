import { h } from "../parts/dom.js";
import { chooseLanguage } from "../words/language.js";
import { languageOfPage } from "../words/words.js";

/** The other language by its own name: who needs it cannot read this one. */
export function createLanguageButton(): HTMLElement {
  const [other, name] = otherLanguage();
  return h("button", { type: "button", class: "link language", lang: other, onclick: changeLanguage }, name);
}

/** Draws the page again in the other language. */
export function changeLanguage(): void {
  const [other] = otherLanguage();
  chooseLanguage(localStorage, other);
  location.reload();
}

function otherLanguage(): readonly ["en", "English"] | readonly ["zh", "中文"] {
  return languageOfPage() === "zh" ? ["en", "English"] : ["zh", "中文"];
}
