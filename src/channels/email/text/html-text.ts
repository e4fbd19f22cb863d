const unseen: ReadonlySet<string> = new Set(["script", "style", "head", "title", "template", "noscript"]);
const paragraphs: ReadonlySet<string> = new Set([
  "p",
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "ul",
  "ol",
  "pre",
  "table",
  "blockquote",
]);
const blocks: ReadonlySet<string> = new Set([
  ...paragraphs,
  ..."address article aside body center dd div dl dt fieldset footer form header hr li main nav section tr".split(" "),
]);
const longestTarget = 2000;
/** Marks of quotes beyond that say nothing more. */
const deepestQuote = 20;

/** Loads what reads HTML: the result makes the text that a page shows, with `>` before each line of a quote. */
export async function loadHtmlReader(): Promise<(html: string) => string> {
  const { Parser } = await import("htmlparser2");
  return (html) => textOf(html, Parser);
}

function textOf(html: string, Parser: typeof import("htmlparser2").Parser): string {
  const page = new Page();
  const parser = new Parser(
    {
      onopentag: (name, attributes) => page.open(name, attributes),
      onclosetag: (name) => page.close(name),
      ontext: (text) => page.say(text),
    },
    { decodeEntities: true, lowerCaseTags: true },
  );
  parser.write(withWordsAtEnd(html));
  parser.end();
  return page.text();
}

/** A tag that never ends takes along what is in it. Where that reads like words the tag's mark is one of them. */
function withWordsAtEnd(html: string): string {
  const end = html.lastIndexOf(">") + 1;
  const tail = html.slice(end);
  const tag = tail.slice(tail.indexOf("<"));
  const isWords = tail.includes("<") && tag.includes(" ") && !tag.includes("=");
  return isWords ? html.slice(0, end) + tail.replaceAll("<", "&lt;") : html;
}

class Page {
  readonly #lines: string[] = [];
  readonly #lists: { readonly isNumbered: boolean; count: number }[] = [];
  readonly #links: { readonly target: string; readonly from: number; readonly line: number }[] = [];
  #line = "";
  #isBlankDue = false;
  #quotes = 0;
  #unseen = 0;
  #plain = 0;
  #isCellDue = false;

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (unseen.has(name)) this.#unseen += 1;
    if (name === "br") this.#end(true);
    else if (paragraphs.has(name)) this.#paragraph();
    else if (blocks.has(name)) this.#end(false);
    if (name === "blockquote") this.#quotes += 1;
    if (name === "pre") this.#plain += 1;
    if (name === "hr") this.#rule();
    if (name === "td" || name === "th") this.#isCellDue = this.#line !== "";
    if (name === "ul" || name === "ol") this.#lists.push({ isNumbered: name === "ol", count: 0 });
    if (name === "li") this.#item();
    if (name === "a")
      this.#links.push({ target: attributes.href ?? "", from: this.#line.length, line: this.#lines.length });
  }

  close(name: string): void {
    if (unseen.has(name)) this.#unseen = Math.max(0, this.#unseen - 1);
    if (name === "a") this.#link();
    if (name === "ul" || name === "ol") this.#lists.pop();
    if (paragraphs.has(name)) this.#paragraph();
    else if (blocks.has(name)) this.#end(false);
    if (name === "blockquote") this.#quotes = Math.max(0, this.#quotes - 1);
    if (name === "pre") this.#plain = Math.max(0, this.#plain - 1);
  }

  say(text: string): void {
    if (this.#unseen > 0) return;
    if (this.#plain > 0) {
      for (const [index, line] of text.split(/\r?\n/).entries()) {
        if (index > 0) this.#end(true);
        this.#line += line;
      }
      return;
    }
    const words = text.replace(/[ \t\r\n\f]+/g, " ");
    if (words.trim() === "" && this.#line === "") return;
    if (this.#isCellDue && words.trim() !== "") {
      this.#line = `${this.#line.trimEnd()} `;
      this.#isCellDue = false;
    }
    this.#line += /^$|\s$/.test(this.#line) ? words.replace(/^ /, "") : words;
  }

  text(): string {
    this.#end(false);
    return this.#lines.join("\n").trim();
  }

  #item(): void {
    const list = this.#lists.at(-1);
    if (list !== undefined) list.count += 1;
    this.#line = `${"  ".repeat(Math.min(8, Math.max(0, this.#lists.length - 1)))}${list?.isNumbered ? `${list.count}.` : "-"} `;
  }

  /** What several programs draw above the mail that is answered. */
  #rule(): void {
    this.#line = "_".repeat(12);
    this.#end(false);
  }

  #link(): void {
    const link = this.#links.pop();
    if (link === undefined || link.line !== this.#lines.length || !/^https?:/i.test(link.target)) return;
    const shown = this.#line.slice(link.from).trim();
    const target = link.target.slice(0, longestTarget);
    if (shown !== "" && shown !== target) this.#line += ` [${target}]`;
  }

  #paragraph(): void {
    this.#end(false);
    this.#isBlankDue = true;
  }

  /** `isForced`: also where the line is empty. */
  #end(isForced: boolean): void {
    this.#isCellDue = false;
    if (this.#line.trim() === "" && !isForced) {
      this.#line = "";
      return;
    }
    const mark = ">".repeat(Math.min(this.#quotes, deepestQuote));
    if (this.#isBlankDue && this.#lines.length > 0) this.#lines.push(mark);
    this.#isBlankDue = false;
    // A mark of a quote that is in the text itself is none of its own.
    const words = this.#line.trimEnd();
    this.#lines.push(mark === "" ? words : `${mark} ${words}`.trimEnd());
    this.#line = "";
  }
}
