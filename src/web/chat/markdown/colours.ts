import type { GrammarState, HighlighterCore } from "@shikijs/core";
import { createCssVariablesTheme, createHighlighterCore } from "@shikijs/core";
import { createJavaScriptRegexEngine } from "@shikijs/engine-javascript";
import { languageNamed } from "./languages.js";

/** Longer code, and code with longer lines, is left plain: the rules of a language may take very long for one line. */
const longestCode = 40_000;
const longestLine = 1000;
const linesAtOnce = 40;
/** The first line of a language takes longest: its rules are made ready then. */
const longestLineMs = 1000;
const longestMs = 3000;

const theme = createCssVariablesTheme({ name: "page", variablePrefix: "--code-" });

/** Gives code its colours, as classes: the page's policy refuses style attributes. */
export class CodeColours {
  readonly #highlighter: HighlighterCore;

  private constructor(highlighter: HighlighterCore) {
    this.#highlighter = highlighter;
  }

  static async load(): Promise<CodeColours> {
    const engine = createJavaScriptRegexEngine({ forgiving: true });
    return new CodeColours(await createHighlighterCore({ themes: [theme], langs: [], engine }));
  }

  /** The same text in coloured pieces. Undefined: it stays plain. */
  async paint(code: string, language: string): Promise<DocumentFragment | undefined> {
    const known = languageNamed(language);
    const lines = code.split("\n");
    if (known === undefined || code.length > longestCode || lines.some(({ length }) => length > longestLine)) return;
    if (!this.#highlighter.getLoadedLanguages().includes(known.name))
      await this.#highlighter.loadLanguage(...(await known.load()).default);
    const painted = document.createDocumentFragment();
    const end = performance.now() + longestMs;
    let grammarState: GrammarState | undefined;
    for (let at = 0; at < lines.length; at += linesAtOnce) {
      const part = lines.slice(at, at + linesAtOnce).join("\n");
      const state = grammarState === undefined ? {} : { grammarState };
      const tokens = this.#highlighter.codeToTokensBase(part, {
        lang: known.name,
        theme: "page",
        tokenizeTimeLimit: longestLineMs,
        ...state,
      });
      if (at > 0) painted.append("\n");
      for (const [index, line] of tokens.entries()) {
        if (index > 0) painted.append("\n");
        for (const { content, color } of line) painted.append(pieceOf(content, color));
      }
      grammarState = this.#highlighter.getLastGrammarState(tokens);
      if (performance.now() > end) return;
      // The page answers in between.
      if (at + linesAtOnce < lines.length) await new Promise((resolve) => setTimeout(resolve));
    }
    // A carriage return is not a part of any piece.
    return painted.textContent === code ? painted : undefined;
  }
}

function pieceOf(text: string, colour: string | undefined): Node {
  const name = /--code-(token-[a-z-]+)/.exec(colour ?? "")?.[1];
  if (name === undefined) return document.createTextNode(text);
  const piece = document.createElement("span");
  piece.className = name;
  piece.textContent = text;
  return piece;
}
