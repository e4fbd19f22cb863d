import { Lexer, type Links, type MarkedOptions, type Token, Tokenizer, type Tokens } from "marked";

/** Text that is built to take for ever. */
export class TooManySteps extends Error {}

/** Ten times what the longest answers of models need. */
const stepsPerCharacter = 300;
const fewestSteps = 200_000;

/**
 * Reads Markdown with the steps that its length allows. The lexer looks at the rest of a text for each mark that it
 * finds; each such look counts as many steps as the rest has characters.
 */
class BoundedTokenizer extends Tokenizer {
  readonly #most: number;
  steps = 0;

  constructor(length: number) {
    super();
    this.#most = length * stepsPerCharacter + fewestSteps;
  }

  #count(rest: string, share = 1): void {
    this.steps += Math.ceil(rest.length * share) + 1;
    if (this.steps > this.#most) throw new TooManySteps("This Markdown takes too long to read.");
  }

  override space(src: string): Tokens.Space | undefined {
    this.#count(src, 0.25);
    return super.space(src);
  }

  override list(src: string): Tokens.List | undefined {
    if (/^ {0,3}(?:[*+-]|\d{1,9}[.)])/.test(src)) this.#count(src, 2);
    return super.list(src);
  }

  override blockquote(src: string): Tokens.Blockquote | undefined {
    if (/^ {0,3}>/.test(src)) this.#count(src, 2);
    return super.blockquote(src);
  }

  override escape(src: string): Tokens.Escape | undefined {
    this.#count(src, 0.25);
    return super.escape(src);
  }

  override emStrong(src: string, maskedSrc: string, prevChar?: string): Tokens.Em | Tokens.Strong | undefined {
    if (src.startsWith("*") || src.startsWith("_")) this.#count(src, 4);
    return super.emStrong(src, maskedSrc, prevChar);
  }

  override del(src: string, maskedSrc: string, prevChar?: string): Tokens.Del | undefined {
    if (src.startsWith("~")) this.#count(src, 4);
    return super.del(src, maskedSrc, prevChar);
  }

  override codespan(src: string): Tokens.Codespan | undefined {
    if (src.startsWith("`")) this.#count(src);
    return super.codespan(src);
  }

  override link(src: string): Tokens.Link | Tokens.Image | undefined {
    if (/^!?\[/.test(src)) this.#count(src);
    return super.link(src);
  }

  override reflink(src: string, links: Links): Tokens.Link | Tokens.Image | Tokens.Text | undefined {
    if (/^!?\[/.test(src)) this.#count(src);
    return super.reflink(src, links);
  }

  override tag(src: string): Tokens.Tag | undefined {
    if (src.startsWith("<")) this.#count(src);
    return super.tag(src);
  }
}

/** Within such a run the lexer looks ahead from each of its characters. */
const longestRun = 1000;

/**
 * The tokens of a Markdown text, and the steps that they took.
 *
 * @throws {TooManySteps} when they would be more than a constant for each character
 */
export function lexBounded(
  markdown: string,
  options: MarkedOptions = { gfm: true },
): { readonly tokens: readonly Token[]; readonly steps: number } {
  if (hasLongRun(markdown)) throw new TooManySteps("This Markdown holds a very long run of blanks or breaks.");
  const tokenizer = new BoundedTokenizer(markdown.length);
  // A fresh lexer per call: link definitions of one message must not reach the next.
  const tokens = new Lexer({ ...options, tokenizer }).lex(markdown);
  return { tokens, steps: tokenizer.steps };
}

function hasLongRun(text: string): boolean {
  let run = 0;
  for (let at = 0; at < text.length; at++) {
    run = /\s/.test(text.charAt(at)) ? run + 1 : 0;
    if (run > longestRun) return true;
  }
  return false;
}
