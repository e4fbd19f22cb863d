import { foldText } from "./fold-text.js";

const mostNeedles = 32;

/** What must be in a text, folded: the phrases in quotes as they are, and each other word. Empty when nothing is asked for. */
export function needlesOf(query: string): readonly string[] {
  const needles = new Set<string>();
  for (const [part] of query.matchAll(/["“”„][^"“”„]*(?:["“”„]|$)|[^"“”„]+/gu)) {
    const isPhrase = /^["“”„]/u.test(part);
    const text = foldText(part.replace(/["“”„]/gu, " "));
    for (const needle of isPhrase ? [text] : text.split(" ")) if (needle !== "") needles.add(needle);
  }
  // What is part of another needle is there with it.
  const all = [...needles].slice(0, mostNeedles);
  return all.filter((needle) => !all.some((other) => other !== needle && other.includes(needle)));
}
