import { type Language, languageOfPage, languages } from "./words.js";

/** Dates and numbers follow the reader's own region where it speaks the language of the page. */
export function localeOfPage(): string {
  const language = languageOfPage();
  return navigator.languages.find((locale) => locale.startsWith(language)) ?? language;
}

const name = "maxclaw.language";

/** What the reader has chosen, else the first language of the browser that the page has. */
export function setLanguage(storage: Pick<Storage, "getItem">): void {
  const wanted = [storage.getItem(name) ?? "", ...navigator.languages].map((locale) => locale.slice(0, 2));
  document.documentElement.lang = wanted.find(isLanguage) ?? "en";
}

/** Counts from the next time that the page is drawn. */
export function chooseLanguage(storage: Pick<Storage, "setItem">, language: Language): void {
  storage.setItem(name, language);
}

function isLanguage(text: string): text is Language {
  return languages.some((language) => language === text);
}
